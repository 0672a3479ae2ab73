//! Our SMO as a competitor of the path, from the previous solution or from zero.

use super::plan::{Change, members};
use super::pool::{Pool, UpdateResult};
use super::seed::{WarmStart, start};
use crate::failure::Failure;
use maxmargin::core::{Certificate, Start, Status, Stop, certify};
use maxmargin::data::RunControl;
use maxmargin::kernel::Rows;
use maxmargin::smo::{SmoConfig, solve};
use std::time::Instant;

/// A model and its kernel rows.
pub(crate) struct Smo<'g> {
    pool: Pool<'g>,
    rows: Rows<'g>,
    before: WarmStart,
    seeded: bool,
    stop: Stop,
}

impl<'g> Smo<'g> {
    pub(crate) fn new(pool: Pool<'g>, before: WarmStart, seeded: bool, stop: Stop) -> Self {
        Self { rows: Rows::new(pool.gram, pool.budget, pool.par), pool, before, seeded, stop }
    }

    /// Makes an update and certifies it. The time covers the problem, the start, the solver and the
    /// exact gradient at its end. The rows of the previous window are in memory before: an update
    /// does not compute the model's kernel again. The rows of added samples are not.
    pub(crate) fn update(&mut self, change: &Change) -> Result<(UpdateResult, Certificate), Failure> {
        self.rows.fetch(&self.before.ids, &RunControl::unlimited()).expect("unlimited");
        let computed = self.rows.work().computed;

        let begun = Instant::now();
        let dual = self.pool.dual(members(&self.before.ids, change))?;
        let start = if self.seeded { start(&dual, &self.rows, &self.before)? } else { Start::zero(&dual)? };
        let config = SmoConfig { conjugate: !self.pool.cell.pairs_alone, par: self.pool.par, ..SmoConfig::default() };
        let solution = solve(&dual, &self.rows, start, &config, &self.stop, &RunControl::unlimited())?;
        let seconds = begun.elapsed().as_secs_f64();

        let certificate = certify(&dual, self.pool.gram, &solution, self.pool.par);
        let done = UpdateResult {
            iterations: Some(solution.work.iterations),
            columns: self.rows.work().computed - computed,
            status: (solution.status != Status::Converged).then(|| format!("{:?}", solution.status)),
            ..UpdateResult::new(seconds, &solution.alpha, self.pool.cell.setting.c)
        };
        let beta = dual.sign().iter().zip(&solution.alpha).map(|(y, a)| y * a).collect();
        self.before = WarmStart { ids: dual.ids().to_vec(), beta, gradient: solution.gradient };
        Ok((done, certificate))
    }
}
