//! How far a run is and how long it will take: ticks in, words and seconds out.
//!
//! What is left is the rest of the phase that runs, at the speed that it shows, and the phases
//! after it, of which only ratios to earlier ones are known until they begin. Those ratios were
//! measured on a9a, ijcnn1 and w8a (tests/ticks), and any of them is wrong by a factor of two or
//! three somewhere; the sum of all is right within two once a tenth of the work is done, which the
//! tests hold against the recorded runs.

use crate::format;
use maxmargin::core::Progress;
use maxmargin::cv::{CvProgress, Stage};
use std::collections::BTreeMap;

/// A violation that rises above this many times that of the start is that of a hard problem: few
/// samples end at C, and where they end is far away.
const HARD: f64 = 1.5;
/// Of the rows that are missing, the share that a training will still ask for while its worst
/// violation has not begun to fall: of easy problems and of hard ones, as in what follows.
const ASKED_FOR: [f64; 2] = [0.4, 0.25];
/// Seconds of pair steps for a second of kernel rows, before there is anything to see of them.
const STEPS: [f64; 2] = [0.1, 0.2];
/// Seconds of one fold for a second of pair steps of the training that it starts from.
const FOLD: [f64; 2] = [0.12, 0.6];
/// The same where there are features and no kernel rows.
const LINEAR_FOLD: f64 = 0.6;
/// Seconds of the audit for a second of kernel rows, where rows came as they were needed, and where
/// all were computed: the audit reads those of support vectors, in double precision.
const AUDIT: [f64; 2] = [1.0, 0.2];
/// The violation falls more slowly than geometrically: the share of the time is the share of the
/// way in logarithm to this power.
const TAIL: f64 = 1.2;
/// The share of the way in the violation from which on nothing else is looked at.
const TRUSTED: f64 = 0.25;
/// A violation that is so many times the least before it is that of more variables than those of
/// the last round, the first time and later: what a round came to says little of all.
const ANEW: [f64; 2] = [4.0, 2.0];
/// What is expected of a fold weighs as much as so many folds that were seen.
const EXPECTED: f64 = 0.5;

/// What a tick says about the whole run.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct View {
    /// What is being done, in words.
    pub(crate) what: String,
    /// Seconds left, once there is something to tell by.
    pub(crate) left: Option<f64>,
    /// How far the bar is, from 0 to 1.
    pub(crate) share: f64,
}

impl View {
    /// `folds: 3 of 10 done, …, about 12 s left`
    pub(crate) fn text(&self) -> String {
        let left = self.left.map_or_else(String::new, |left| format!(", about {} left", format::coarse(left)));
        format!("{}{left}", self.what)
    }
}

/// One run, as far as its ticks tell: a training, or a cross-validation.
#[derive(Clone, Debug)]
pub(crate) struct Pace {
    samples: usize,
    last: Option<(f64, CvProgress)>,
    /// The training of all data, or the first fold where there is none.
    first: Option<Training>,
    /// When it was over.
    first_over: Option<f64>,
    /// Folds or machines that have begun.
    parts: BTreeMap<usize, Training>,
    audit: Option<Audit>,
    share: f64,
}

/// One training.
#[derive(Clone, Copy, Debug)]
struct Training {
    begun: f64,
    rows_before: u64,
    /// The first violation, the largest, and when the last was seen that was at least half of it.
    start: f64,
    peak: f64,
    falls_at: f64,
    lowest: f64,
    /// The largest violation of the present round, where there are rounds.
    round: Option<f64>,
    /// Kernel rows in a second, of late more than before.
    rate: f64,
    /// When kernel rows were last computed; when and with how many that began which goes on without
    /// iterations, and when it last did.
    rows_at: f64,
    block_begun: Option<(f64, u64)>,
    block_at: Option<f64>,
    now: f64,
    latest: Progress,
}

/// A pass of exact values.
#[derive(Clone, Copy, Debug)]
struct Audit {
    begun: f64,
    judged: usize,
}

impl Training {
    fn new(at: f64, progress: &Progress) -> Self {
        Self {
            begun: at,
            rows_before: progress.rows_computed,
            start: progress.violation,
            peak: progress.violation,
            falls_at: at,
            lowest: f64::INFINITY,
            round: None,
            rate: 0.0,
            rows_at: at,
            block_begun: None,
            block_at: None,
            now: at,
            latest: *progress,
        }
    }

    fn tick(&mut self, at: f64, progress: &Progress) {
        let more = progress.rows_computed > self.latest.rows_computed;
        let (passed, before) = (at - self.now, self.now - self.begun);
        if more && passed > 0.0 {
            self.rows_at = at;
            let now = (progress.rows_computed - self.latest.rows_computed) as f64 / passed;
            // The last third of the time counts for two thirds.
            self.rate += (now - self.rate) * (1.0 - (-3.0 * passed / (before + passed)).exp());
        }
        let block = more && progress.iterations == self.latest.iterations;
        if block {
            self.block_at = Some(at);
        }
        self.block_begun = block.then(|| self.block_begun.unwrap_or((self.now, self.latest.rows_computed)));
        self.peak = self.peak.max(progress.violation);
        if progress.violation >= 0.5 * self.peak {
            self.falls_at = at;
        }
        if progress.violation > ANEW[usize::from(self.round.is_some())] * self.lowest {
            (self.round, self.lowest) = (Some(progress.violation), progress.violation);
        }
        self.round = self.round.map(|round| round.max(progress.violation));
        self.lowest = self.lowest.min(progress.violation);
        (self.now, self.latest) = (at, *progress);
    }

    /// The share of its steps that is done, by the way of the violation.
    fn share(&self) -> f64 {
        let way = (0.5 * self.peak / self.latest.tol).ln();
        let share = (0.5 * self.peak / self.round.unwrap_or(self.lowest)).ln() / way;
        if share.is_finite() { share.clamp(0.0, 1.0).powf(TAIL) } else { 0.0 }
    }

    /// Of two ratios that of easy problems or that of hard ones.
    fn of(&self, ratios: [f64; 2]) -> f64 {
        ratios[usize::from(self.peak > HARD * self.start)]
    }

    /// When there was no more to do than pair steps: a few rows now and then are no work to speak
    /// of.
    fn rows_over(&self) -> f64 {
        self.block_at.unwrap_or(self.rows_at.min(self.falls_at))
    }

    /// Seconds of kernel rows so far.
    fn kernel(&self) -> f64 {
        if self.latest.rows_computed == self.rows_before { 0.0 } else { self.rows_over() - self.begun }
    }

    /// How much the way of the violation tells.
    fn trust(&self) -> f64 {
        (self.share() / TRUSTED).min(1.0)
    }

    /// Seconds of kernel rows that are still to come, of a matrix of so many rows.
    fn kernel_left(&self, samples: usize) -> f64 {
        let missing = samples as f64 - self.latest.rows_computed as f64;
        if self.rate == 0.0 || missing <= 0.0 || self.round.is_some() {
            return 0.0;
        }
        match self.block_begun {
            // All that are missing are on their way.
            Some((at, rows)) => missing * (self.now - at) / (self.latest.rows_computed - rows) as f64,
            None => (1.0 - self.trust()) * self.of(ASKED_FOR) * missing / self.rate,
        }
    }

    /// Seconds of pair steps so far, all time where there are no rows.
    fn steps(&self) -> f64 {
        self.now - if self.latest.rows_computed > 0 { self.rows_over() } else { self.begun }
    }

    /// Seconds of pair steps that are left.
    fn steps_left(&self, kernel_left: f64) -> f64 {
        if self.latest.rows_computed == 0 {
            // Without rows the violation goes up and down: nothing is known but the time that it
            // has taken.
            return self.steps();
        }
        let (share, trust) = (self.share(), self.trust());
        if self.round.is_some() {
            // Rows and steps take turns; until the rounds begin at less, nothing is known but the
            // time that they have taken.
            let spent = self.now - self.begun;
            let seen = if share > 0.0 { spent * (1.0 - share) / share } else { spent };
            return trust * seen + (1.0 - trust) * spent;
        }
        let expected = self.of(STEPS) * (self.kernel() + kernel_left);
        let falling = self.now - self.falls_at.max(self.rows_over());
        let seen = if share > 0.0 { falling * (1.0 - share) / share } else { expected };
        trust * seen + (1.0 - trust) * expected
    }

    /// Whether it is as good as done: what follows are exact values.
    fn is_judged(&self) -> bool {
        self.latest.violation <= self.latest.tol && self.latest.iterations > 0
    }
}

impl Pace {
    /// A run over so many samples.
    pub(crate) fn new(samples: usize) -> Self {
        Self { samples, last: None, first: None, first_over: None, parts: BTreeMap::new(), audit: None, share: 0.0 }
    }

    /// Takes what was told `at` so many seconds after the beginning.
    pub(crate) fn tick(&mut self, at: f64, progress: &CvProgress) -> View {
        let solver = &progress.solver;
        match progress.stage {
            Stage::Full => match &mut self.first {
                Some(first) if self.first_over.is_none() => first.tick(at, solver),
                Some(_) => {}
                None => self.first = Some(Training::new(at, solver)),
            },
            Stage::Fold(part) | Stage::Machine(part) => {
                self.first_over = self.first_over.or(self.first.map(|_| at));
                self.parts
                    .entry(part)
                    .and_modify(|training| training.tick(at, solver))
                    .or_insert_with(|| Training::new(at, solver));
            }
            Stage::Certify { certified: judged, .. } => {
                self.first_over = self.first_over.or(self.first.map(|_| at));
                let begins = self.audit.is_none_or(|audit| judged < audit.judged);
                let begun = self.audit.filter(|_| !begins).map_or(at, |audit| audit.begun);
                self.audit = Some(Audit { begun, judged });
            }
        }
        let what = self.words(progress);
        let passed = at - self.last.map_or(0.0, |(before, _)| before);
        self.last = Some((at, *progress));
        // Nothing left is nothing known: a run that is over does not tick.
        let left = self.left(at, progress).filter(|left| left.is_finite() && *left > 0.0);
        // From where it is the bar goes on as fast as it has to: it neither stands nor turns back
        // when more is left than was thought.
        if let Some(left) = left.filter(|_| passed > 0.0) {
            self.share += (1.0 - self.share) * passed / (passed + left);
        }
        View { what, left, share: self.share }
    }

    fn words(&self, progress: &CvProgress) -> String {
        let CvProgress { stage, done, total, solver } = progress;
        let steps = || {
            let (iterations, rows) = (format::count(solver.iterations), format::count(solver.rows_computed));
            let rows = if solver.rows_computed > 0 { format!(", {rows} kernel rows") } else { String::new() };
            let violation = format!("violation {} (to {})", format::short(solver.violation), format::short(solver.tol));
            format!("{iterations} iterations{rows}, {violation}")
        };
        let all = |count: &usize| format::count(*count as u64);
        match stage {
            Stage::Full if self.first.is_some_and(|first| first.is_judged()) => "audit: exact values".to_owned(),
            Stage::Full if self.first.is_some_and(|first| first.block_begun.is_some()) => {
                format!("kernel rows: {} of {}", format::count(solver.rows_computed), all(&self.samples))
            }
            Stage::Full => format!("training on all data: {}", steps()),
            Stage::Fold(fold) => format!("folds: {} of {} done; fold {fold}: {}", all(done), all(total), steps()),
            Stage::Machine(machine) => format!("machines: {} of {} done; machine {machine}: {}", all(done), all(total), steps()),
            Stage::Certify { certified: judged, samples } => format!("audit: {} of {} samples", all(judged), all(samples)),
        }
    }

    /// Seconds left of everything.
    fn left(&self, at: f64, progress: &CvProgress) -> Option<f64> {
        let opens = self.first_over.is_none() && progress.done == 0;
        let kernel_left = self.opening().filter(|_| opens).map_or(0.0, |opening| opening.kernel_left(self.samples));
        let kernel = self.opening().map_or(0.0, Training::kernel) + kernel_left;
        // All rows are computed once some are.
        let all = self.opening().is_some_and(|opening| opening.block_at.is_some() || kernel_left > opening.kernel());
        let audit = AUDIT[usize::from(all)] * kernel;
        match progress.stage {
            Stage::Machine(_) => {
                let done = progress.done as f64 + self.running(progress.done, |_| 0.5);
                let spent = at - self.parts.values().map(|part| part.begun).fold(at, f64::min);
                (done > 0.0 && spent > 0.0).then(|| spent * (progress.total as f64 - done).max(0.0) / done)
            }
            Stage::Certify { certified: judged, samples } => {
                let spent = at - self.audit.map_or(at, |audit| audit.begun);
                let share = judged as f64 / samples.max(1) as f64;
                let here = if share > 0.0 { spent * (1.0 - share) / share } else { audit };
                Some(here + self.folds_left(at, progress))
            }
            Stage::Full if self.first_over.is_some() => Some(audit),
            Stage::Full => {
                let first = self.first.as_ref()?;
                if first.is_judged() {
                    return Some((audit - (at - first.now)).max(0.0) + folds_expected(progress, first, 0.0));
                }
                let left = first.steps_left(kernel_left);
                let folds = folds_expected(progress, first, first.steps() + left);
                (first.now > first.begun).then_some(kernel_left + left + audit + folds)
            }
            Stage::Fold(_) => Some(self.folds_left(at, progress) + if self.audit.is_some() { 0.0 } else { audit }),
        }
    }

    /// What the folds' kernel rows and steps are measured by: the training of all data, or the
    /// first fold.
    fn opening(&self) -> Option<&Training> {
        self.first.as_ref().or_else(|| self.parts.values().min_by(|a, b| a.begun.total_cmp(&b.begun)))
    }

    /// Seconds that are left of the folds: by those that are done, those that run, and what was
    /// expected.
    fn folds_left(&self, at: f64, progress: &CvProgress) -> f64 {
        let (done, total) = (progress.done as f64, progress.total as f64);
        let Some(opening) = self.opening() else { return 0.0 };
        if done >= total {
            return 0.0;
        }
        if self.first.is_none() && progress.done == 0 {
            // The first of folds that start from nothing: the others are like it, and most often
            // find its kernel rows there.
            let kernel_left = opening.kernel_left(self.samples);
            let steps_left = opening.steps_left(kernel_left);
            return kernel_left + steps_left + (total - 1.0) * (opening.steps() + steps_left);
        }
        let rows_shared = self.parts.values().any(|part| part.begun > opening.begun && part.rows_before > 0);
        let begun = self.first_over.unwrap_or(opening.begun + if rows_shared { opening.kernel() } else { 0.0 });
        let expected = folds_expected(progress, opening, opening.steps()) / total;
        let seen = done
            + self.running(progress.done, |part| {
                // Without rows the violation goes up and down; two folds side by side take twice as
                // long.
                let spent = part.now - part.begun;
                if part.latest.rows_computed > 0 { part.share() } else { spent / (spent + 2.0 * expected).max(f64::MIN_POSITIVE) }
            });
        let each = (at - begun + EXPECTED * expected) / (seen + EXPECTED);
        (total - seen).max(0.0) * each
    }

    /// The shares of the folds or machines that run now, summed: of those that have begun, the
    /// least advanced.
    fn running(&self, done: usize, share: impl Fn(&Training) -> f64) -> f64 {
        let mut shares: Vec<f64> = self.parts.values().map(share).collect();
        shares.sort_by(f64::total_cmp);
        shares.iter().take(self.parts.len().saturating_sub(done)).sum()
    }
}

/// Seconds that all folds are expected to take, when the training that they start from has taken so
/// many in pair steps.
fn folds_expected(progress: &CvProgress, first: &Training, steps: f64) -> f64 {
    if progress.total <= 1 {
        return 0.0;
    }
    let each = if first.latest.rows_computed > 0 { first.of(FOLD) } else { LINEAR_FOLD };
    progress.total as f64 * each * steps
}

#[cfg(test)]
#[path = "pace_tests.rs"]
mod tests;
