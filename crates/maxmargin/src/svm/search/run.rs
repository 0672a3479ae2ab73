//! A search from its first stage to its last.

use super::super::Svm;
use super::super::chosen::{best, better, width};
use super::super::grid::{Asked, SearchHooks};
use super::super::ranges::{Cell, CellScore, SearchResult};
use super::{Search, choose};
use maxmargin_core::{Goal, Status};
use maxmargin_cv::{CvError, CvReport, FoldPlan};
use maxmargin_data::Dataset;
use maxmargin_kernel::{Gamma, gamma_scale};
use maxmargin_metrics::{Best, Metric};
use std::time::Instant;

/// Columns of each wave of a search that gives cells up; of all later ones the last. The first
/// finds what the others are held against.
const WAVES: [usize; 3] = [1, 2, 4];

/// A point: scores so far from the best may still be it.
const POINT: f64 = 0.01;

/// Of errors, which have units, a share of the best.
const SHARE: f64 = 0.05;

/// How many times more samples a rung of halving has than the one before, and how many fewer cells.
const HALVING: usize = 3;

/// Samples of the first rung, at least, in each fold.
const LEAST: usize = 30;

/// A border is passed so many times: by factors near 1 it would go on for long.
const STEPS: usize = 8;

pub(super) struct Run<'a, E> {
    pub(super) svm: &'a Svm,
    pub(super) data: &'a Dataset,
    pub(super) plan: &'a FoldPlan,
    pub(super) search: &'a Search,
    pub(super) metric: &'static Metric,
    pub(super) attended: SearchHooks<'a>,
    pub(super) each: &'a E,
    pub(super) asked: Goal,
    pub(super) loose: Goal,
    pub(super) begun: Instant,
}

impl<T> SearchResult<T> {
    fn nothing() -> Self {
        Self { cells: Vec::new(), failed: Vec::new(), wanted: 0, again: 0, descent: None }
    }

    pub(super) fn take(&mut self, other: Self) {
        self.cells.extend(other.cells);
        self.failed.extend(other.failed);
        self.wanted += other.wanted;
        self.again += other.again;
    }

    /// Whether it was ended.
    pub(super) fn is_cut(&self) -> bool {
        self.cells.len() < self.wanted || self.cells.iter().any(|cell| cell.scored.ended)
    }
}

impl<T: Send, E: Fn(&Svm, CvReport) -> T + Sync> Run<'_, E> {
    pub(super) fn found(&self) -> Result<SearchResult<T>, CvError> {
        let Search { ranges, random, halving, extend, refine, fast, gradient, .. } = self.search;
        let mut asked = match random {
            Some(count) => choose::random(ranges, self.svm, *count),
            None => choose::all(ranges, self.svm),
        };
        let mut before = SearchResult::nothing();
        if *halving {
            asked = self.halved(asked, &mut before)?;
            if before.is_cut() || asked.is_empty() {
                // What has seen no more than a part of the samples is no result.
                return Ok(SearchResult { cells: Vec::new(), ..before });
            }
        }
        let goal = if fast.is_some() { self.loose } else { self.asked };
        let mut found = self.stage(asked, goal)?;
        found.again += before.again;
        found.failed.extend(before.failed);
        for _ in 0..STEPS {
            let Some(top) = self.leader(&found).filter(|_| *extend && !found.is_cut()) else { break };
            // Where many are as good, all of them: a plateau has no side.
            let score = found.cells[top].scored.score;
            let equal = found.cells[top..].iter().filter(|cell| cell.scored.converged && cell.scored.score == score);
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
        while fast.is_some() && !found.is_cut() {
            let rivals = self.rivals(&found);
            if rivals.is_empty() {
                break;
            }
            let chosen: Vec<Asked> = choose::columns_of(rivals.iter().map(|&at| &found.cells[at]));
            let exact = self.stage(chosen, self.asked)?;
            let reached = exact.cells.len();
            // What was not reached stays as it was.
            for cell in exact.cells {
                let same = |known: &Cell<T>| !known.scored.exact && place(known) == place(&cell);
                match found.cells.iter().position(same) {
                    Some(at) => {
                        found.again += found.cells[at].scored.iterations;
                        found.cells[at] = cell;
                    }
                    None => found.cells.push(cell),
                }
            }
            let left = exact.failed.len();
            found.failed.extend(exact.failed);
            if reached < exact.wanted || left > 0 {
                found.wanted += exact.wanted - reached;
                break;
            }
        }
        if !self.search.is_full() {
            self.sort(&mut found.cells);
        }
        if *gradient && !found.is_cut() {
            self.descended(&mut found)?;
        }
        Ok(found)
    }

    /// Solves columns to a goal: at once, or in waves where cells may be given up.
    pub(super) fn stage(&self, asked: Vec<Asked>, goal: Goal) -> Result<SearchResult<T>, CvError> {
        let asked: Vec<Asked> = asked.into_iter().map(|asked| Asked { svm: asked.svm.goal(goal), ..asked }).collect();
        if !self.search.prune {
            return self.columns((self.data, self.plan), asked, None);
        }
        let mut left = self.promising(asked);
        let (mut found, mut waves) = (SearchResult::nothing(), WAVES.iter());
        let mut size = WAVES[WAVES.len() - 1];
        while !left.is_empty() && !found.is_cut() {
            size = waves.next().copied().unwrap_or(size);
            let wave: Vec<Asked> = left.drain(..size.min(left.len())).collect();
            found.take(self.columns((self.data, self.plan), wave, Some(self.most_errors(&found, goal)))?);
        }
        // Waves that were not begun are missing.
        found.wanted += left.iter().map(|asked| asked.values.len()).sum::<usize>();
        Ok(found)
    }

    fn columns(&self, on: (&Dataset, &FoldPlan), mut asked: Vec<Asked>, most: Option<usize>) -> Result<SearchResult<T>, CvError> {
        // The limit is for all stages together.
        let left = self.svm.max_time.map(|most| most.saturating_sub(self.begun.elapsed()));
        asked.iter_mut().for_each(|asked| asked.svm.max_time = left);
        let score = |svm: &Svm, report: &CvReport| self.scored(svm, report);
        let mut found = self.svm.stage(on, asked, (self.attended, most), &score, self.each)?;
        found.cells.iter_mut().for_each(|cell| cell.svm.max_time = self.svm.max_time);
        Ok(found)
    }

    /// Errors with which a cell can still win; of loose cells those with which it can still be a
    /// rival.
    fn most_errors(&self, found: &SearchResult<T>, goal: Goal) -> usize {
        let samples = self.data.labels.len();
        let whole = found.cells.iter().filter(|cell| cell.scored.converged && cell.scored.lost.is_none());
        let fewest = whole.filter_map(|cell| cell.scored.errors).min();
        let slack = if goal == self.asked { 0 } else { (self.points() * POINT * samples as f64).ceil() as usize };
        fewest.map_or(samples, |fewest| fewest + slack)
    }

    /// Columns whose width is nearest to what is usual first.
    fn promising(&self, mut asked: Vec<Asked>) -> Vec<Asked> {
        let usual = gamma_scale(&self.data.samples);
        let far = |asked: &Asked| match asked.svm.gamma {
            Some(Gamma::Value(gamma)) if usual > 0.0 => (gamma / usual).ln().abs(),
            _ => 0.0,
        };
        asked.sort_by(|a, b| far(a).total_cmp(&far(b)));
        asked
    }

    fn scored(&self, svm: &Svm, report: &CvReport) -> CellScore {
        let own = self.metric.name();
        let score = report.scores.iter().find(|(name, _)| *name == own).map(|score| score.1);
        // One that was given up has neither.
        let spread = report.spread.iter().find(|(name, _)| *name == own).map(|spread| spread.1);
        let status = report.status();
        CellScore {
            score: score.filter(|score| !score.is_nan()),
            standard_error: spread.and_then(|spread| spread.standard_error()),
            converged: status == Status::Converged,
            ended: status.ended_early(),
            exact: svm.resolved_goal() == self.asked,
            lost: report.pruned,
            errors: report.accuracy.map(|_| report.samples_counted - report.correct),
            iterations: report.total_iterations,
        }
    }

    /// The best cell that there is; of a fast search by its loose goal.
    pub(super) fn leader(&self, found: &SearchResult<T>) -> Option<usize> {
        best(&found.cells, self.metric).or_else(|| {
            let known = found.cells.iter().enumerate().filter(|(_, cell)| cell.scored.converged);
            let known = known.filter_map(|(at, cell)| Some((at, cell.scored.score?)));
            known.reduce(|best, next| if better(self.metric, next.1, best.1) { next } else { best }).map(|best| best.0)
        })
    }

    /// How far from the best rivals are.
    fn points(&self) -> f64 {
        self.search.fast.unwrap_or(0.0)
    }

    /// Loose cells within that of the best exact one, or of the best where none is exact.
    fn rivals(&self, found: &SearchResult<T>) -> Vec<usize> {
        let Some(top) = self.leader(found).and_then(|at| found.cells[at].scored.score) else { return Vec::new() };
        let bound = match self.metric.best() {
            Best::Highest => top - self.points() * POINT,
            Best::Lowest => top + self.points() * SHARE * top.abs(),
        };
        let near = |cell: &Cell<T>| cell.scored.score.is_some_and(|score| !better(self.metric, bound, score));
        (0..found.cells.len()).filter(|&at| !found.cells[at].scored.exact && near(&found.cells[at])).collect()
    }

    /// The columns that are left for all samples; what the rungs before took is added to `before`.
    fn halved(&self, mut asked: Vec<Asked>, before: &mut SearchResult<T>) -> Result<Vec<Asked>, CvError> {
        let mut cells: usize = asked.iter().map(|asked| asked.values.len()).sum();
        let order = choose::nested(self.data, self.plan, self.svm.seed);
        let (mut rungs, mut rows) = (0, order.len() / HALVING);
        while rows >= LEAST * self.plan.folds() && cells > HALVING {
            (rungs, rows, cells) = (rungs + 1, rows / HALVING, cells.div_ceil(HALVING));
        }
        for rung in (1..=rungs).rev() {
            let mut rows = order[..order.len() / HALVING.pow(rung)].to_vec();
            rows.sort_unstable();
            let data = self.data.select(&rows);
            let plan = self.plan.among(&rows)?;
            let part =
                |asked: Asked| Asked { svm: asked.svm.among(&self.data.labels, &rows).goal(self.loose), values: asked.values };
            let mut found = self.columns((&data, &plan), asked.into_iter().map(part).collect(), None)?;
            before.again += found.cells.iter().map(|cell| cell.scored.iterations).sum::<u64>();
            before.failed.append(&mut found.failed);
            if found.is_cut() {
                before.wanted = found.wanted;
                return Ok(Vec::new());
            }
            let keep = found.cells.len().div_ceil(HALVING);
            let key = |cell: &Cell<T>| {
                let sign = if self.metric.best() == Best::Highest { -1.0 } else { 1.0 };
                cell.scored.score.map_or(f64::INFINITY, |score| sign * score)
            };
            // Of equals the first: sorting is stable.
            found.cells.sort_by(|a, b| key(a).total_cmp(&key(b)));
            found.cells.truncate(keep);
            self.sort(&mut found.cells);
            let whole = |asked: Asked| Asked { svm: asked.svm.with_weights_of(self.svm), values: asked.values };
            asked = choose::columns_of(found.cells.iter()).into_iter().map(whole).collect();
        }
        Ok(asked)
    }

    /// By kernel, γ, ε or ν, and C.
    pub(super) fn sort(&self, cells: &mut [Cell<T>]) {
        let kernels: Vec<_> = self.search.ranges.columns(self.svm);
        let kernel = |cell: &Cell<T>| {
            let own = cell.svm.kernel.clone().with_gamma(1.0);
            kernels.iter().position(|column| column.kernel.clone().with_gamma(1.0) == own)
        };
        let other = |cell: &Cell<T>| {
            let own = cell.svm.formulation.with_c(1.0);
            kernels.iter().position(|column| column.formulation.with_c(1.0) == own)
        };
        let c = |cell: &Cell<T>| cell.svm.formulation().c().unwrap_or(0.0);
        cells.sort_by(|a, b| {
            let first = kernel(a).cmp(&kernel(b)).then(width(a).total_cmp(&width(b)));
            first.then(other(a).cmp(&other(b))).then(c(a).total_cmp(&c(b)))
        });
    }
}

/// What tells cells apart, whatever their goal.
pub(super) fn place<T>(cell: &Cell<T>) -> String {
    format!("{:?} {:?} {:?} {:?}", cell.svm.kernel_given(), cell.svm.gamma, cell.svm.formulation(), cell.svm.feature_weights)
}
