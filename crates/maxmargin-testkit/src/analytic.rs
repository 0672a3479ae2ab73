//! Problems of two to five points solved by hand, with the derivation next to the figures.

use crate::points::PointsGram;
use crate::problem::Problem;
use maxmargin_core::{Dual, EqualityConstraint};
use maxmargin_kernel::Kernel;

/// A problem and its solution.
#[derive(Clone, Debug)]
pub struct Solved {
    /// The problem.
    pub problem: Problem,
    /// The minimum of `½ αᵀQα + linᵀα`.
    pub objective: f64,
    /// The optimal α, if it is unique.
    pub alpha: Option<Vec<f64>>,
    /// The optimal biases, as an interval.
    pub bias: (f64, f64),
    /// The sum `Σ s_l α_l K(id_l, i)` for every sample `i`: the decision values without the bias.
    /// It is unique even if α is not.
    pub sums: Vec<f64>,
}

fn line(xs: &[f64]) -> PointsGram {
    PointsGram::new(&xs.iter().map(|&x| vec![x]).collect::<Vec<_>>(), &Kernel::Linear)
}

fn identity(n: usize) -> PointsGram {
    PointsGram::from_matrix(n, (0..n * n).map(|at| f64::from(u8::from(at / n == at % n))).collect())
}

fn solved(problem: Problem, objective: f64, alpha: Option<&[f64]>, bias: (f64, f64), sums: &[f64]) -> Solved {
    Solved { problem, objective, alpha: alpha.map(<[f64]>::to_vec), bias, sums: sums.to_vec() }
}

/// Returns C-SVC problems: every linear term −1, sum 0.
pub fn c_svc() -> Vec<Solved> {
    let mut problems = on_a_line();
    problems.push(xor());
    problems.extend(shared_and_weighted());
    problems.extend(without_structure());
    problems
}

/// Returns points on a line with a linear kernel.
fn on_a_line() -> Vec<Solved> {
    vec![
        // x = ±1, linear. The constraint makes both α equal, a. w = 2a; ½(2a)² − 2a is least where
        // 4a = 2.
        solved(
            Problem::c_svc("two points", line(&[1.0, -1.0]), vec![1.0, -1.0], vec![10.0; 2]),
            -0.5,
            Some(&[0.5, 0.5]),
            (0.0, 0.0),
            &[1.0, -1.0],
        ),
        // The same with C = ¼ < ½: both at the bound. w = ½, objective ½·¼ − ½. y_k g_k = ±(½ − 1)
        // = ∓½ bounds −b from both sides.
        solved(
            Problem::c_svc("two points at the bound", line(&[1.0, -1.0]), vec![1.0, -1.0], vec![0.25; 2]),
            -0.375,
            Some(&[0.25, 0.25]),
            (-0.5, 0.5),
            &[0.5, -0.5],
        ),
        // x = 3 against x = 1: a margin of width 2 has w = 1, b = −2. w = 3a − a gives a = ½;
        // objective ½w² − 2a.
        solved(
            Problem::c_svc("two points off the origin", line(&[3.0, 1.0]), vec![1.0, -1.0], vec![10.0; 2]),
            -0.5,
            Some(&[0.5, 0.5]),
            (-2.0, -2.0),
            &[3.0, 1.0],
        ),
        // −3, −1 against 1, 2, 5: only the inner pair −1, 1 supports the margin, as in the first
        // problem.
        solved(
            Problem::c_svc(
                "five points on a line",
                line(&[-3.0, -1.0, 1.0, 2.0, 5.0]),
                vec![-1.0, -1.0, 1.0, 1.0, 1.0],
                vec![10.0; 5],
            ),
            -0.5,
            Some(&[0.0, 0.5, 0.5, 0.0, 0.0]),
            (0.0, 0.0),
            &[-3.0, -1.0, 1.0, 2.0, 5.0],
        ),
    ]
}

/// Returns problems with a duplicate, unequal C, and a weight of zero.
fn shared_and_weighted() -> Vec<Solved> {
    vec![
        // Two copies of x = 1 share the α of the first problem in any proportion.
        solved(
            Problem::c_svc("a duplicate", line(&[1.0, 1.0, -1.0]), vec![1.0, 1.0, -1.0], vec![10.0; 3]),
            -0.5,
            None,
            (0.0, 0.0),
            &[1.0, 1.0, -1.0],
        ),
        // C = 0.1 for the positive point limits both α through the constraint. w = 0.2, objective
        // ½·0.04 − 0.2. The negative point is free, hence on its margin: −w + b = −1.
        solved(
            Problem::c_svc("unequal C", line(&[1.0, -1.0]), vec![1.0, -1.0], vec![0.1, 10.0]),
            -0.18,
            Some(&[0.1, 0.1]),
            (-0.8, -0.8),
            &[0.2, -0.2],
        ),
        // A sample of weight 0 in the middle of the margin has no effect.
        solved(
            Problem::c_svc("a weight of zero", line(&[1.0, 0.5, -1.0]), vec![1.0, -1.0, -1.0], vec![10.0, 0.0, 10.0]),
            -0.5,
            Some(&[0.5, 0.0, 0.5]),
            (0.0, 0.0),
            &[1.0, 0.5, -1.0],
        ),
    ]
}

/// Returns problems with the identity as kernel matrix, and a contradiction.
fn without_structure() -> Vec<Solved> {
    vec![
        // K = I, three positive, one negative. α_k = 1 − s_k ν; 3(1 − ν) = 1 + ν gives ν = ½.
        // Objective −½ Σα = −½ (3·½ + 3/2). A positive point has α + b = 1.
        solved(
            Problem::c_svc("identity", identity(4), vec![1.0, 1.0, 1.0, -1.0], vec![10.0; 4]),
            -1.5,
            Some(&[0.5, 0.5, 0.5, 1.5]),
            (0.5, 0.5),
            &[0.5, 0.5, 0.5, -1.5],
        ),
        // The same with C = 1 ends the negative point at the bound: 1/3 for each positive. ½
        // (3·1/9 + 1) − 2 = −4/3; b = 1 − 1/3.
        solved(
            Problem::c_svc("identity at the bound", identity(4), vec![1.0, 1.0, 1.0, -1.0], vec![1.0; 4]),
            -4.0 / 3.0,
            Some(&[1.0 / 3.0, 1.0 / 3.0, 1.0 / 3.0, 1.0]),
            (2.0 / 3.0, 2.0 / 3.0),
            &[1.0 / 3.0, 1.0 / 3.0, 1.0 / 3.0, -1.0],
        ),
        // The same point as both classes: K is constant, Qα = 0 on the constraint, so both α go to
        // C. Objective −2C. f = 0 everywhere, and every b in [−1, 1] has slack 2.
        solved(
            Problem::c_svc("contradiction", line(&[1.0, 1.0]), vec![1.0, -1.0], vec![3.0; 2]),
            -6.0,
            Some(&[3.0, 3.0]),
            (-1.0, 1.0),
            &[0.0, 0.0],
        ),
    ]
}

/// Exclusive or with the kernel (xᵀz + 1)²: 9 on the diagonal, and 1 elsewhere, since other corners
/// have xᵀz = 0 or −2. So K = 8I + 11ᵀ, the second part vanishes on the constraint, and 8α = 1.
/// Objective −½ Σα.
fn xor() -> Solved {
    let corners = [[1.0, 1.0], [1.0, -1.0], [-1.0, 1.0], [-1.0, -1.0]].map(|x| x.to_vec());
    let kernel = Kernel::Poly { gamma: 1.0, coef0: 1.0, degree: 2 };
    let problem = Problem::c_svc("exclusive or", PointsGram::new(&corners, &kernel), vec![1.0, -1.0, -1.0, 1.0], vec![1.0; 4]);
    solved(problem, -0.25, Some(&[0.125; 4]), (0.0, 0.0), &[1.0, -1.0, -1.0, 1.0])
}

/// Returns problems with other linear terms, other sums, a ridge or repeated samples.
///
/// # Panics
///
/// Never: the problems are fixed.
pub fn general() -> Vec<Solved> {
    let two = || line(&[1.0, -1.0]);
    let dual = |ids: &[usize], sign: &[f64], linear_term: &[f64], upper: &[f64], ridge: f64, wanted: f64| {
        let (ids, sign, linear_term, upper) = (ids.to_vec(), sign.to_vec(), linear_term.to_vec(), upper.to_vec());
        Dual::new(ids, sign, linear_term, upper, ridge, EqualityConstraint::Sum(wanted)).expect("a problem")
    };
    vec![
        // Two points with ridge 1: ½(2a)² + ½·2a² − 2a is least where 6a = 2. Objective −½ Σα =
        // −1/3.
        solved(
            Problem::new("ridge", two(), dual(&[0, 1], &[1.0, -1.0], &[-1.0; 2], &[10.0; 2], 1.0, 0.0)),
            -1.0 / 3.0,
            Some(&[1.0 / 3.0, 1.0 / 3.0]),
            (0.0, 0.0),
            &[2.0 / 3.0, -2.0 / 3.0],
        ),
        // One-class on K = I: ½ Σα² with Σα = 1 spreads evenly over two points. −b = g = ½.
        solved(
            Problem::new("one class", identity(2), dual(&[0, 1], &[1.0; 2], &[0.0; 2], &[1.0; 2], 0.0, 1.0)),
            0.25,
            Some(&[0.5, 0.5]),
            (-0.5, -0.5),
            &[0.5, 0.5],
        ),
        // ε-SVR through (0, 0) and (1, 1) with ε = 0.1: the flattest line in the tube rises from
        // (0, 0.1) to (1, 0.9): w = 0.8, b = 0.1. Variables: +0, +1, −0, −1 with linear_term = ε ∓
        // y. w = α₁, and the balance gives sample 0 as much on the negative side: ½·0.64 + 0.8 (0.1
        // − 1) + 0.8 (0.1 + 0).
        solved(
            Problem::new(
                "regression",
                line(&[0.0, 1.0]),
                dual(&[0, 1, 0, 1], &[1.0, 1.0, -1.0, -1.0], &[0.1, -0.9, 0.1, 1.1], &[10.0; 4], 0.0, 0.0),
            ),
            -0.32,
            Some(&[0.0, 0.8, 0.8, 0.0]),
            (0.1, 0.1),
            &[0.0, 0.8],
        ),
        // K = I, C-SVC terms, but Σ s α = 1: α = (1 − ν, 1 + ν) with −2ν = 1. ½ (9/4 + 1/4) − 2. b
        // = ν.
        solved(
            Problem::new("unequal sum", identity(2), dual(&[0, 1], &[1.0, -1.0], &[-1.0; 2], &[9.0; 2], 0.0, 1.0)),
            -0.75,
            Some(&[1.5, 0.5]),
            (-0.5, -0.5),
            &[1.5, -0.5],
        ),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::oracle;

    #[test]
    fn the_hand_and_the_oracle_agree() {
        for case in c_svc().into_iter().chain(general()) {
            let (name, p) = (&case.problem.name, &case.problem);
            let found = oracle::solve(&p.dual, &p.gram);
            assert!((found.objective - case.objective).abs() < 1e-14, "{name}: {found:?}");
            assert!(found.kkt < 1e-14, "{name}: {found:?}");
            for (ours, theirs) in [(case.bias.0, found.bias.0), (case.bias.1, found.bias.1)] {
                assert!((ours - theirs).abs() < 1e-14, "{name}: {found:?}");
            }
            if let Some(alpha) = &case.alpha {
                assert!(alpha.iter().zip(&found.alpha).all(|(a, b)| (a - b).abs() < 1e-14), "{name}: {found:?}");
                assert!((p.objective(alpha) - case.objective).abs() < 1e-14, "{name}");
            }
            for (i, sum) in case.sums.iter().enumerate() {
                let terms = (0..p.dual.len()).map(|k| p.dual.sign()[k] * found.alpha[k] * p.gram.at(p.dual.ids()[k], i));
                assert!((terms.sum::<f64>() - sum).abs() < 1e-14, "{name}: sample {i}");
            }
        }
    }
}
