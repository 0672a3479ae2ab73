//! The enclosing ball of the paper's algorithms.

/// The ball around the centre `c = Σ α_i z_i` of feature points with `‖z_i‖² = K̃_ii = Δ²`, as the
/// numbers that decide steps and stops.
///
/// For kernels with different `K̃_ii` there is no ball, but the same formulas hold for `g(α) = Δ² −
/// αᵀK̃α` with any constant Δ² (Frandi et al. 2013, section 4.4). This crate takes the largest
/// `K̃_ii`. It is the least value with `g ≥ 0` on the whole simplex, because `αᵀK̃α` is convex and
/// greatest at a vertex.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ball {
    /// Δ²: the largest `K̃_ii`.
    pub delta2: f64,
    /// `‖c‖² = αᵀK̃α`.
    pub square: f64,
}

impl Ball {
    /// Returns `r² = Δ² − ‖c‖²`: the squared radius, which is the dual objective.
    pub fn radius2(self) -> f64 {
        self.delta2 - self.square
    }

    /// Returns `γ²(i) = Δ² + ‖c‖² − 2 (K̃α)_i`: the squared distance of a point from the centre.
    pub fn distance2(self, gradient: f64) -> f64 {
        self.delta2 + self.square - 2.0 * gradient
    }

    /// Returns `δ₊ = γ²(i*) / r² − 1` of the furthest point.
    pub fn excess(self, gradient: f64) -> f64 {
        self.distance2(gradient) / self.radius2() - 1.0
    }

    /// Returns the Frank-Wolfe gap `αᵀK̃α − min K̃α` at which `δ₊` is `(1 + ε)² − 1`: the paper's
    /// stopping rule.
    pub fn gap_allowed(self, epsilon: f64) -> f64 {
        0.5 * epsilon * (2.0 + epsilon) * self.radius2()
    }

    /// Returns the ball after the best step towards a point with excess `δ₊`, in which α shrinks by
    /// `1 − λ`, `λ = δ₊ / 2(1 + δ₊)`: algorithm 2.
    #[must_use]
    pub fn after_toward(self, excess: f64) -> Self {
        let radius2 = self.radius2() * (1.0 + excess * excess / (4.0 * (1.0 + excess)));
        Self { square: self.delta2 - radius2, ..self }
    }

    /// Returns the ball after a step of `λ` away from a point with `δ₋ = 1 − γ²(j*) / r²`: `(1 + λ)
    /// r² − λ (1 + λ) (1 − δ₋) r²`. The paper's algorithm 3 has the wrong sign in the last factor.
    /// It follows from `‖c + λ (c − z)‖² = (1 + λ)² ‖c‖² − 2 λ (1 + λ) zᵀc + λ² Δ²`.
    #[must_use]
    pub fn after_away(self, lack: f64, lambda: f64) -> Self {
        let radius2 = self.radius2() * (1.0 + lambda) * (1.0 - lambda * (1.0 - lack));
        Self { square: self.delta2 - radius2, ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::Ball;

    /// Two points at right angles, `‖z‖² = 2`: from `α = (1 − t, t)` the recurrences give the ball
    /// of the α after the step.
    #[test]
    fn recurrences_on_two_points() {
        let at = |t: f64| Ball { delta2: 2.0, square: 2.0 * (t * t + (1.0 - t) * (1.0 - t)) };
        let near = |a: Ball, b: Ball| (a.square - b.square).abs() < 1e-15;
        // From t = ¼ the furthest point is the second, (K̃α)_2 = ½; λ = ⅓ leads to the middle.
        let excess = at(0.25).excess(0.5);
        assert!((excess / (2.0 * (1.0 + excess)) - 1.0 / 3.0).abs() < 1e-15);
        assert!(near(at(0.25).after_toward(excess), at(0.5)));
        // The nearest is the first, (K̃α)_1 = 3/2; away from it by λ: t grows by the factor 1 + λ.
        let lack = 1.0 - at(0.25).distance2(1.5) / at(0.25).radius2();
        for lambda in [0.2, 1.0, 3.0] {
            assert!(near(at(0.25).after_away(lack, lambda), at(0.25 * (1.0 + lambda))), "{lambda}");
        }
        assert!((lack / (2.0 * (1.0 - lack)) - 1.0).abs() < 1e-15, "the best λ doubles t");
    }

    #[test]
    fn the_allowed_gap_is_the_excess_of_the_rule() {
        let (ball, epsilon) = (Ball { delta2: 3.0, square: 0.5 }, 0.01);
        let gradient = ball.square - ball.gap_allowed(epsilon);
        assert!((ball.excess(gradient) - (1.01 * 1.01 - 1.0)).abs() < 1e-15);
    }
}
