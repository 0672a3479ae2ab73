//! Pairwise descent in `f64`: brings a point near the optimum for the active set, where no path
//! leads.

use crate::pool::Pool;
use crate::update::PathError;
use crate::walk::state::{Place, State};

impl State {
    /// Runs sequential minimal optimisation with second-order selection (Fan, Chen and Lin 2005) on
    /// exact columns, from the present coefficients and residuals. It ends at a violation of `tol`
    /// or after `limit` pairs.
    ///
    /// The margin must be empty before; the sets are wrong afterwards.
    pub(crate) fn descend(&mut self, pool: Pool, tol: f64, limit: usize) -> Result<(), PathError> {
        let n = self.slots();
        let member = |s: usize| self.place[s] != Place::Vacant;
        let diagonal: Vec<f64> =
            (0..n).map(|s| if member(s) { pool.gram.diagonal()[self.seats.id[s]] + self.columns.ridge() } else { 0.0 }).collect();
        let (low, high): (Vec<f64>, Vec<f64>) =
            (0..n).map(|s| if member(s) { (self.far[s].min(0.0), self.far[s].max(0.0)) } else { (0.0, 0.0) }).unzip();
        for _ in 0..limit {
            let mut rising = (f64::INFINITY, None);
            let mut highest = f64::NEG_INFINITY;
            for (s, ((&r, &b), (&l, &h))) in self.residual.iter().zip(&self.beta).zip(low.iter().zip(&high)).enumerate() {
                if b < h && r < rising.0 {
                    rising = (r, Some(s));
                }
                if b > l {
                    highest = highest.max(r);
                }
            }
            let (least, Some(i)) = rising else { return Ok(()) };
            if highest - least <= tol {
                return Ok(());
            }
            pool.control.check(8 * n as u64)?;
            let column = self.column(pool, i)?;
            let curvature = |j: usize| (diagonal[i] + diagonal[j] - 2.0 * column[j]).max(1e-12 * (diagonal[i] + diagonal[j]));
            let mut falling = (0.0, None);
            for (j, ((r, b), l)) in self.residual.iter().zip(&self.beta).zip(&low).enumerate() {
                let gap = r - least;
                if b > l && gap > 0.0 {
                    let gain = gap * gap / curvature(j);
                    if gain > falling.0 {
                        falling = (gain, Some(j));
                    }
                }
            }
            let (_, Some(j)) = falling else { return Ok(()) };
            let (up, down) = (high[i] - self.beta[i], self.beta[j] - low[j]);
            let step = ((self.residual[j] - least) / curvature(j)).min(up).min(down);
            let other = self.column(pool, j)?;
            self.beta[i] = if step == up { high[i] } else { self.beta[i] + step };
            self.beta[j] = if step == down { low[j] } else { self.beta[j] - step };
            for ((r, a), b) in self.residual.iter_mut().zip(column.iter()).zip(other.iter()) {
                *r += step * (a - b);
            }
        }
        Ok(())
    }
}
