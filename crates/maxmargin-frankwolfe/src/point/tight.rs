//! The duality gap with the best slacks and threshold: that of the certificate, from the present
//! gradient.

/// The largest number of Newton passes. Newton ends by itself after as many steps as pieces that it
/// crosses, usually three to five.
const PASSES: usize = 50;

/// Returns `½‖w‖² + Σ (ρ − h_k)₊² / 2r − ρ + ½ αᵀQα` relative to the larger of primal and dual. `h`
/// are the margins `s_k ⟨w, φ_k⟩ = g_k − r α_k` (`margins` is called several times), `square =
/// αᵀQα`, `squares = Σ α²`, `r > 0` the ridge.
///
/// Every ρ gives an upper bound on the optimum. The best ρ solves `Σ (ρ − h_k)₊ = r`. The sum is
/// convex and increasing, so Newton's method descends to the solution from a point where the sum is
/// too large.
/// solution.
pub(crate) fn relative_gap<I: Iterator<Item = f64>>(margins: impl Fn() -> I, square: f64, squares: f64, ridge: f64) -> f64 {
    let mut rho = square;
    let mut loss = f64::INFINITY;
    for _ in 0..PASSES {
        let (mut sum, mut count, mut double, mut least) = (0.0, 0.0, 0.0, f64::INFINITY);
        for h in margins() {
            let xi = (rho - h).max(0.0);
            sum += xi;
            double += xi * xi;
            count += f64::from(u8::from(xi > 0.0));
            least = least.min(h);
        }
        loss = 0.5 * double / ridge;
        let next = if count > 0.0 { rho - (sum - ridge) / count } else { least + ridge };
        if (next - rho).abs() <= 1e-12 * rho.abs() || !next.is_finite() {
            break;
        }
        rho = next;
    }
    let primal = 0.5 * (square - ridge * squares) + loss - rho;
    let gap = primal + 0.5 * square;
    if gap <= 0.0 { 0.0 } else { gap / primal.abs().max(0.5 * square) }
}

#[cfg(test)]
mod tests {
    use super::relative_gap;

    /// Q = diag(1, 2) with ridge ½ inside: K = diag(½, 3/2). At α = (½, ½): αᵀQα = ¾, h = (¼, ¾). ρ
    /// solves (ρ − ¼) = ½: ρ = ¾, and the second margin is met. Primal ½ (¾ − ¼) + ¼ − ¾ = −¼, dual
    /// −3/8.
    #[test]
    fn by_hand() {
        let found = relative_gap(|| [0.25, 0.75].into_iter(), 0.75, 0.5, 0.5);
        assert!((found - 0.125 / 0.375).abs() < 1e-15, "{found}");
        // At the optimum α = (2/3, 1/3), αᵀQα = 2/3: no gap.
        let found = relative_gap(|| [1.0 / 3.0, 0.5].into_iter(), 2.0 / 3.0, 5.0 / 9.0, 0.5);
        assert!(found < 1e-15, "{found}");
    }
}
