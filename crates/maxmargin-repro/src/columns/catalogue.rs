//! Every column there is.

use super::traces;
use super::value::{Column, RowContext, Shown, quotient};
use crate::cells::record::Measured;
use crate::cells::row::Row;
use crate::cells::settings::LIBSVM_FOLDS;
use crate::numbers::format::{count, digits, gap, milliseconds, seconds, short, small, times};
use serde_json::Value;

/// The largest difference of accuracies that count as equal, percent points.
const NEAR: f64 = 0.5;

type Show = fn(&RowContext) -> Shown;
type Format = fn(f64) -> String;

const fn words(name: &'static str, heading: &'static str, of: Show) -> Column {
    Column { name, heading, wants: false, words: true, of, format: digits::<0> }
}

const fn number(name: &'static str, heading: &'static str, format: Format, of: Show) -> Column {
    Column { name, heading, wants: false, words: false, of, format }
}

/// A column about another variant.
const fn beside(name: &'static str, heading: &'static str, format: Format, of: Show) -> Column {
    Column { name, heading, wants: true, words: false, of, format }
}

pub(super) const COLUMNS: &[Column] = &[
    words("data", "data", |at| Shown::Words(at.row.cell.problem.clone())),
    words("setting", "setting", |at| Shown::Words(at.row.cell.shown.clone())),
    words("variant", "variant", |at| Shown::Words(at.row.cell.variant.clone())),
    // Printed in the paper.
    number("paper-seconds", "paper, s", seconds, |at| at.row.printed.seconds.into()),
    number("paper-training", "paper, training s", short::<3>, |at| at.row.printed.seconds.into()),
    number("paper-optimiser", "paper, optimiser s", seconds, |at| at.row.printed.optimiser.into()),
    number("paper-iterations", "paper, iterations", count, |at| at.row.printed.iterations.into()),
    number("paper-accuracy", "paper, accuracy", digits::<2>, |at| at.row.printed.accuracy.into()),
    number("paper-support-vectors", "paper, SV", count, |at| at.row.printed.support_vectors.into()),
    beside("paper-ratio", "{of} / this, paper", times, |at| at.over(|row| row.printed.seconds)),
    beside("paper-optimiser-ratio", "{of} / this, paper's optimiser", times, |at| at.over(|row| row.printed.optimiser)),
    // Whole processes.
    number("here-seconds", "here, s", seconds, |at| wall(at.row).into()),
    number("process-seconds", "process, s", short::<3>, |at| wall(at.row).into()),
    number("peer-here-seconds", "{peer} here, s", seconds, |at| at.row.peer_seconds().into()),
    number("peer-process-seconds", "{peer}, process s", short::<3>, |at| at.row.peer_seconds().into()),
    number("peer-here-ratio", "{peer} / here", digits::<1>, |at| ratio(at.row.peer_seconds(), wall(at.row)).into()),
    number("second-here-seconds", "{second} here, s", seconds, |at| at.row.second_seconds().into()),
    number("second-here-ratio", "{second} / here", digits::<1>, |at| ratio(at.row.second_seconds(), wall(at.row)).into()),
    number("peer-process-ratio", "{peer} / this, process", times, |at| ratio(at.row.peer_seconds(), wall(at.row)).into()),
    beside("here-seconds-ratio", "{of} / this, here", times, |at| at.over(wall)),
    // Parts of a process.
    number("solve-seconds", "training, s", short::<3>, |at| at.row.number("solve_seconds").into()),
    beside("solve-ratio", "{of} / this, training", times, |at| at.over(|row| row.number("solve_seconds"))),
    number("optimiser", "optimiser, s", short::<3>, |at| at.row.number("optimiser_seconds").into()),
    beside("optimiser-ratio", "{of} / this, optimiser", times, |at| at.over(|row| row.number("optimiser_seconds"))),
    number("seeding-seconds", "seeding, s", short::<3>, |at| at.row.number("seed_seconds").into()),
    // Both are sums over folds, of which several run at a time.
    number("seeding-seconds-share", "seeding, % of seeding and solving", digits::<1>, |at| {
        let (seeding, solving) = (at.row.number("seed_seconds"), at.row.number("solve_seconds"));
        seeding.zip(solving).map(|(seeding, solving)| 100.0 * seeding / (seeding + solving)).into()
    }),
    // Single rounds of leave-one-out, and what all would be.
    number("first-round-seconds", "first, s", short::<3>, |at| at.row.number("first_round_seconds").into()),
    number("round-seconds", "a later one, s", short::<4>, |at| at.row.number("round_seconds").into()),
    number("all-rounds-seconds", "all rounds, s", short::<3>, |at| at.row.number("all_rounds_seconds").into()),
    beside("all-rounds-seconds-ratio", "{of} / this, all rounds", times, |at| at.over(|row| row.number("all_rounds_seconds"))),
    number("all-rounds-iterations", "all rounds, iterations", count, |at| at.row.number("all_rounds_iterations").into()),
    number("finish-seconds", "finish, s", short::<3>, |at| at.row.number("finish_seconds").into()),
    number("finish-iterations", "finish, iterations", count, |at| at.row.number("finish_iterations").into()),
    // Trainings that a limit may end.
    number("training", "training, s", short::<3>, |at| training(at.row)),
    number("training-fine", "training, s", short::<4>, |at| training(at.row)),
    number("training-std", "±", digits::<3>, |at| at.row.number("train_seconds_std").into()),
    number("process", "process, s", short::<3>, |at| process(at.row)),
    number("finished-training", "finished trainings, s", short::<3>, |at| at.row.finished().and_then(|m| m.train_seconds).into()),
    number("step-seconds", "µs per step", digits::<3>, |at| {
        let steps = tally(at.row, |m| m.iterations.filter(|steps| *steps > 0));
        at.row.finished().and_then(|m| ratio(m.train_seconds.map(|s| 1e6 * s), steps)).into()
    }),
    number("finished-process", "finished processes, s", short::<3>, |at| {
        at.row.finished().and_then(|m| m.process_seconds).into()
    }),
    beside("training-ratio", "{of} / this, here", times, training_ratio),
    // The same as far as this row's own training came to its end.
    beside("speedup", "{of} / this, here", times, |at| match training_ratio(at) {
        Shown::Under(_) => Shown::Nothing,
        shown => shown,
    }),
    beside("best-training", "best other / this, training", times, |at| at.best(training)),
    beside("best-process", "best other / this, process", times, |at| at.best(process)),
    // Work.
    number("iterations", "iterations here", count, |at| tally(at.row, |m| m.iterations).into()),
    number("iterations-over-paper", "here / paper", digits::<3>, |at| {
        ratio(tally(at.row, |m| m.iterations), at.row.printed.iterations).into()
    }),
    number("full-iterations", "model of all data", count, |at| tally(at.row, |m| m.full_iterations).into()),
    number("peer-iterations", "{peer} here", count, |at| peer(at.row, |m| m.iterations.map(|n| n as f64)).into()),
    number("sweeps", "sweeps", count, |at| at.row.number("sweeps").into()),
    number("newton-steps", "Newton steps", count, |at| {
        let work = at.row.counted().and_then(|m| m.more.get("work")?.get("newton_steps")?.as_f64());
        work.filter(|steps| *steps > 0.0).into()
    }),
    number("chunks", "working sets", count, |at| at.row.number("chunks").into()),
    // Shown of runs without a result as well: it is the reason why they have none.
    number("idle-share", "gain nothing, %", digits::<1>, |at| {
        let told = |name: &str| at.row.ours.measured.number(name);
        ratio(told("idle_chunks").map(|idle| 100.0 * idle), told("chunks")).into()
    }),
    number("given-up", "given up", count, |at| at.row.ours.measured.more.get("given_up").and_then(Value::as_f64).into()),
    number("rows-computed", "kernel rows", count, |at| tally(at.row, |m| m.rows_computed).into()),
    number("kernel-values", "kernel values, millions", digits::<2>, |at| at.row.number("kernel_values").map(|v| v / 1e6).into()),
    number("peak", "peak, MiB", count, |at| tally(at.row, |m| m.peak_rss_bytes.map(|bytes| bytes >> 20)).into()),
    // Updates.
    number("update-ms", "update, ms", milliseconds, |at| update_ms(at.row).into()),
    beside("update-ratio", "{of} / this", times, |at| at.over(update_ms)),
    number("breakpoint-ms", "ms per breakpoint", milliseconds, |at| ratio(update_ms(at.row), breakpoints(at.row)).into()),
    number("update-iterations", "iterations per update", count, |at| per_update(at.row, |m| m.iterations).into()),
    number("update-breakpoints", "breakpoints per update", digits::<1>, |at| breakpoints(at.row).into()),
    beside("breakpoints-ratio", "this / {of}", digits::<3>, |at| {
        let other = at.other().and_then(breakpoints).filter(|other| *other > 0.0);
        ratio(breakpoints(at.row), other).into()
    }),
    beside("breakpoints-over-law", "this / {of} / law", digits::<3>, |at| {
        let other = at.other().and_then(breakpoints).filter(|other| *other > 0.0);
        ratio(ratio(breakpoints(at.row), other), theoretical(at.row)).into()
    }),
    beside("theory", "in theory", digits::<3>, |at| theoretical(at.row).filter(|_| at.row.cell.variant == at.of).into()),
    number("margin", "free samples", digits::<0>, |at| at.row.number("margin").into()),
    // Rates.
    words("trace", "iterations at which the gap was first within", |at| traces::words(at.row)),
    number("decade-spread", "most / fewest a decade", times, |at| traces::spread(at.row).into()),
    number("decade-growth", "last decade / the one before", times, |at| traces::growth(at.row).into()),
    number("trace-straight", "R² of a line", digits::<3>, |at| traces::straight(at.row).into()),
    number("steps-times-tol", "iterations × ε", short::<4>, |at| traces::times_tolerance(at.row).into()),
    beside("of-bound", "share of the bound, {of} for the optimum", digits::<4>, |at| traces::of_bound(at).into()),
    number("adaptation-seconds-share", "adaptation, % of the training", digits::<1>, |at| traces::adaptation(at.row).into()),
    // Models.
    beside("support-off", "samples off the support of {of}", count, |at| traces::support_off(at).into()),
    number("accuracy", "accuracy here", digits::<2>, |at| accuracy(at.row).into()),
    number("accuracy-ddag", "along a graph", digits::<2>, |at| at.row.number("accuracy_ddag").into()),
    number("accuracy-std", "±", digits::<2>, |at| at.row.number("accuracy_std").into()),
    number("accuracy-off", "here − paper", |x| format!("{x:+.2}"), |at| off(at.row).into()),
    number("near", "within 0.5", digits::<2>, |at| match off(at.row) {
        Some(x) => Shown::Words(if x.abs() <= NEAR { "yes" } else { "no" }.into()),
        None => Shown::Nothing,
    }),
    number("error", "percent of errors", digits::<2>, |at| accuracy(at.row).map(|percent| 100.0 - percent).into()),
    number("peer-accuracy", "{peer}'s accuracy", digits::<2>, |at| peer(at.row, |m| m.accuracy).into()),
    number("runs", "seeds", digits::<0>, |at| at.row.number("runs").into()),
    number("core-set", "core set", count, |at| at.row.number("core_set").into()),
    number("support-vectors", "SV", count, |at| at.row.number("support_vectors").into()),
    number("support-vectors-over-paper", "SV / paper", digits::<3>, |at| {
        ratio(at.row.number("support_vectors"), at.row.printed.support_vectors).into()
    }),
    number("peer-support-vectors", "{peer}, SV", count, |at| peer(at.row, |m| m.number("support_vectors")).into()),
    number("free-vectors", "free", count, |at| at.row.number("free_vectors").into()),
    number("alpha-kept", "α kept, %", digits::<1>, |at| at.row.number("alpha_kept").into()),
    number("alpha-kept-support", "of support vectors, %", digits::<1>, |at| at.row.number("alpha_kept_support").into()),
    number("free-share", "free, % of SV", digits::<0>, |at| {
        ratio(at.row.number("free_vectors").map(|free| 100.0 * free), at.row.number("support_vectors")).into()
    }),
    // Judgements.
    number("objective", "objective", digits::<6>, |at| objective(at.row).into()),
    number(
        "peer-objective",
        "{peer}'s, relative",
        |x| format!("{x:+.1e}"),
        |at| {
            let both = objective(at.row).zip(peer(at.row, |m| m.objective));
            both.map(|(ours, theirs)| (theirs - ours) / ours.abs()).into()
        },
    ),
    number("gap", "own gap", gap, |at| at.row.counted().and_then(|m| m.relative_gap).into()),
    number("gap-median", "certified gap, median", gap, |at| at.row.number("gap_median").into()),
    number("excess", "gap to the bound", gap, |at| at.row.number("excess").into()),
    number("finished-excess", "gap to the bound", gap, |at| at.row.finished().and_then(|m| m.number("excess")).into()),
    number("bound-gap", "the bound's own gap", gap, |at| {
        let wanted = at.row.cell.settings.get("bound_gap").and_then(Value::as_f64);
        at.row.number("bound_gap").filter(|gap| wanted.is_some_and(|wanted| *gap > wanted)).into()
    }),
    number("kkt", "worst KKT", small, |at| match &at.row.ours.flaw {
        Some(flaw) => Shown::Words(flaw.clone()),
        None => at.row.ours.measured.kkt.into(),
    }),
    number("ended", "ended", digits::<0>, |at| Shown::Words(ended(at.row))),
];

impl<'a> RowContext<'a> {
    /// Returns the row of the variant that the spec names, on the same problem and settings, unless
    /// it is this one.
    pub(super) fn other(&self) -> Option<&'a Row> {
        self.beside().find(|row| row.cell.variant == self.of)
    }

    /// Returns the rows of other variants on the same problem and settings.
    fn beside(&self) -> impl Iterator<Item = &'a Row> {
        let this = &self.row.cell;
        let same = |row: &&Row| (&row.cell.problem, &row.cell.shown) == (&this.problem, &this.shown);
        self.rows.iter().filter(same).filter(|row| row.cell.variant != this.variant)
    }

    /// Returns the other variant's figure as a multiple of this row's.
    fn over(&self, of: impl Fn(&Row) -> Option<f64>) -> Shown {
        ratio(self.other().and_then(&of), of(self.row)).into()
    }

    /// Returns the shortest time of another variant that met its stopping rule, as a multiple of
    /// the time of the named one.
    fn best(&self, time: fn(&Row) -> Shown) -> Shown {
        let times = self.beside().filter(|row| row.finished().is_some()).filter_map(|row| time(row).known());
        let best = times.min_by(f64::total_cmp).filter(|_| self.row.cell.variant == self.of);
        best.map_or(Shown::Nothing, |best| quotient(Shown::Is(best), time(self.row)))
    }
}

/// Returns the other variant's training time as a multiple of this row's.
fn training_ratio(at: &RowContext) -> Shown {
    at.other().map_or(Shown::Nothing, |other| quotient(training(other), training(at.row)))
}

fn ratio(over: Option<f64>, under: Option<f64>) -> Option<f64> {
    Some(over? / under?)
}

fn tally(row: &Row, of: impl Fn(&Measured) -> Option<u64>) -> Option<f64> {
    Some(of(row.counted()?)? as f64)
}

fn peer(row: &Row, of: impl Fn(&Measured) -> Option<f64>) -> Option<f64> {
    of(row.peer.as_ref()?.counted()?)
}

fn wall(row: &Row) -> Option<f64> {
    row.ours.counted_seconds()
}

fn accuracy(row: &Row) -> Option<f64> {
    row.counted()?.accuracy
}

/// Returns the accuracy here minus the paper's.
fn off(row: &Row) -> Option<f64> {
    Some(accuracy(row)? - row.printed.accuracy?)
}

fn update_ms(row: &Row) -> Option<f64> {
    row.counted()?.update_seconds.map(|seconds| 1e3 * seconds)
}

fn breakpoints(row: &Row) -> Option<f64> {
    per_update(row, |measured| measured.breakpoints)
}

fn per_update(row: &Row, count: impl Fn(&Measured) -> Option<u64>) -> Option<f64> {
    let updates = tally(row, |measured| measured.updates.filter(|updates| *updates > 0));
    ratio(tally(row, count), updates)
}

/// Breakpoints of all samples of an update at once over those of one after the other, √n : n, which
/// holds where all samples have the same way to go: the length of the straight line over that along
/// the coordinates (Karasuyama and Takeuchi 2009, section 3.4).
pub(crate) fn theoretical(row: &Row) -> Option<f64> {
    let count = |key: &str| row.cell.settings.get(key).and_then(Value::as_f64).unwrap_or(0.0);
    let samples = count("add") + count("remove");
    (samples > 0.0).then(|| samples.sqrt().recip())
}

/// Returns the objective where a peer solves the same problem. Other folds are another problem.
fn objective(row: &Row) -> Option<f64> {
    let setting = |name: &str| row.cell.settings.get(name).and_then(Value::as_str);
    let same = setting("job") == Some("train") || setting("folds") == Some(LIBSVM_FOLDS);
    row.counted()?.objective.filter(|_| same)
}

fn training(row: &Row) -> Shown {
    limited(row, |measured| measured.train_seconds)
}

fn process(row: &Row) -> Shown {
    limited(row, |measured| measured.process_seconds)
}

/// Returns seconds, a lower bound where a limit ended the run or one of several.
fn limited(row: &Row, of: fn(&Measured) -> Option<f64>) -> Shown {
    let Some((measured, took)) = row.counted().and_then(|measured| Some((measured, of(measured)?))) else {
        return Shown::Nothing;
    };
    // A solver checks the time between sweeps and can exceed the limit, which is the bound.
    let limit = measured.number("limit_seconds").unwrap_or(took);
    if measured.cut_runs() > 0.0 { Shown::Over(limit) } else { Shown::Is(took) }
}

fn ended(row: &Row) -> String {
    if let Some(flaw) = &row.ours.flaw {
        return flaw.clone();
    }
    let measured = &row.ours.measured;
    // A training on the simplex reports the evidence of its convergence.
    match (measured.more.get("evidence").and_then(Value::as_str), measured.status()) {
        (Some(_), _) if measured.cut_runs() > 0.0 => {
            format!("{} of {} cut off", measured.cut_runs(), measured.number("runs").unwrap_or(1.0))
        }
        (Some("Sample"), _) => "by a sample".into(),
        (Some(_), _) => "by a full scan".into(),
        (None, Some("Converged")) => "by its rule".into(),
        (None, Some("TimeLimit")) => "cut off".into(),
        (None, Some("IterationLimit")) => "at its cap of sweeps".into(),
        (None, other) => other.unwrap_or("unknown").to_owned(),
    }
}
