//! Gauss–Legendre rules on `[0, 1]`.

use std::f64::consts::PI;
use std::sync::OnceLock;

/// A node and its weight.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Node {
    pub(crate) at: f64,
    pub(crate) weight: f64,
}

/// Rules by their number of nodes, each computed when it is first used.
pub(crate) struct Rules(Vec<OnceLock<Vec<Node>>>);

impl Rules {
    /// Rules that integrate polynomials up to this degree exactly.
    pub(crate) fn up_to(degree: usize) -> Self {
        Self((0..=nodes_for(degree)).map(|_| OnceLock::new()).collect())
    }

    /// The rule with the fewest nodes that integrates polynomials of this degree exactly.
    pub(crate) fn exact_for(&self, degree: usize) -> &[Node] {
        let nodes = nodes_for(degree);
        self.0[nodes].get_or_init(|| gauss_legendre(nodes))
    }
}

/// `n` nodes are exact up to the degree `2n − 1`.
const fn nodes_for(degree: usize) -> usize {
    degree / 2 + 1
}

/// The rule of `n ≥ 1` nodes: roots of the Legendre polynomial `P_n` by Newton's method from
/// Tricomi's approximation, weights `2 / ((1 − x²) P_n'(x)²)`, moved from `[−1, 1]` to `[0, 1]`.
fn gauss_legendre(n: usize) -> Vec<Node> {
    let mut nodes = vec![Node { at: 0.5, weight: 1.0 }; n];
    for k in 0..n.div_ceil(2) {
        let mut x = (PI * (k as f64 + 0.75) / (n as f64 + 0.5)).cos();
        for _ in 0..100 {
            let (value, slope) = legendre(n, x);
            let step = value / slope;
            x -= step;
            if step.abs() <= f64::EPSILON {
                break;
            }
        }
        // The middle root of an odd rule is 0.
        if 2 * k + 1 == n {
            x = 0.0;
        }
        let (_, slope) = legendre(n, x);
        let weight = 1.0 / ((1.0 - x * x) * slope * slope);
        nodes[k] = Node { at: 0.5 * (1.0 - x), weight };
        nodes[n - 1 - k] = Node { at: 0.5 * (1.0 + x), weight };
    }
    nodes
}

/// `P_n(x)` and `P_n'(x)` by the three-term recurrence.
fn legendre(n: usize, x: f64) -> (f64, f64) {
    let (mut before, mut value) = (1.0, x);
    if n == 0 {
        return (1.0, 0.0);
    }
    for k in 2..=n {
        let k = k as f64;
        (before, value) = (value, ((2.0 * k - 1.0) * x * value - (k - 1.0) * before) / k);
    }
    let n = n as f64;
    (value, n * (x * value - before) / (x * x - 1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn powers_are_integrated_exactly() {
        let rules = Rules::up_to(200);
        for degree in [0, 1, 2, 3, 10, 29, 64, 121, 200] {
            let rule = rules.exact_for(degree);
            assert!(2 * rule.len() > degree && 2 * rule.len() <= degree + 2, "{degree}");
            for power in 0..=degree as i32 {
                let found: f64 = rule.iter().map(|node| node.weight * node.at.powi(power)).sum();
                let exact = 1.0 / f64::from(power + 1);
                assert!((found - exact).abs() < 1e-14, "{degree} {power}: {found} {exact}");
            }
        }
    }
}
