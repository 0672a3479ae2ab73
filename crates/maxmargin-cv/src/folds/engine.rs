//! Cross-validation of one machine: one kernel space for all folds, a start for each fold, one
//! audit for all solutions.

use crate::folds::outcome::Outcome;
use crate::folds::task::Task;
use crate::folds::trainer::{Prune, Trainer};
use crate::run::error::CvError;
use crate::seed::dec::exact;
use crate::seed::problem::Trained;
use crate::seed::row_boxes::{RowBoxes, beta_of, sum_of};
use crate::seed::rows::SeedRows;
use crate::seed::{SeedSource, Seeding};
use maxmargin_core::{Solution, Stage, Status, bias_is_middle};
use maxmargin_data::{Par, RunControl};
use maxmargin_path::{Path, PathError};
use std::sync::atomic::Ordering;

/// Number of folds that are trained before their solutions are audited and dropped. It bounds the
/// memory at a few times `n × BATCH` doubles.
const BATCH: usize = 64;

impl<'a> Trainer<'a> {
    /// Runs all folds. The machine of all data, if the seeding needs one, starts from `start`.
    pub(crate) fn run(&self, start: Option<&[f64]>) -> Result<Outcome, CvError> {
        let lacking = (0..self.folds.len()).map(|h| self.boxes.lack(h)).collect();
        let mut outcome = Outcome::new(self.folds, lacking, self.space.len());
        match self.seeding.source() {
            SeedSource::AllData => self.run_from_all_data(start, &mut outcome)?,
            SeedSource::PreviousFold => self.run_chain(&mut outcome)?,
            SeedSource::Nothing => self.run_cold(&mut outcome)?,
        }
        // A fold whose problem equals that of all data has the machine of all data.
        if outcome.full.is_none() && !outcome.pruned && (0..self.folds.len()).any(|h| !outcome.has(h) && !self.is_own(h)) {
            let mut tasks = vec![self.train(None, None, None, self.par)?];
            outcome.certify_seconds += self.certify(&mut tasks)?;
            tasks.into_iter().for_each(|task| outcome.add(self, task));
        }
        Ok(outcome)
    }

    /// Returns true if the problem of a fold differs from that of all data: the fold leaves out
    /// samples of this machine, or its boxes differ.
    fn is_own(&self, h: usize) -> bool {
        !self.boxes.lack(h) && (!self.folds[h].out.is_empty() || self.boxes.differ(h))
    }

    /// Folds whose problem differs from that of all data.
    fn own(&self) -> Vec<usize> {
        (0..self.folds.len()).filter(|&h| self.is_own(h)).collect()
    }

    /// Starts every fold from the machine of all data. A fold with the same boxes that leaves out
    /// no support vector needs no training: the machine of all data is its solution, unless the
    /// bias depends on all samples.
    fn run_from_all_data(&self, start: Option<&[f64]>, outcome: &mut Outcome) -> Result<(), CvError> {
        let mut full = Some(self.train(None, start, None, self.par)?);
        let path = full.as_mut().map_or(Ok(None), |task| self.make_exact(task))?;
        // Reserve memory for a path of a fold: its columns and its factor are as large as those of
        // this path.
        let _reserved = path.as_ref().zip(self.space.rows()).map(|(path, rows)| rows.reserve(path.bytes()));
        let mut from = full.as_ref().map(|task| self.trained(task)).expect("trained just now");
        from.path = path;
        if let Some(rows) = from.rows.filter(|_| !self.control.is_over()) {
            self.hold_bounded(&from.beta, rows);
        }
        if self.seeding == Seeding::Full
            && !self.control.is_over()
            && let Some((boxes, _)) = &self.seeds
        {
            from.free_sums = self.free_sums(&from, boxes);
        }
        let mut support: Vec<bool> = from.beta.iter().map(|beta| *beta != 0.0).collect();
        let counts = self.problem.formulation().counts_samples();
        let mut shares = counts || full.as_ref().is_some_and(|task| bias_is_middle(&task.dual, &task.solution.alpha));
        let touches = |support: &[bool], shares: bool, h: usize| {
            let out = &self.folds[h].out;
            let is_other = out.iter().any(|&i| support[i]) || (shares && !out.is_empty()) || self.boxes.differ(h);
            is_other && !self.boxes.lack(h)
        };
        let mut open: Vec<usize> = (0..self.folds.len()).filter(|&h| touches(&support, shares, h)).collect();
        // The remaining folds already have their machine.
        self.done.fetch_add(self.folds.len() - open.len(), Ordering::Relaxed);
        loop {
            // Errors are counted after every fold, so that results do not depend on the number of
            // threads.
            let rest = open.split_off(open.len().min(if self.prune.is_some() { 1 } else { BATCH }));
            // The machine of all data comes first: folds are compared with it.
            let mut tasks: Vec<Task> = full.take().into_iter().collect();
            tasks.extend(self.train_all(&open, Some(&from))?);
            outcome.certify_seconds += self.certify(&mut tasks)?;
            for task in tasks {
                if task.fold.is_none() {
                    // Refinement may have changed the support vectors, and the final machine
                    // decides which folds need a training. Seeds keep the point whose sums they
                    // have.
                    support.fill(false);
                    let ids = self.problem.dual().ids().iter().zip(&task.solution.alpha);
                    ids.filter(|(_, alpha)| **alpha != 0.0).for_each(|(&i, _)| support[i] = true);
                    shares = counts || bias_is_middle(&task.dual, &task.solution.alpha);
                }
                outcome.add(self, task);
            }
            // Fold results that already exist are kept even if the cell is pruned.
            if !rest.is_empty() && self.prune.is_some_and(|prune| self.errors(&prune, outcome) > prune.max_errors) {
                outcome.pruned = true;
                return Ok(());
            }
            open = rest;
            if open.is_empty() {
                open = (0..self.folds.len()).filter(|&h| !outcome.has(h) && touches(&support, shares, h)).collect();
            }
            if open.is_empty() {
                return Ok(());
            }
        }
    }

    /// Counts errors in the folds that have a solution of their own, or no machine at all.
    fn errors(&self, prune: &Prune, outcome: &Outcome) -> usize {
        let solved = |h: &usize| outcome.folds[*h].as_ref().map_or(outcome.has(*h), |certified| certified.report.is_solution());
        (0..self.folds.len()).filter(solved).map(|h| (prune.errors_of)(h, &outcome.decisions)).sum()
    }

    /// Trains the folds in order, each from the solution of the previous one.
    fn run_chain(&self, outcome: &mut Outcome) -> Result<(), CvError> {
        let mut from: Option<Trained> = None;
        let own = self.own();
        for (b, batch) in own.chunks(BATCH).enumerate() {
            let mut tasks: Vec<Task> = Vec::new();
            for (at, &h) in batch.iter().enumerate() {
                tasks.push(self.train(Some(h), None, from.as_ref(), self.par)?);
                let last = b * BATCH + at + 1 == own.len();
                // A start is only prepared if another training follows.
                from = if last || self.control.is_over() { None } else { tasks.last().map(|task| self.trained(task)) };
            }
            outcome.certify_seconds += self.certify(&mut tasks)?;
            tasks.into_iter().for_each(|task| outcome.add(self, task));
        }
        Ok(())
    }

    /// Trains every fold from zero. With a kernel, the first fold is trained alone on all threads:
    /// it computes most of the rows that all folds need.
    fn run_cold(&self, outcome: &mut Outcome) -> Result<(), CvError> {
        let mut rest = self.own();
        let mut tasks = Vec::new();
        if self.space.rows().is_some() && !rest.is_empty() {
            tasks.push(self.train(Some(rest.remove(0)), None, None, self.par)?);
        }
        for batch in rest.chunks(BATCH).chain(rest.is_empty().then_some(&rest[..])) {
            tasks.extend(self.train_all(batch, None)?);
            outcome.certify_seconds += self.certify(&mut tasks)?;
            tasks.drain(..).for_each(|task| outcome.add(self, task));
        }
        Ok(())
    }

    /// Trains independent folds in parallel.
    fn train_all(&self, folds: &[usize], from: Option<&Trained>) -> Result<Vec<Task>, CvError> {
        // Folds that run in parallel leave no free thread to share passes with.
        let par = if folds.len() == 1 { self.par } else { Par::Seq };
        self.par.map(folds.len(), |at| self.train(Some(folds[at]), None, from, par)).into_iter().collect()
    }

    /// For a seeding that follows paths: moves the machine of all data to an exact solution, from
    /// which every path starts.
    fn make_exact(&self, task: &mut Task) -> Result<Option<Path<'a>>, CvError> {
        let Some((boxes, rows)) = &self.seeds else { return Ok(None) };
        let wanted = self.seeding == Seeding::Dec && task.solution.status == Status::Converged;
        if !wanted {
            return Ok(None);
        }
        let control = self.stage_control(Stage::Full);
        let path = match exact(&task.solution.alpha, boxes, rows, self.path_memory, &control) {
            Ok(Some(path)) => path,
            Ok(None) | Err(PathError::Interrupted) => return Ok(None),
            Err(source) => return Err(CvError::Path { seeding: self.seeding, source }),
        };
        let solution = path.solution();
        task.solution = Solution { work: task.solution.work, ..solution };
        // The exact solution needs a certificate and a decision of its own.
        (task.audit, task.decision) = (None, None);
        Ok(Some(path))
    }

    /// The solution of a task over all rows. Sums of hidden rows come from their own kernel rows.
    /// Without seeds the sums stay empty.
    fn trained(&self, task: &Task) -> Trained<'a> {
        let n = self.space.len();
        let hidden = self.hidden_in(task.fold);
        let (alpha, gradient) = (&task.solution.alpha, &task.solution.gradient);
        let dual = &task.dual;
        let beta = beta_of(dual, alpha, n);
        let mut sums = Vec::new();
        // The solver has run, so these are the rows that it read.
        let rows = self.seeds.as_ref().map(|(_, rows)| SeedRows::of(rows));
        if let Some(rows) = rows {
            let mut unseen = vec![true; rows.count()];
            sums.resize(rows.count(), 0.0);
            let takes_part = (0..dual.len()).filter(|&k| !gradient[k].is_nan());
            for k in takes_part {
                let at = rows.place(dual.ids()[k]);
                (sums[at], unseen[at]) = (sum_of(dual, k, alpha[k], gradient[k]), false);
            }
            // Once time is over, no training starts from this point, and its sums are not needed.
            let hidden: Vec<usize> = hidden.iter().copied().filter(|&t| std::mem::take(&mut unseen[rows.place(t)])).collect();
            let together = rows.together(&beta);
            for chunk in hidden.chunks(64).take_while(|_| !self.control.is_over()) {
                let found = rows.sums_at(chunk, &together, &RunControl::unlimited()).expect("unlimited");
                chunk.iter().zip(found).for_each(|(&t, sum)| sums[rows.place(t)] = sum);
            }
        }
        Trained { dual: dual.clone(), beta, sums, rows, bias: task.solution.bias, hidden, free_sums: None, path: None }
    }

    /// `Σ_j K_ij` over the free rows; `None` if the time ended before the sums were complete.
    fn free_sums(&self, from: &Trained, boxes: &RowBoxes) -> Option<Vec<f64>> {
        let rows = from.rows?;
        let free: Vec<usize> = (0..from.beta.len()).filter(|&i| boxes.is_free(i, from.beta[i])).collect();
        let dual = self.problem.dual();
        let control = self.stage_control(Stage::Full);
        if rows.are_passed_by(dual, rows.joined(dual).as_ref(), &from.beta) {
            return rows.sums(&free, &vec![1.0; free.len()], &control).ok();
        }
        let mut sums = vec![0.0; rows.count()];
        rows.add_to(&mut sums, &free, &vec![1.0; free.len()], self.par, &control).ok()?;
        Some(sums)
    }
}
