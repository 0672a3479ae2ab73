//! Probabilities of several classes from those of pairs: the second method of T.-F. Wu, C.-J. Lin
//! and R. C. Weng, "Probability estimates for multi-class classification by pairwise coupling",
//! JMLR 5 (2004).

use maxmargin_data::classes::pairs;

/// The probabilities `p` of `count` classes, summing to 1, that minimise `Σ_{i<j} (r_ji p_i − r_ij
/// p_j)²`; `of_later` has for each of [`pairs`] the probability `r_ji` of its later class, above 0
/// and below 1.
///
/// The paper iterates. The minimum is where `Q p` is the same for all classes, `Q_ii = Σ_j r_ji²`,
/// `Q_ij = −r_ij r_ji`: up to a factor `Q⁻¹ 1`. `Q` is a positive semidefinite M-matrix, whose
/// elimination without exchanges adds numbers of one sign only but on the diagonal, so that no
/// probability is negative and there is nothing to iterate. The class with the smallest pivot, the
/// likeliest, comes last: `Q` is singular where all pairs agree.
pub(crate) fn coupled(count: usize, of_later: &[f64]) -> Vec<f64> {
    if let [later] = of_later {
        return vec![1.0 - later, *later];
    }
    let mut q = vec![0.0; count * count];
    for ((i, j), r_ji) in pairs(count).zip(of_later) {
        let r_ij = 1.0 - r_ji;
        q[i * count + i] += r_ji * r_ji;
        q[j * count + j] += r_ij * r_ij;
        q[i * count + j] = -r_ij * r_ji;
        q[j * count + i] = -r_ij * r_ji;
    }
    let mut p = solved(&mut q, count);
    let sum: f64 = p.iter().sum();
    p.iter_mut().for_each(|p| *p /= sum);
    p
}

/// `Q⁻¹ 1` up to a factor, by elimination in the order of the greatest pivots; every entry is
/// positive.
fn solved(q: &mut [f64], n: usize) -> Vec<f64> {
    let given: Vec<f64> = (0..n).map(|i| q[i * n + i]).collect();
    let mut order: Vec<usize> = (0..n).collect();
    let mut right = vec![1.0; n];
    for step in 0..n {
        // The first of equals.
        let next = (step..n).rev().max_by(|&a, &b| q[order[a] * n + order[a]].total_cmp(&q[order[b] * n + order[b]]));
        order.swap(step, next.unwrap_or(step));
        let k = order[step];
        // Less is rounding: the pivots of such a matrix are not negative.
        let pivot = q[k * n + k].max(f64::EPSILON * given[k]);
        q[k * n + k] = pivot;
        for &i in &order[step + 1..] {
            let factor = -q[i * n + k] / pivot;
            right[i] += factor * right[k];
            for &j in &order[step + 1..] {
                q[i * n + j] += factor * q[k * n + j];
            }
        }
    }
    let mut x = vec![0.0; n];
    for step in (0..n).rev() {
        let k = order[step];
        let sum: f64 = order[step + 1..].iter().map(|&j| -q[k * n + j] * x[j]).sum();
        x[k] = (right[k] + sum) / q[k * n + k];
    }
    x
}

#[cfg(test)]
mod tests {
    use super::*;

    fn noise(count: usize, mut state: u64) -> Vec<f64> {
        (0..count)
            .map(|_| {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                (state >> 11) as f64 / (1_u64 << 53) as f64
            })
            .collect()
    }

    /// The paper's iteration (its algorithm 2), to the last digits.
    fn iterated(count: usize, of_later: &[f64]) -> Vec<f64> {
        let mut r = vec![0.0; count * count];
        pairs(count).zip(of_later).for_each(|((i, j), later)| {
            r[j * count + i] = *later;
            r[i * count + j] = 1.0 - later;
        });
        let q = |t: usize, j: usize| {
            if t == j {
                (0..count).filter(|&s| s != t).map(|s| r[s * count + t].powi(2)).sum()
            } else {
                -r[j * count + t] * r[t * count + j]
            }
        };
        let mut p = vec![1.0 / count as f64; count];
        for round in 0..2_000_000 {
            let t = round % count;
            let of = |p: &[f64], t: usize| (0..count).map(|j| q(t, j) * p[j]).sum::<f64>();
            let whole: f64 = (0..count).map(|t| p[t] * of(&p, t)).sum();
            p[t] = (whole - of(&p, t) + q(t, t) * p[t]) / q(t, t);
            let sum: f64 = p.iter().sum();
            p.iter_mut().for_each(|p| *p /= sum);
            if t == 0 && (0..count).all(|t| (of(&p, t) - whole).abs() < 1e-15) {
                break;
            }
        }
        p
    }

    #[test]
    fn it_is_what_the_iteration_of_the_paper_tends_to() {
        for (count, seed) in [(3, 1), (3, 2), (4, 3), (5, 4), (7, 5)] {
            let of_later: Vec<f64> = noise(count * (count - 1) / 2, seed).iter().map(|r| 0.05 + 0.9 * r).collect();
            let (exact, slow) = (coupled(count, &of_later), iterated(count, &of_later));
            assert!(exact.iter().zip(&slow).all(|(a, b)| (a - b).abs() < 1e-12), "{count}: {exact:?} {slow:?}");
        }
    }

    #[test]
    fn pairs_that_agree_give_their_probabilities_back() {
        let p = [0.5, 0.2, 0.25, 0.05];
        let of_later: Vec<f64> = pairs(4).map(|(i, j)| p[j] / (p[i] + p[j])).collect();
        assert!(coupled(4, &of_later).iter().zip(p).all(|(a, b)| (a - b).abs() < 1e-15));
        assert_eq!(coupled(3, &[0.5; 3]).iter().map(|p| (p * 3.0).round()).sum::<f64>(), 3.0);
    }

    /// The conditions of the minimum, with pair probabilities as near to 0 and 1 as there are.
    #[test]
    fn certain_pairs_have_a_positive_minimum() {
        for count in [3, 10, 26] {
            for seed in 0..20 {
                let of_later: Vec<f64> =
                    noise(count * (count - 1) / 2, seed).iter().map(|r| if *r < 0.5 { 1e-7 } else { 1.0 - 1e-7 }).collect();
                let p = coupled(count, &of_later);
                assert!(p.iter().all(|p| *p > 0.0 && *p < 1.0) && (p.iter().sum::<f64>() - 1.0).abs() < 1e-14, "{p:?}");
                let mut product = vec![0.0; count];
                for ((i, j), r_ji) in pairs(count).zip(&of_later) {
                    let slack = r_ji * p[i] - (1.0 - r_ji) * p[j];
                    product[i] += r_ji * slack;
                    product[j] -= (1.0 - r_ji) * slack;
                }
                let (low, high) = product.iter().fold((f64::MAX, f64::MIN), |(l, h), v| (l.min(*v), h.max(*v)));
                assert!(high - low < 1e-14, "{count} {seed}: {product:?}");
            }
        }
    }
}
