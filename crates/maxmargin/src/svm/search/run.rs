//! The stages of a search, from the first to the last.

use super::cell::{Cell, CellScore};
use super::choose;
use super::hooks::SearchHooks;
use super::options::Search;
use super::result::SearchResult;
use super::select::{best, width};
use super::stage::{SearchColumn, Stage};
use crate::Svm;
use crate::svm::TrainingInput;
use maxmargin_core::{Goal, Status};
use maxmargin_cv::{CvError, CvReport, FoldPlan};
use maxmargin_kernel::{Gamma, gamma_scale};
use maxmargin_metrics::{Best, Metric};
use std::time::Instant;

/// The number of columns in each wave of a search with pruning; the last number is repeated. The
/// first wave finds the score that the others are compared with.
const WAVES: [usize; 3] = [1, 2, 4];

/// One point of a score without units.
const POINT: f64 = 0.01;

/// One point of an error with units, as a share of the best.
const SHARE: f64 = 0.05;

/// The factor between rungs of successive halving: more samples and fewer cells.
const HALVING: usize = 3;

/// The least number of samples in each fold of the first rung.
const LEAST: usize = 30;

/// The greatest number of extensions of a range, which bounds the work for factors near 1.
const STEPS: usize = 8;

pub(super) struct Run<'a, E> {
    pub(super) svm: &'a Svm,
    pub(super) input: TrainingInput<'a>,
    pub(super) plan: &'a FoldPlan,
    pub(super) search: &'a Search,
    pub(super) metric: &'static Metric,
    pub(super) hooks: SearchHooks<'a>,
    pub(super) each: &'a E,
    pub(super) asked: Goal,
    pub(super) loose: Goal,
    pub(super) begun: Instant,
}

impl<T: Send, E: Fn(&Svm, CvReport) -> T + Sync> Run<'_, E> {
    pub(super) fn execute(&self) -> Result<SearchResult<T>, CvError> {
        let Search { ranges, random, halving, extend, refine, fast, gradient, .. } = self.search;
        let mut asked = match random {
            Some(count) => choose::random(ranges, self.svm, *count),
            None => choose::all(ranges, self.svm),
        };
        let mut before = SearchResult::nothing();
        if *halving {
            asked = self.halve(asked, &mut before)?;
            if before.is_cut() || asked.is_empty() {
                // Scores on a part of the samples are not results.
                return Ok(SearchResult { cells: Vec::new(), ..before });
            }
        }
        let goal = if fast.is_some() { self.loose } else { self.asked };
        let mut found = self.stage(asked, goal)?;
        found.repeated_iterations += before.repeated_iterations;
        found.failed.extend(before.failed);
        for _ in 0..STEPS {
            let Some(top) = self.leader(&found).filter(|_| *extend && !found.is_cut()) else { break };
            // All cells with the best score count, because a plateau can reach an end with any of
            // them.
            let score = found.cells[top].score.value;
            let equal = found.cells[top..].iter().filter(|cell| cell.score.converged && cell.score.value == score);
            let more = choose::extended(&found.cells, &equal.collect::<Vec<_>>(), ranges);
            if more.is_empty() {
                break;
            }
            found.take(self.stage(more, goal)?);
        }
        if let Some(top) = self.leader(&found).filter(|_| *refine && !found.is_cut()) {
            let more = choose::refined(&found.cells, &found.cells[top]);
            if !more.is_empty() {
                found.take(self.stage(more, goal)?);
            }
        }
        self.solve_rivals(&mut found)?;
        if !self.search.is_full() {
            self.sort(&mut found.cells);
        }
        if *gradient && !found.is_cut() {
            self.descend(&mut found)?;
        }
        Ok(found)
    }

    /// Solves the best cell of a fast search and its rivals to the requested goal.
    fn solve_rivals(&self, found: &mut SearchResult<T>) -> Result<(), CvError> {
        while self.search.fast.is_some() && !found.is_cut() {
            let rivals = self.rivals(found);
            if rivals.is_empty() {
                break;
            }
            let chosen: Vec<SearchColumn> = choose::columns_of(rivals.iter().map(|&at| &found.cells[at]));
            let exact = self.stage(chosen, self.asked)?;
            let reached = exact.cells.len();
            // Cells that were not reached keep their loose results.
            for cell in exact.cells {
                let same = |known: &Cell<T>| !known.score.exact && known.identity() == cell.identity();
                match found.cells.iter().position(same) {
                    Some(at) => {
                        found.repeated_iterations += found.cells[at].score.iterations;
                        found.cells[at] = cell;
                    }
                    None => found.cells.push(cell),
                }
            }
            let left = exact.failed.len();
            found.failed.extend(exact.failed);
            if reached < exact.planned || left > 0 {
                found.planned += exact.planned - reached;
                break;
            }
        }
        Ok(())
    }

    /// Solves columns to a goal, all at once, or in waves if cells can be pruned.
    pub(super) fn stage(&self, asked: Vec<SearchColumn>, goal: Goal) -> Result<SearchResult<T>, CvError> {
        let asked: Vec<SearchColumn> = asked.into_iter().map(|asked| self.aimed(asked, goal)).collect();
        if !self.search.prune {
            return self.columns(self.input, self.plan, asked, None);
        }
        let mut left = self.promising(asked);
        let (mut found, mut waves) = (SearchResult::nothing(), WAVES.iter());
        let mut size = WAVES[WAVES.len() - 1];
        while !left.is_empty() && !found.is_cut() {
            size = waves.next().copied().unwrap_or(size);
            let wave: Vec<SearchColumn> = left.drain(..size.min(left.len())).collect();
            found.take(self.columns(self.input, self.plan, wave, Some(self.most_errors(&found, goal)))?);
        }
        // The cells of waves that did not start count as planned.
        found.planned += left.iter().map(|asked| asked.values.len()).sum::<usize>();
        Ok(found)
    }

    /// The column with a goal. The loose one is a gap, which kernels that are not known to be
    /// positive semidefinite do not have.
    fn aimed(&self, asked: SearchColumn, goal: Goal) -> SearchColumn {
        let goal = if asked.svm.kernel_given().is_semidefinite() { goal } else { self.asked };
        SearchColumn { svm: asked.svm.goal(goal), ..asked }
    }

    fn columns(
        &self,
        input: TrainingInput,
        plan: &FoldPlan,
        mut asked: Vec<SearchColumn>,
        most_errors: Option<usize>,
    ) -> Result<SearchResult<T>, CvError> {
        // The time limit is for all stages together.
        let left = self.svm.options.max_time.map(|most| most.saturating_sub(self.begun.elapsed()));
        asked.iter_mut().for_each(|asked| asked.svm.options.max_time = left);
        let score_of = |svm: &Svm, report: &CvReport| self.score_of(svm, report);
        let stage = Stage { input, plan, hooks: self.hooks, most_errors };
        let mut found = self.svm.stage(&stage, asked, &score_of, self.each)?;
        found.cells.iter_mut().for_each(|cell| cell.svm.options.max_time = self.svm.options.max_time);
        Ok(found)
    }

    /// Returns the greatest number of errors with which a cell can still be the best, or, with the
    /// loose goal, a rival of the best.
    fn most_errors(&self, found: &SearchResult<T>, goal: Goal) -> usize {
        let samples = self.input.data.labels.len();
        let whole = found.cells.iter().filter(|cell| cell.score.converged && cell.score.pruned.is_none());
        let fewest = whole.filter_map(|cell| cell.score.errors).min();
        let slack = if goal == self.asked { 0 } else { (self.points() * POINT * samples as f64).ceil() as usize };
        fewest.map_or(samples, |fewest| fewest + slack)
    }

    /// Sorts columns by the distance of their width from the usual one.
    fn promising(&self, mut asked: Vec<SearchColumn>) -> Vec<SearchColumn> {
        let usual = gamma_scale(&self.input.data.samples);
        let far = |asked: &SearchColumn| match asked.svm.options.gamma {
            Some(Gamma::Value(gamma)) if usual > 0.0 => (gamma / usual).ln().abs(),
            _ => 0.0,
        };
        asked.sort_by(|a, b| far(a).total_cmp(&far(b)));
        asked
    }

    fn score_of(&self, svm: &Svm, report: &CvReport) -> CellScore {
        let own = self.metric.name();
        let score = report.scores.iter().find(|(name, _)| *name == own).map(|score| score.1);
        // A pruned cell has neither a score nor a standard error.
        let spread = report.spread.iter().find(|(name, _)| *name == own).map(|spread| spread.1);
        let status = report.status();
        CellScore {
            value: score.filter(|score| !score.is_nan()),
            standard_error: spread.and_then(|spread| spread.standard_error()),
            converged: status == Status::Converged,
            ended: status.ended_early(),
            exact: svm.resolved_goal() == self.asked,
            pruned: report.pruned,
            errors: report.accuracy.map(|_| report.samples_counted - report.correct),
            iterations: report.total_iterations,
        }
    }

    /// Returns the best cell, also among loosely solved cells if there is no candidate.
    pub(super) fn leader(&self, found: &SearchResult<T>) -> Option<usize> {
        best(&found.cells, self.metric).or_else(|| {
            let known = found.cells.iter().enumerate().filter(|(_, cell)| cell.score.converged);
            let known = known.filter_map(|(at, cell)| Some((at, cell.score.value?)));
            known.reduce(|best, next| if self.metric.is_better(next.1, best.1) { next } else { best }).map(|best| best.0)
        })
    }

    /// Returns the distance of rivals from the best, in points.
    fn points(&self) -> f64 {
        self.search.fast.unwrap_or(0.0)
    }

    /// Returns the loosely solved cells within that distance of the leader.
    fn rivals(&self, found: &SearchResult<T>) -> Vec<usize> {
        let Some(top) = self.leader(found).and_then(|at| found.cells[at].score.value) else { return Vec::new() };
        let bound = match self.metric.best() {
            Best::Highest => top - self.points() * POINT,
            Best::Lowest => top + self.points() * SHARE * top.abs(),
        };
        let near = |cell: &Cell<T>| cell.score.value.is_some_and(|score| !self.metric.is_better(bound, score));
        (0..found.cells.len()).filter(|&at| !found.cells[at].score.exact && near(&found.cells[at])).collect()
    }

    /// Runs all rungs of successive halving but the last, and returns the remaining columns. The
    /// work of the rungs is added to `before`.
    fn halve(&self, mut asked: Vec<SearchColumn>, before: &mut SearchResult<T>) -> Result<Vec<SearchColumn>, CvError> {
        let mut cells: usize = asked.iter().map(|asked| asked.values.len()).sum();
        let order = choose::nested(self.input.data, self.plan, self.svm.options.seed);
        let (mut rungs, mut rows) = (0, order.len() / HALVING);
        while rows >= LEAST * self.plan.folds() && cells > HALVING {
            (rungs, rows, cells) = (rungs + 1, rows / HALVING, cells.div_ceil(HALVING));
        }
        for rung in (1..=rungs).rev() {
            let mut rows = order[..order.len() / HALVING.pow(rung)].to_vec();
            rows.sort_unstable();
            let data = self.input.data.select(&rows);
            let plan = self.plan.among(&rows)?;
            let part = |asked: SearchColumn| {
                let svm = asked.svm.among(&self.input.data.labels, &rows);
                self.aimed(SearchColumn { svm, ..asked }, self.loose)
            };
            let mut found = self.columns((&data).into(), &plan, asked.into_iter().map(part).collect(), None)?;
            before.repeated_iterations += found.cells.iter().map(|cell| cell.score.iterations).sum::<u64>();
            before.failed.append(&mut found.failed);
            if found.is_cut() {
                before.planned = found.planned;
                return Ok(Vec::new());
            }
            let keep = found.cells.len().div_ceil(HALVING);
            let key = |cell: &Cell<T>| {
                let sign = if self.metric.best() == Best::Highest { -1.0 } else { 1.0 };
                cell.score.value.map_or(f64::INFINITY, |score| sign * score)
            };
            // A stable sort keeps the first of equals.
            found.cells.sort_by(|a, b| key(a).total_cmp(&key(b)));
            found.cells.truncate(keep);
            self.sort(&mut found.cells);
            let whole = |asked: SearchColumn| SearchColumn { svm: asked.svm.with_weights_of(self.svm), values: asked.values };
            asked = choose::columns_of(found.cells.iter()).into_iter().map(whole).collect();
        }
        Ok(asked)
    }

    /// Sorts cells by kernel, γ, ε or ν, and C.
    pub(super) fn sort(&self, cells: &mut [Cell<T>]) {
        let kernels: Vec<_> = self.search.ranges.columns(self.svm);
        let kernel = |cell: &Cell<T>| {
            let own = cell.svm.options.kernel.clone().with_gamma(1.0);
            kernels.iter().position(|column| column.options.kernel.clone().with_gamma(1.0) == own)
        };
        let other = |cell: &Cell<T>| {
            let own = cell.svm.options.formulation.with_c(1.0);
            kernels.iter().position(|column| column.options.formulation.with_c(1.0) == own)
        };
        let c = |cell: &Cell<T>| cell.svm.formulation().c().unwrap_or(0.0);
        cells.sort_by(|a, b| {
            let first = kernel(a).cmp(&kernel(b)).then(width(a).total_cmp(&width(b)));
            first.then(other(a).cmp(&other(b))).then(c(a).total_cmp(&c(b)))
        });
    }
}
