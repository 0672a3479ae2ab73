//! From the machines of all folds to predictions and a report.

use crate::folds::fold_classes::FoldClasses;
use crate::folds::outcome::{CertifiedMachine, Outcome};
use crate::plan::FoldPlan;
use crate::report::{CertificateReport, CvReport, FoldReport, FullReport, MachineReport};
use crate::run::deadline::Deadline;
use crate::run::error::CvError;
use crate::run::watch::{CvProgress, CvWatch, Stage};
use crate::study::SpaceSource;
use crate::study::layout::{HeldOut, MachineLayout};
use maxmargin_core::{Decision, Solved, Status, TargetKind};
use maxmargin_data::{Asking, Halted, Par};
use maxmargin_kernel::{Exact, Matrix, RowWork};
use maxmargin_metrics::{are_sides, greatest_label, scores};
use maxmargin_model::Rule;
use std::sync::Arc;

/// What is needed to count.
pub(crate) struct ReportAssembly<'a> {
    pub(crate) needs: TargetKind,
    /// How the machines of a fold decide.
    pub(crate) rule: Rule,
    /// The classes that each fold has.
    pub(crate) classes: &'a FoldClasses,
    /// The labels of the data.
    pub(crate) labels: &'a [f64],
    pub(crate) layout: &'a MachineLayout,
    pub(crate) plan: &'a FoldPlan,
    pub(crate) par: Par,
    /// Who may call the votes off.
    pub(crate) deadline: &'a Deadline,
    pub(crate) watch: &'a dyn CvWatch,
}

impl ReportAssembly<'_> {
    /// The report of all machines.
    ///
    /// # Errors
    ///
    /// When the votes were called off before they were counted.
    pub(crate) fn report(&self, source: &SpaceSource, outcomes: &[Outcome], work: &[RowWork]) -> Result<CvReport, CvError> {
        let held = self.layout.folds(self.plan);
        let width = outcomes.len();
        let mut go_on = || {
            let stage = Stage::Certify { judged: 0, samples: self.layout.original.len() };
            if self.watch.tick(&CvProgress { stage, ..CvProgress::default() }).is_break() {
                self.deadline.end();
            }
            self.deadline.may_certify()
        };
        let asking = Asking::new(&mut go_on);
        let decisions = match outcomes {
            // One machine has judged all samples already.
            [only] => Ok(only.decisions.clone()),
            _ => match source {
                SpaceSource::Gram(gram, _) => self.decide(Exact::from(gram), outcomes, &held, &asking),
                SpaceSource::Features(samples) => {
                    self.decide(Exact::from(&Matrix::new(samples, None, self.par)), outcomes, &held, &asking)
                }
            },
        };
        let decisions = decisions.map_err(|Halted| CvError::Ended(self.deadline.status()))?;
        let rows = self.layout.original.len();
        let vote = |fold: usize, at: usize| self.classes.label(fold, &self.rule, &decisions[at * width..(at + 1) * width]);
        let truth_of = |at: usize| self.labels[self.layout.original[at]];
        let countable = self.needs == TargetKind::Classes || (self.needs == TargetKind::Nothing && are_sides(self.labels));
        let mut folds = Vec::with_capacity(held.len());
        let mut seen = Seen::new(rows);
        let mut predicted = vec![f64::NAN; self.plan.rounds() * rows];
        let (lost, greater) = (outcomes.iter().any(|outcome| outcome.lost), greatest_label(self.labels));
        for (fold, HeldOut { test, round, .. }) in held.iter().enumerate() {
            if lost && !outcomes.iter().all(|outcome| outcome.has(fold)) {
                continue;
            }
            let before = round * rows;
            let judged: Vec<&CertifiedMachine> = outcomes.iter().filter_map(|outcome| outcome.judged(fold)).collect();
            let solved = judged.iter().all(|judged| judged.report.is_solution());
            let own = outcomes.iter().filter_map(|outcome| outcome.folds[fold].as_ref().map(|own| own.report.clone())).collect();
            let support_vectors = match outcomes {
                [_] => judged.iter().map(|judged| judged.report.support_vectors).sum(),
                _ => seen.count(
                    outcomes
                        .iter()
                        .zip(&self.layout.parts)
                        .filter_map(|(outcome, part)| outcome.judged(fold).map(|judged| (&*judged.decision, &part.rows[..]))),
                ),
            };
            let truth: Vec<f64> = test.iter().map(|&at| truth_of(at)).collect();
            let said: Vec<f64> = test.iter().map(|&at| if solved { vote(fold, before + at) } else { f64::NAN }).collect();
            let correct = (solved && countable).then(|| truth.iter().zip(&said).filter(|(truth, said)| truth == said).count());
            test.iter().zip(&said).for_each(|(&at, &label)| predicted[before + self.layout.original[at]] = label);
            let ranked: Option<Vec<f64>> = (width == 1).then(|| test.iter().map(|&at| decisions[before + at]).collect());
            let scores = scores(self.needs, greater, &truth, &said, ranked.as_deref());
            folds.push(FoldReport {
                solved,
                correct,
                scores,
                support_vectors,
                missing_classes: self.classes.missing(fold),
                ..FoldReport::of(
                    (fold, *round),
                    (self.plan.trained(fold), test.len()),
                    judged.iter().map(|judged| &judged.report),
                    own,
                )
            });
        }
        let mut counts = Vec::new();
        outcomes.iter().for_each(|outcome| Solved::add_counts(&mut counts, &outcome.counts));
        // The report's shape is one for all: nothing is known of C and of clocks here.
        let empty = CvReport::empty(self.plan, width);
        let mut by_data = vec![f64::NAN; decisions.len()];
        for (at, row) in decisions.chunks_exact(width).enumerate() {
            let i = at - at % rows + self.layout.original[at % rows];
            if !predicted[i].is_nan() {
                by_data[i * width..(i + 1) * width].copy_from_slice(row);
            }
        }
        let wrong = |fold: &FoldReport| fold.correct.map_or(0, |correct| fold.test - correct);
        let report = CvReport {
            lost: lost.then(|| folds.iter().map(wrong).sum()),
            folds,
            full: full_report(outcomes),
            counts,
            kernel_seconds: work.iter().map(|w| w.time.as_secs_f64()).sum(),
            certify_seconds: outcomes.iter().map(|outcome| outcome.certify_seconds).sum(),
            rows_computed: work.iter().map(|w| w.computed).sum(),
            kernel_bytes: work.iter().map(|w| w.peak_bytes).max().unwrap_or(0),
            decisions: by_data,
            predicted,
            ..empty
        };
        Ok(report.summed(self.needs, self.labels))
    }

    /// Exact decision values of all samples by the machines that did not see them, row-major, round
    /// after round. Machines of all data that serve many folds decide for all samples at once.
    fn decide(&self, source: Exact, outcomes: &[Outcome], held: &[HeldOut], asking: &Asking) -> Result<Vec<f64>, Halted> {
        let (n, width) = (self.layout.original.len(), outcomes.len());
        let full: Vec<Option<Arc<Decision>>> =
            outcomes.iter().map(|outcome| outcome.full.as_ref().map(|full| Arc::clone(&full.judged.decision))).collect();
        let is_full = |p: usize, fold: usize| outcomes[p].is_shared(fold);
        let shared: usize = (0..held.len()).map(|fold| (0..width).filter(|&p| is_full(p, fold)).count()).sum();
        let mut decisions = vec![0.0; self.plan.rounds() * n * width];
        // What is no solution decides nothing that anybody is told, and there is no time for it.
        let is_told =
            |fold: usize| outcomes.iter().filter_map(|outcome| outcome.judged(fold)).all(|judged| judged.report.is_solution());
        let at_once = 2 * shared > held.len() * width && (0..held.len()).any(is_told);
        if at_once {
            let all: Vec<usize> = (0..n).collect();
            let machines: Vec<usize> = (0..width).filter(|&p| full[p].is_some()).collect();
            let of = machines.iter().filter_map(|&p| full[p].as_deref().map(|decision| (p, decision)));
            self.put(source, &of.collect::<Vec<_>>(), (&all, width), &mut decisions[..n * width], asking)?;
            (1..self.plan.rounds()).for_each(|round| decisions.copy_within(..n * width, round * n * width));
        }
        for (fold, HeldOut { test, round, .. }) in held.iter().enumerate() {
            if !is_told(fold) {
                continue;
            }
            let of = (0..width).filter(|&p| !(at_once && is_full(p, fold)));
            let of = of.filter_map(|p| outcomes[p].judged(fold).map(|judged| (p, &*judged.decision)));
            let decisions = &mut decisions[round * n * width..];
            self.put(source, &of.collect::<Vec<_>>(), (test, width), decisions, asking)?;
            // Nobody says anything there, the machines of all data least of all: these have seen
            // the samples.
            for p in (0..width).filter(|&p| outcomes[p].lacking[fold]) {
                test.iter().for_each(|&i| decisions[i * width + p] = f64::NAN);
            }
        }
        Ok(decisions)
    }

    /// Writes what some machines say of some samples.
    fn put(
        &self,
        source: Exact,
        machines: &[(usize, &Decision)],
        (samples, width): (&[usize], usize),
        decisions: &mut [f64],
        asking: &Asking,
    ) -> Result<(), Halted> {
        let h = machines.len();
        if h == 0 {
            return Ok(());
        }
        let mut used: Vec<usize> = machines
            .iter()
            .flat_map(|(p, decision)| decision.terms.iter().map(|term| self.layout.parts[*p].rows[term.0]))
            .collect();
        used.sort_unstable();
        used.dedup();
        let mut coef = vec![0.0; used.len() * h];
        for (at, (p, decision)) in machines.iter().enumerate() {
            let rows = &self.layout.parts[*p].rows;
            // Both ascend.
            let mut place = 0;
            for &(row, c) in &decision.terms {
                place += used[place..].iter().take_while(|&&id| id < rows[row]).count();
                coef[place * h + at] = c;
            }
        }
        let sums = source.sums_at(&used, &coef, h, samples, self.par, asking)?;
        for (&i, sums) in samples.iter().zip(sums.chunks_exact(h)) {
            machines.iter().zip(sums).for_each(|((p, decision), sum)| decisions[i * width + p] = sum + decision.bias);
        }
        Ok(())
    }
}

/// Counts different samples.
struct Seen {
    last: Vec<u32>,
    round: u32,
}

impl Seen {
    fn new(samples: usize) -> Self {
        Self { last: vec![0; samples], round: 0 }
    }

    /// Samples in some decision, whose terms are places in the rows beside it.
    fn count<'d>(&mut self, decisions: impl Iterator<Item = (&'d Decision, &'d [usize])>) -> usize {
        self.round += 1;
        let mut count = 0;
        for (decision, rows) in decisions {
            for term in &decision.terms {
                let last = &mut self.last[rows[term.0]];
                count += usize::from(*last != self.round);
                *last = self.round;
            }
        }
        count
    }
}

/// The machines of all data.
fn full_report(outcomes: &[Outcome]) -> Option<FullReport> {
    let machines: Vec<MachineReport> =
        outcomes.iter().filter_map(|outcome| outcome.full.as_ref().map(|full| full.judged.report.clone())).collect();
    let certificate = machines.iter().map(|m| m.certificate).reduce(CertificateReport::worse)?;
    Some(FullReport {
        status: machines.iter().map(|m| m.status).reduce(Status::worse)?,
        iterations: machines.iter().map(|m| m.iterations).sum(),
        rows_computed: machines.iter().map(|m| m.rows_computed).sum(),
        solve_seconds: machines.iter().map(|m| m.solve_seconds).sum(),
        objective: machines.iter().map(|m| m.objective).sum(),
        certificate,
        machines,
    })
}
