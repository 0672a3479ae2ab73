//! The cross-validation engine of one machine: one space for all folds, a start for each fold, one
//! audit for all solutions.

use crate::folds::outcome::Outcome;
use crate::folds::trainer::{Prune, Task, Trainer};
use crate::run::error::CvError;
use crate::run::watch::Stage;
use crate::seed::problem::Trained;
use crate::seed::row_boxes::{RowBoxes, sum_of};
use crate::seed::{SeedRows, SeedSource, Seeding, exact};
use maxmargin_core::{Solution, Status, bias_is_middle};
use maxmargin_data::{Asking, Par};
use maxmargin_path::{Path, PathError};
use std::sync::atomic::Ordering;

/// Folds trained before their solutions are audited and let go: bounds the memory at a few times `n
/// × BATCH` doubles.
const BATCH: usize = 64;

impl<'a> Trainer<'a> {
    /// Runs all folds; the model of all data, where the seeding wants one, starts from `start`.
    pub(crate) fn run(&self, start: Option<&[f64]>) -> Result<Outcome, CvError> {
        let lacking = (0..self.folds.len()).map(|h| self.boxes.lack(h)).collect();
        let mut outcome = Outcome::new(self.folds, lacking, self.space.len());
        match self.seeding.source() {
            SeedSource::AllData => self.run_from_all_data(start, &mut outcome)?,
            SeedSource::PreviousFold => self.run_chain(&mut outcome)?,
            SeedSource::Nothing => self.run_cold(&mut outcome)?,
        }
        // Folds with the problem of all data are the machine of all data.
        if outcome.full.is_none() && !outcome.lost && (0..self.folds.len()).any(|h| !outcome.has(h) && !self.is_own(h)) {
            let mut tasks = vec![self.train(None, None, None, self.par)?];
            outcome.certify_seconds += self.certify(&mut tasks)?;
            tasks.iter().for_each(|task| outcome.add(self, task));
        }
        Ok(outcome)
    }

    /// Whether a fold has another problem than all data: it leaves out samples here, or has other
    /// boxes.
    fn is_own(&self, h: usize) -> bool {
        !self.boxes.lack(h) && (!self.folds[h].out.is_empty() || self.boxes.differ(h))
    }

    /// Folds with problems of their own.
    fn own(&self) -> Vec<usize> {
        (0..self.folds.len()).filter(|&h| self.is_own(h)).collect()
    }

    /// Every fold from the model of all data. Folds with its boxes that leave out no support vector
    /// of it need no training: it is their solution, unless its bias depends on all samples.
    fn run_from_all_data(&self, start: Option<&[f64]>, outcome: &mut Outcome) -> Result<(), CvError> {
        let mut full = Some(self.train(None, start, None, self.par)?);
        let path = full.as_mut().map_or(Ok(None), |task| self.make_exact(task))?;
        // As many columns and a factor as large as any of the paths that begin with it.
        let _held = path.as_ref().zip(self.space.rows()).map(|(path, rows)| rows.reserve(path.bytes()));
        let mut from = full.as_ref().map(|task| self.trained(task)).expect("trained just now");
        from.path = path;
        if self.seeding == Seeding::Full
            && !self.deadline.is_over()
            && let Some((pool, _)) = &self.seeds
        {
            from.free_sums = self.free_sums(&from, pool);
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
        // The others are done already.
        self.done.fetch_add(self.folds.len() - open.len(), Ordering::Relaxed);
        loop {
            // Errors are counted after every fold, so that bits do not depend on who trains how
            // many at once.
            let rest = open.split_off(open.len().min(if self.prune.is_some() { 1 } else { BATCH }));
            let mut tasks = self.train_all(&open, Some(&from))?;
            tasks.extend(full.take());
            outcome.certify_seconds += self.certify(&mut tasks)?;
            for task in tasks {
                if task.fold.is_none() {
                    // Refinement may have moved it: who leaves is judged by the final model. Seeds
                    // keep the point whose sums they have.
                    support.fill(false);
                    let ids = self.problem.dual().ids().iter().zip(&task.solution.alpha);
                    ids.filter(|(_, alpha)| **alpha != 0.0).for_each(|(&i, _)| support[i] = true);
                    shares = counts || bias_is_middle(&task.dual, &task.solution.alpha);
                }
                outcome.add(self, &task);
            }
            // What is done anyway is not given up.
            if !rest.is_empty() && self.prune.is_some_and(|prune| self.errors(&prune, outcome) > prune.most) {
                outcome.lost = true;
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

    /// Errors in the folds that have a solution of their own, or no machine at all.
    fn errors(&self, prune: &Prune, outcome: &Outcome) -> usize {
        let solved = |h: &usize| outcome.folds[*h].as_ref().map_or(outcome.has(*h), |judged| judged.report.is_solution());
        (0..self.folds.len()).filter(solved).map(|h| (prune.wrong)(h, &outcome.decisions)).sum()
    }

    /// Folds in order, each from the one before.
    fn run_chain(&self, outcome: &mut Outcome) -> Result<(), CvError> {
        let mut from: Option<Trained> = None;
        let own = self.own();
        for (b, batch) in own.chunks(BATCH).enumerate() {
            let mut tasks: Vec<Task> = Vec::new();
            for (at, &h) in batch.iter().enumerate() {
                tasks.push(self.train(Some(h), None, from.as_ref(), self.par)?);
                let last = b * BATCH + at + 1 == own.len();
                // Nobody seeds what will not be trained.
                from = if last || self.deadline.is_over() { None } else { tasks.last().map(|task| self.trained(task)) };
            }
            outcome.certify_seconds += self.certify(&mut tasks)?;
            tasks.iter().for_each(|task| outcome.add(self, task));
        }
        Ok(())
    }

    /// Every fold from zero. Where there is a kernel, the first alone: it finds most of the rows
    /// that all need, on all threads.
    fn run_cold(&self, outcome: &mut Outcome) -> Result<(), CvError> {
        let mut rest = self.own();
        let mut tasks = Vec::new();
        if self.space.rows().is_some() && !rest.is_empty() {
            tasks.push(self.train(Some(rest.remove(0)), None, None, self.par)?);
        }
        for batch in rest.chunks(BATCH).chain(rest.is_empty().then_some(&rest[..])) {
            tasks.extend(self.train_all(batch, None)?);
            outcome.certify_seconds += self.certify(&mut tasks)?;
            tasks.drain(..).for_each(|task| outcome.add(self, &task));
        }
        Ok(())
    }

    /// Independent folds, side by side.
    fn train_all(&self, folds: &[usize], from: Option<&Trained>) -> Result<Vec<Task>, CvError> {
        // Folds side by side leave no thread to share passes with.
        let par = if folds.len() == 1 { self.par } else { Par::Seq };
        self.par.map(folds.len(), |at| self.train(Some(folds[at]), None, from, par)).into_iter().collect()
    }

    /// Where the seeding follows paths: takes the model of all data to an exact solution, which
    /// they all start from.
    fn make_exact(&self, task: &mut Task) -> Result<Option<Path<'a>>, CvError> {
        let Some((pool, rows)) = &self.seeds else { return Ok(None) };
        let wanted = self.seeding == Seeding::Dec && task.solution.status == Status::Converged;
        if !wanted {
            return Ok(None);
        }
        let go_on = || self.go_on(Stage::Full);
        let path = match exact(&task.solution.alpha, pool, rows, self.path_memory, &go_on) {
            Ok(Some(path)) => path,
            Ok(None) | Err(PathError::Interrupted) => return Ok(None),
            Err(source) => return Err(CvError::Path { seeding: self.seeding, source }),
        };
        let solution = path.solution();
        task.solution = Solution { work: task.solution.work, ..solution };
        Ok(Some(path))
    }

    /// The solution of a task over all rows. Sums of hidden rows come from their own kernel rows;
    /// without seeds nobody asks for sums.
    fn trained(&self, task: &Task) -> Trained<'a> {
        let n = self.space.len();
        let hidden = self.hidden_in(task.fold);
        let (alpha, gradient) = (&task.solution.alpha, &task.solution.gradient);
        let mut beta = vec![0.0; n];
        let dual = &task.dual;
        dual.ids().iter().enumerate().for_each(|(k, &i)| beta[i] += dual.sign()[k] * alpha[k]);
        let mut sums = Vec::new();
        // Those of the solver: it has run.
        let rows = self.seeds.as_ref().map(|(_, rows)| SeedRows::of(rows));
        if let Some(rows) = rows {
            let mut unseen = vec![true; rows.count()];
            sums.resize(rows.count(), 0.0);
            let takes_part = (0..dual.len()).filter(|&k| !gradient[k].is_nan());
            for k in takes_part {
                let at = rows.place(dual.ids()[k]);
                (sums[at], unseen[at]) = (sum_of(dual, k, alpha[k], gradient[k]), false);
            }
            // Once time is over nobody starts from it.
            let hidden: Vec<usize> = hidden.iter().copied().filter(|&t| std::mem::take(&mut unseen[rows.place(t)])).collect();
            let together = rows.together(&beta);
            for chunk in hidden.chunks(64).take_while(|_| !self.deadline.is_over()) {
                rows.fetch(chunk);
                chunk.iter().for_each(|&t| sums[rows.place(t)] = rows.row(t).entries().dot(&together));
            }
        }
        Trained { dual: dual.clone(), beta, sums, rows, bias: task.solution.bias, hidden, free_sums: None, path: None }
    }

    /// `Σ_j K_ij` over the free rows; nothing where time was over before.
    fn free_sums(&self, from: &Trained, pool: &RowBoxes) -> Option<Vec<f64>> {
        let rows = from.rows?;
        let free: Vec<usize> = (0..from.beta.len()).filter(|&i| pool.is_free(i, from.beta[i])).collect();
        let dual = self.problem.dual();
        if rows.are_passed_by(dual, rows.joined(dual).as_ref()) {
            let mut go_on = || self.go_on(Stage::Full);
            return rows.sums(&free, &vec![1.0; free.len()], &Asking::new(&mut go_on)).ok();
        }
        let mut sums = vec![0.0; rows.count()];
        for block in free.chunks(64) {
            if !self.go_on(Stage::Full) {
                return None;
            }
            rows.fetch(block);
            let rows: Vec<_> = block.iter().map(|&j| rows.row(j)).collect();
            self.par.for_chunks(&mut sums, 4096, |chunk, sums| {
                let start = chunk * 4096;
                rows.iter().for_each(|row| row.entries().part(start..start + sums.len()).add_to(sums, 1.0));
            });
        }
        Some(sums)
    }
}
