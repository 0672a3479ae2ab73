//! A path without its Gram matrix: labels, state and configuration. Requests are checked and
//! carried out here.

use crate::pool::Pool;
use crate::update::{Added, Mode, PathConfig, PathError, Saved, Update, check_ids};
use crate::walk::follow::Walk;
use crate::walk::state::{Place, State, StepCounts};
use maxmargin_core::{
    Certificate, Dual, EqualityConstraint, GapScreening, Solution, Status, Work, certify_gradient, exact_gradient, gap_screening,
};
use maxmargin_data::Par;
use maxmargin_kernel::Gram;
use std::sync::Arc;

/// A model and its path. All methods must get the same matrix, or one that has grown.
#[derive(Clone, Debug)]
pub(crate) struct Model {
    pub(crate) labels: Arc<Vec<f64>>,
    pub(crate) state: State,
    pub(crate) config: PathConfig,
    /// The violation at the end of the last call.
    kkt: f64,
    /// The error that ended the last call early: the model is then between two solutions.
    broken: Option<PathError>,
}

/// One motion along a path.
#[derive(Clone, Copy, Debug, Default)]
struct Request<'a> {
    add: &'a [Added],
    remove: &'a [usize],
    bounds: &'a [(usize, f64)],
}

impl Model {
    pub(crate) fn new(gram: &dyn Gram, labels: Vec<f64>, config: PathConfig) -> Result<Self, PathError> {
        if labels.len() != gram.len() {
            return Err(PathError::Length { what: "labels", found: labels.len(), expected: gram.len() });
        }
        if let Some((id, &value)) = labels.iter().enumerate().find(|(_, y)| y.abs() != 1.0) {
            return Err(PathError::Label { id, value });
        }
        if let Some((id, &value)) = gram.diagonal().iter().enumerate().find(|(_, k)| !k.is_finite()) {
            return Err(PathError::NotFinite { what: "kernel value", id, value });
        }
        let state = State::new(gram, 0.0, 0.0, config.memory);
        Ok(Self { labels: Arc::new(labels), state, config, kkt: 0.0, broken: None })
    }

    /// Renames rows of the pool: row `alive[i]` becomes row `i`; all members are among them.
    pub(crate) fn renumber(&mut self, alive: &[usize]) {
        self.labels = Arc::new(alive.iter().map(|&i| self.labels[i]).collect());
        self.state.renumber(alive);
    }

    /// Extends the model after the pool has grown by rows with these labels.
    pub(crate) fn widen(&mut self, gram: &dyn Gram, labels: &[f64]) {
        Arc::make_mut(&mut self.labels).extend_from_slice(labels);
        self.state.widen(gram);
    }

    pub(crate) fn unfinished(&self) -> bool {
        self.state.tau < 1.0
    }

    pub(crate) fn ids(&self) -> Vec<usize> {
        self.state.members().map(|s| self.state.seats.id[s]).collect()
    }

    /// Runs work that may fail half-way. A failure leaves the model unusable.
    fn attempt<T>(&mut self, work: impl FnOnce(&mut Self) -> Result<T, PathError>) -> Result<T, PathError> {
        let done = work(self);
        self.broken = done.as_ref().err().cloned();
        done
    }

    /// Replaces the members by `ids` with `alpha`, taken to an exact optimum.
    pub(crate) fn adopt(&mut self, pool: Pool, ids: &[usize], upper: &[f64], alpha: &[f64]) -> Result<Update, PathError> {
        for (what, found) in [("upper", upper.len()), ("alpha", alpha.len())] {
            if found != ids.len() {
                return Err(PathError::Length { what, found, expected: ids.len() });
            }
        }
        check_ids(ids.iter().copied(), pool.gram.len())?;
        check_upper(ids.iter().copied().zip(upper.iter().copied()))?;
        if let Some(k) = alpha.iter().position(|a| !a.is_finite()) {
            return Err(PathError::NotFinite { what: "alpha", id: ids[k], value: alpha[k] });
        }
        let computed = self.state.columns.computed;
        self.state = State::new(pool.gram, 0.0, 0.0, self.config.memory);
        self.state.columns.computed = computed;
        let entries: Vec<_> = ids.iter().zip(upper).map(|(&id, &c)| (id, self.labels[id], self.labels[id], c)).collect();
        self.attempt(|this| {
            let mut counts = StepCounts::default();
            this.state.take(pool, &entries, alpha, &mut counts)?;
            let mut update = this.seal(pool, 1.0, counts)?;
            update.columns = this.state.columns.computed - computed;
            Ok(update)
        })
    }

    /// Replaces the coefficients of all members, by ascending id, and takes them to an exact
    /// optimum.
    pub(crate) fn replace(&mut self, pool: Pool, alpha: &[f64]) -> Result<Update, PathError> {
        let slots: Vec<usize> = self.state.members().collect();
        if alpha.len() != slots.len() {
            return Err(PathError::Length { what: "alpha", found: alpha.len(), expected: slots.len() });
        }
        if let Some(k) = alpha.iter().position(|a| !a.is_finite()) {
            return Err(PathError::NotFinite { what: "alpha", id: self.state.seats.id[slots[k]], value: alpha[k] });
        }
        self.attempt(|this| {
            let mut counts = StepCounts::default();
            this.state.replace(pool, &slots, alpha, &mut counts)?;
            this.seal(pool, 1.0, counts)
        })
    }

    pub(crate) fn change(&mut self, pool: Pool, add: &[Added], remove: &[usize]) -> Result<Update, PathError> {
        self.check_idle()?;
        check_ids(add.iter().map(|a| a.id).chain(remove.iter().copied()), pool.gram.len())?;
        check_upper(add.iter().map(|a| (a.id, a.upper)))?;
        if let Some(a) = add.iter().find(|a| self.state.slot(a.id).is_some()) {
            return Err(PathError::Member(a.id));
        }
        if let Some(&id) = remove.iter().find(|&&id| self.state.slot(id).is_none()) {
            return Err(PathError::NotMember(id));
        }
        let requests: Vec<Request> = match self.config.mode {
            Mode::Multiple => vec![Request { add, remove, bounds: &[] }],
            Mode::Single => {
                let adds = add.chunks(1).map(|add| Request { add, ..Request::default() });
                adds.chain(remove.chunks(1).map(|remove| Request { remove, ..Request::default() })).collect()
            }
        };
        self.run(pool, &requests)
    }

    pub(crate) fn set_c(&mut self, pool: Pool, c: f64) -> Result<Update, PathError> {
        let upper: Vec<(usize, f64)> = self.ids().into_iter().map(|id| (id, c)).collect();
        self.set_weights(pool, &upper)
    }

    pub(crate) fn scale_c(&mut self, pool: Pool, factor: f64) -> Result<Update, PathError> {
        let state = &self.state;
        let upper: Vec<(usize, f64)> = state.members().map(|s| (state.seats.id[s], state.alpha(s).1 * factor)).collect();
        self.set_weights(pool, &upper)
    }

    pub(crate) fn set_weights(&mut self, pool: Pool, upper: &[(usize, f64)]) -> Result<Update, PathError> {
        self.check_idle()?;
        check_ids(upper.iter().map(|u| u.0), pool.gram.len())?;
        check_upper(upper.iter().copied())?;
        if let Some(&(id, _)) = upper.iter().find(|u| self.state.slot(u.0).is_none()) {
            return Err(PathError::NotMember(id));
        }
        let requests: Vec<Request> = match self.config.mode {
            Mode::Multiple => vec![Request { bounds: upper, ..Request::default() }],
            Mode::Single => upper.chunks(1).map(|bounds| Request { bounds, ..Request::default() }).collect(),
        };
        self.run(pool, &requests)
    }

    /// Checks that no earlier failure left the model unusable.
    fn check_whole(&self) -> Result<(), PathError> {
        self.broken.clone().map_or(Ok(()), Err)
    }

    fn check_idle(&self) -> Result<(), PathError> {
        self.check_whole()?;
        if self.unfinished() { Err(PathError::Unfinished) } else { Ok(()) }
    }

    /// Runs the requests in order. All but the last go to their end without the closing check.
    fn run(&mut self, pool: Pool, requests: &[Request]) -> Result<Update, PathError> {
        let computed = self.state.columns.computed;
        self.attempt(|this| {
            let mut update = this.carry_out(pool, requests)?;
            update.columns = this.state.columns.computed - computed;
            Ok(update)
        })
    }

    fn carry_out(&mut self, pool: Pool, requests: &[Request]) -> Result<Update, PathError> {
        let mut counts = StepCounts::default();
        let mut idle = true;
        for (k, request) in requests.iter().enumerate() {
            if !self.state.begin(pool, &self.labels, request.add, request.remove, request.bounds, &mut counts)? {
                continue;
            }
            idle = false;
            if k + 1 == requests.len() {
                return self.walk(pool, self.config.limit, counts);
            }
            let limit = counts.breakpoints.saturating_add(self.switch());
            match self.state.follow(pool, limit, &mut counts)? {
                Walk::Arrived => self.state.arrive(),
                Walk::Limit | Walk::Stuck => {
                    self.state.jump(pool, true, &mut counts)?;
                    self.state.polish(pool, &mut counts)?;
                }
            }
        }
        // Without a margin the bias is the middle of an interval that samples with α = 0 bound as
        // well, so it may move with them.
        let settled = idle && !self.state.margin.is_empty();
        if settled { Ok(self.report(1.0, counts)) } else { self.seal(pool, 1.0, counts) }
    }

    /// Returns the number of breakpoints after which the path is left and the active set solves for
    /// its end. No path that makes progress has needed more.
    fn switch(&self) -> usize {
        4 * self.state.slots() + 1000
    }

    /// Follows the path under way to its end, to `limit`, or to the point where the active set
    /// takes over.
    fn walk(&mut self, pool: Pool, limit: Option<usize>, mut counts: StepCounts) -> Result<Update, PathError> {
        let start = counts.breakpoints;
        let stop = start.saturating_add(limit.unwrap_or(usize::MAX));
        let switch = start.saturating_add(self.switch());
        match self.state.follow(pool, stop.min(switch), &mut counts)? {
            Walk::Arrived => {
                self.state.arrive();
                self.seal(pool, 1.0, counts)
            }
            Walk::Limit if stop <= switch => {
                let mut update = self.report(self.state.tau, counts);
                update.status = Status::IterationLimit;
                update.kkt = self.state.violation();
                Ok(update)
            }
            Walk::Limit | Walk::Stuck => self.complete(pool, counts),
        }
    }

    /// Continues a path that stopped at its limit.
    pub(crate) fn resume(&mut self, pool: Pool, limit: Option<usize>) -> Result<Update, PathError> {
        self.check_whole()?;
        if !self.unfinished() {
            return Ok(self.report(1.0, StepCounts::default()));
        }
        let computed = self.state.columns.computed;
        self.attempt(|this| {
            let mut update = this.walk(pool, limit, StepCounts::default())?;
            update.columns = this.state.columns.computed - computed;
            Ok(update)
        })
    }

    /// Ends the path by the active set.
    pub(crate) fn finish(&mut self, pool: Pool) -> Result<Update, PathError> {
        self.check_whole()?;
        self.attempt(|this| this.complete(pool, StepCounts::default()))
    }

    /// Moves to a feasible point at the end of the path, near the present one.
    pub(crate) fn jump(&mut self, pool: Pool) -> Result<(), PathError> {
        self.check_whole()?;
        if self.unfinished() {
            self.attempt(|this| this.state.jump(pool, false, &mut StepCounts::default()))?;
        }
        Ok(())
    }

    /// Jumps to the end of the path and completes it by the active set.
    fn complete(&mut self, pool: Pool, mut counts: StepCounts) -> Result<Update, PathError> {
        let travelled = self.state.tau;
        if self.unfinished() {
            self.state.jump(pool, true, &mut counts)?;
        }
        self.seal(pool, travelled, counts)
    }

    /// Refines, repairs and checks the result.
    fn seal(&mut self, pool: Pool, travelled: f64, mut counts: StepCounts) -> Result<Update, PathError> {
        self.kkt = self.state.polish(pool, &mut counts)?;
        Ok(self.report(travelled, counts))
    }

    fn report(&self, travelled: f64, counts: StepCounts) -> Update {
        let tolerance = self.state.tolerance();
        Update {
            breakpoints: counts.breakpoints,
            zero_steps: counts.zero_steps,
            exchanges: counts.exchanges,
            repairs: counts.repairs,
            travelled,
            status: if self.kkt <= tolerance { Status::Converged } else { Status::Stalled },
            kkt: self.kkt,
            tolerance,
            margin: self.state.margin.len(),
            bounded: self.state.place.iter().filter(|p| **p == Place::Upper).count(),
            columns: 0,
            bytes: self.state.columns.peak(),
        }
    }

    pub(crate) fn dual(&self) -> Option<Dual> {
        let state = &self.state;
        let ids = self.ids();
        let sign = state.members().map(|s| state.sign[s]).collect();
        let upper = state.members().map(|s| state.alpha(s).1).collect();
        let linear_term = vec![-1.0; ids.len()];
        Dual::new(ids, sign, linear_term, upper, 0.0, EqualityConstraint::Sum(0.0)).ok()
    }

    pub(crate) fn solution(&self) -> Solution {
        let status = if self.broken.is_some() {
            Status::Interrupted
        } else if self.unfinished() {
            Status::IterationLimit
        } else if self.kkt <= self.state.tolerance() {
            Status::Converged
        } else {
            Status::Stalled
        };
        self.state.solution(status, Work::default())
    }

    pub(crate) fn save(&self) -> Saved {
        let state = &self.state;
        let (alpha, upper) = state.members().map(|s| state.alpha(s)).unzip();
        Saved { ids: self.ids(), upper, alpha, bias: state.bias }
    }

    /// Returns the certificate from fresh kernel values, and the labels that its gap fixes at every
    /// optimum.
    pub(crate) fn certify(&self, pool: Pool, par: Par) -> Option<(Certificate, Option<GapScreening>)> {
        let dual = self.dual()?;
        let Solution { alpha, bias, .. } = self.solution();
        let gradient = exact_gradient(&dual, pool.gram, &alpha, par, pool.control).ok()?;
        Some((certify_gradient(&dual, pool.gram, &alpha, bias, &gradient), gap_screening(&dual, pool.gram, &alpha, &gradient)))
    }
}

fn check_upper(mut upper: impl Iterator<Item = (usize, f64)>) -> Result<(), PathError> {
    upper.find(|(_, c)| !(c.is_finite() && *c >= 0.0)).map_or(Ok(()), |(id, value)| Err(PathError::Upper { id, value }))
}
