//! Feasible starting points, with or without their gradient.

use crate::problem::dual::{Dual, EqualityConstraint};

/// A feasible point of a [`Dual`], with its gradient if the caller has it.
#[derive(Clone, Debug, PartialEq)]
pub struct Start {
    alpha: Vec<f64>,
    gradient: Option<Vec<f64>>,
}

/// The reason why a point cannot be a start.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum StartError {
    /// Not one α per variable.
    #[error("{found} values for {expected} variables")]
    Length {
        /// The number of values.
        found: usize,
        /// The number of variables.
        expected: usize,
    },
    /// α outside its box.
    #[error("alpha of variable {variable} is {value}, outside 0…{upper}")]
    Box {
        /// Position of the variable.
        variable: usize,
        /// Its value.
        value: f64,
        /// Its upper bound.
        upper: f64,
    },
    /// The equality constraint does not hold.
    #[error("the balance is {found}, it must be {expected}")]
    EqualityConstraint {
        /// The value of `Σ s_k α_k`.
        found: f64,
        /// The value that the problem requires.
        expected: f64,
    },
    /// No point satisfies the box and the equality constraint.
    #[error("no feasible point: the balance {wanted} cannot be reached within the box")]
    Infeasible {
        /// The value that the problem requires.
        wanted: f64,
    },
}

impl Start {
    /// Returns `α = 0`, whose gradient is the linear term. It is feasible if the sums are 0 or
    /// free.
    ///
    /// # Errors
    ///
    /// [`StartError::EqualityConstraint`] when the constraint excludes 0.
    pub fn zero(dual: &Dual) -> Result<Self, StartError> {
        let start = Self::checked(dual, vec![0.0; dual.len()])?;
        Ok(start.with_gradient(dual.linear_term().to_vec()))
    }

    /// Returns the start of a training without prior solutions. It is 0 where that is feasible;
    /// otherwise the first variables are at their bounds until the sums are reached (LIBSVM's
    /// start).
    ///
    /// # Errors
    ///
    /// [`StartError::Infeasible`] when the boxes cannot reach the sums.
    pub fn cold(dual: &Dual) -> Result<Self, StartError> {
        if balances(dual, &vec![0.0; dual.len()]).iter().all(|(found, wanted)| found == wanted) {
            return Self::zero(dual);
        }
        let mut alpha = vec![0.0; dual.len()];
        let mut fill = |wanted: f64, takes: &dyn Fn(f64) -> bool| {
            let mut left = wanted;
            for k in (0..dual.len()).filter(|&k| takes(dual.sign()[k])) {
                alpha[k] = left.min(dual.upper()[k]);
                left -= alpha[k];
            }
            if left > 1e-12 * wanted { Err(StartError::Infeasible { wanted }) } else { Ok(()) }
        };
        match dual.balance() {
            EqualityConstraint::Free => {}
            EqualityConstraint::Sum(wanted) => fill(wanted.abs(), &|s| s * wanted > 0.0)?,
            EqualityConstraint::Simplex => fill(1.0, &|_| true)?,
            EqualityConstraint::PerSign(plus, minus) => {
                fill(plus, &|s| s > 0.0)?;
                fill(minus, &|s| s < 0.0)?;
            }
        }
        Self::checked(dual, alpha)
    }

    /// Checks a point of the caller.
    ///
    /// # Errors
    ///
    /// When a value is outside its box. When the constraint is off by more than rounding (10⁻⁹ of
    /// the sum of all α, or of the sum that it asks for).
    pub fn checked(dual: &Dual, alpha: Vec<f64>) -> Result<Self, StartError> {
        if alpha.len() != dual.len() {
            return Err(StartError::Length { found: alpha.len(), expected: dual.len() });
        }
        let outside = alpha.iter().zip(dual.upper()).position(|(a, u)| !(a.is_finite() && (0.0..=*u).contains(a)));
        if let Some(variable) = outside {
            return Err(StartError::Box { variable, value: alpha[variable], upper: dual.upper()[variable] });
        }
        for (found, expected) in balances(dual, &alpha) {
            let scale: f64 = alpha.iter().sum::<f64>().max(expected.abs());
            if (found - expected).abs() > 1e-9 * scale {
                return Err(StartError::EqualityConstraint { found, expected });
            }
        }
        Ok(Self { alpha, gradient: None })
    }

    /// Returns a nearby feasible point. α is clipped to the box; then all `s_k α_k` inside it are
    /// shifted by one amount until a `Sum` holds (the projection of the clipped point along the
    /// constraint's normal). On the simplex the α themselves are shifted; with a sum per sign,
    /// those of each sign.
    ///
    /// # Errors
    ///
    /// When the lengths differ, or no feasible point exists.
    pub fn project(dual: &Dual, mut alpha: Vec<f64>) -> Result<Self, StartError> {
        if alpha.len() != dual.len() {
            return Err(StartError::Length { found: alpha.len(), expected: dual.len() });
        }
        for (a, u) in alpha.iter_mut().zip(dual.upper()) {
            *a = if a.is_nan() { 0.0 } else { a.clamp(0.0, *u) };
        }
        match dual.balance() {
            EqualityConstraint::Sum(wanted) => shift_to_sum(dual.sign(), dual.upper(), &mut alpha, wanted)?,
            EqualityConstraint::Simplex => shift_to_sum(&vec![1.0; dual.len()], dual.upper(), &mut alpha, 1.0)?,
            EqualityConstraint::PerSign(plus, minus) => {
                let shift =
                    |upper: &[f64], alpha: &mut [f64], wanted| shift_to_sum(&vec![1.0; alpha.len()], upper, alpha, wanted);
                of_sign(dual, &mut alpha, 1.0, |upper, alpha| shift(upper, alpha, plus))?;
                of_sign(dual, &mut alpha, -1.0, |upper, alpha| shift(upper, alpha, minus))?;
            }
            EqualityConstraint::Free => {}
        }
        Self::checked(dual, alpha)
    }

    /// Attaches the gradient `Qα + lin`, so that the solver need not compute it.
    ///
    /// # Panics
    ///
    /// When its length is not the number of variables.
    #[must_use]
    pub fn with_gradient(mut self, gradient: Vec<f64>) -> Self {
        assert_eq!(gradient.len(), self.alpha.len(), "one gradient entry per variable");
        self.gradient = Some(gradient);
        self
    }

    /// Returns the point.
    pub fn alpha(&self) -> &[f64] {
        &self.alpha
    }

    /// Returns the gradient, if known.
    pub fn gradient(&self) -> Option<&[f64]> {
        self.gradient.as_deref()
    }

    /// Returns the point and the gradient by value.
    pub fn into_parts(self) -> (Vec<f64>, Option<Vec<f64>>) {
        (self.alpha, self.gradient)
    }
}

/// Returns each constraint of the problem as (value at `alpha`, required value).
fn balances(dual: &Dual, alpha: &[f64]) -> Vec<(f64, f64)> {
    let signed = |want: f64| -> f64 { dual.sign().iter().zip(alpha).filter(|(s, _)| **s == want).map(|(_, a)| *a).sum() };
    match dual.balance() {
        EqualityConstraint::Free => vec![],
        EqualityConstraint::Sum(wanted) => vec![(signed(1.0) - signed(-1.0), wanted)],
        EqualityConstraint::Simplex => vec![(signed(1.0) + signed(-1.0), 1.0)],
        EqualityConstraint::PerSign(plus, minus) => vec![(signed(1.0), plus), (signed(-1.0), minus)],
    }
}

/// Calls `change(upper, alpha)` with the variables of one sign, and stores the changed α.
pub(crate) fn of_sign<T>(dual: &Dual, alpha: &mut [f64], sign: f64, change: impl FnOnce(&[f64], &mut [f64]) -> T) -> T {
    let of: Vec<usize> = (0..dual.len()).filter(|&k| dual.sign()[k] == sign).collect();
    let upper: Vec<f64> = of.iter().map(|&k| dual.upper()[k]).collect();
    let mut own: Vec<f64> = of.iter().map(|&k| alpha[k]).collect();
    let changed = change(&upper, &mut own);
    of.iter().zip(own).for_each(|(&k, a)| alpha[k] = a);
    changed
}

/// Shifts all `s_k α_k` by one amount, clipped to the box, until `Σ s_k α_k = wanted`.
///
/// The sum is piecewise linear and monotone in the shift. Sorting the shifts at which a variable
/// meets a bound finds the piece. The variable with the most room takes the rounding error.
///
/// # Errors
///
/// When the box cannot reach `wanted`.
pub fn shift_to_sum(sign: &[f64], upper: &[f64], alpha: &mut [f64], wanted: f64) -> Result<(), StartError> {
    let sum = |alpha: &[f64]| -> f64 { sign.iter().zip(alpha).map(|(s, a)| s * a).sum() };
    let lack = wanted - sum(alpha);
    if lack == 0.0 {
        return Ok(());
    }
    // In the direction of `lack` every variable has some room; a common shift t adds min(t, room)
    // to the sum.
    let up = lack > 0.0;
    let mut room: Vec<f64> =
        (0..alpha.len()).map(|k| if (sign[k] > 0.0) == up { upper[k] - alpha[k] } else { alpha[k] }).collect();
    room.sort_by(f64::total_cmp);
    let (mut left, mut shift) = (lack.abs(), None);
    let mut below = 0.0;
    for (taken, &r) in room.iter().enumerate() {
        let active = (room.len() - taken) as f64;
        if (r - below) * active >= left {
            shift = Some(below + left / active);
            break;
        }
        left -= (r - below) * active;
        below = r;
    }
    let total: f64 = room.iter().sum();
    let takes_all = total.is_finite() && (lack.abs() - total).abs() <= 1e-12 * total;
    let shift = match shift {
        // Every variable goes to its bound, without a rest of rounding.
        _ if takes_all => room[room.len() - 1],
        Some(shift) => shift,
        None => return Err(StartError::Infeasible { wanted }),
    };
    for k in 0..alpha.len() {
        let step = if (sign[k] > 0.0) == up { shift } else { -shift };
        alpha[k] = (alpha[k] + step).clamp(0.0, upper[k]);
    }
    let rest = wanted - sum(alpha);
    if rest != 0.0 {
        let room_of = |k: usize, a: f64| if (sign[k] > 0.0) == (rest > 0.0) { upper[k] - a } else { a };
        if let Some(k) = (0..alpha.len()).max_by(|&i, &j| room_of(i, alpha[i]).total_cmp(&room_of(j, alpha[j]))) {
            alpha[k] = (alpha[k] + sign[k] * rest).clamp(0.0, upper[k]);
        }
    }
    Ok(())
}
