//! Products with the kernel matrix and parts of it, computed in tiles without storing its rows.

mod exact;
mod groups;
mod member_sums;
mod scratch;
mod single;
mod small;
mod symmetric;

pub use exact::apply_exact;
pub(crate) use exact::apply_exact_to;
pub(crate) use groups::SampleTerms;
pub use member_sums::MemberSums;
pub use single::{apply, products, submatrix};
pub(crate) use small::small_sums;

#[cfg(test)]
mod tests {
    use super::groups::{SampleTerms, coefficient_groups};
    use super::{apply, apply_exact, products, submatrix};
    use crate::{Gram, Kernel, KernelGram};
    use maxmargin_data::{Par, RunControl, generate::Generator};

    #[test]
    fn products_and_parts_are_those_of_the_entries() {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(3).build().expect("a pool");
        let data = Generator::Banana.generate(5000, None, 3).expect("a generator");
        let gram = KernelGram::new(&data.samples, Kernel::Rbf { gamma: 0.5 }, &RunControl::unlimited()).expect("a kernel");
        let ids: Vec<usize> = (0..700).map(|i| i * 7 % 5000).collect();
        let coef: Vec<f64> = (0..700).map(|i| f64::from(i % 13) - 6.0).collect();
        let sums = apply(&gram, &ids, &coef, 100..4900, Par::Seq, &RunControl::unlimited()).expect("unlimited");
        assert_eq!(
            sums,
            pool.install(|| apply(&gram, &ids, &coef, 100..4900, Par::Pool, &RunControl::unlimited()).expect("unlimited"))
        );
        let exact = apply_exact(&gram, &ids, &coef, 1, 100..4900, Par::Seq, &RunControl::unlimited()).expect("unlimited");
        // Each of the values is off by at most 1e-6 of 1.
        let most: f64 = coef.iter().map(|c| 1e-6 * c.abs()).sum();
        assert!(sums.iter().zip(&exact).all(|(a, b)| (a - b).abs() <= most));

        let mut spread = vec![0.0; 5000];
        ids.iter().zip(&coef).for_each(|(&id, c)| spread[id] += c);
        let rows: Vec<usize> = (0..150).map(|i| 4899 - i * 31).collect();
        let found = products(&gram, &rows, &spread, Par::Seq);
        assert_eq!(found, pool.install(|| products(&gram, &rows, &spread, Par::Pool)));
        assert!(found.iter().zip(&rows).all(|(a, row)| (a - exact[row - 100]).abs() <= most));

        // The lower half of a symmetric part, rows from 100 on.
        let mut lower = vec![f32::NAN; 600 * 700];
        pool.install(|| submatrix(&gram, &ids[100..], &ids, Some(100), 700, &mut lower, Par::Pool));
        let mut whole = vec![f32::NAN; 600 * 700];
        submatrix(&gram, &ids[100..], &ids, None, 700, &mut whole, Par::Seq);
        for (r, (lower, whole)) in lower.chunks(700).zip(whole.chunks(700)).enumerate() {
            assert_eq!(lower[..=100 + r], whole[..=100 + r]);
            assert!(lower[100 + r..].iter().zip(&whole[100 + r..]).all(|(l, w)| l.is_nan() || l == w));
        }
        assert!(lower[..700].iter().any(|v| v.is_nan()), "something is left out");

        let columns = [4999, 3, 2048, 2047, 17, 3];
        pool.install(|| {
            for par in [Par::Seq, Par::Pool] {
                let mut out = vec![f32::NAN; 700 * 8];
                submatrix(&gram, &ids, &columns, None, 8, &mut out, par);
                let mut entry = [0.0];
                for (row, &i) in out.chunks(8).zip(&ids) {
                    for (value, &j) in row.iter().zip(&columns) {
                        gram.fill(&[i], j..j + 1, &mut entry);
                        assert_eq!(*value, entry[0]);
                    }
                    assert!(row[6].is_nan() && row[7].is_nan(), "nothing is written between rows");
                }
            }
        });
    }

    /// Coefficients like those of folds: all 0, all equal, all but one equal, only one, and any.
    #[test]
    fn common_coefficients_do_not_change_the_sums() {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(3).build().expect("a pool");
        let data = Generator::Banana.generate(2500, None, 3).expect("a generator");
        let gram = KernelGram::new(&data.samples, Kernel::Rbf { gamma: 0.5 }, &RunControl::unlimited()).expect("a kernel");
        let ids: Vec<usize> = (0..600).map(|i| i * 3).collect();
        for h in [1, 3, 4, 5, 11] {
            let of = |i: usize, column: usize| match (i % 5, column == i / 5 % h) {
                (0, _) | (3, false) => 0.0,
                (1, _) | (2, false) => i as f64 - 300.5,
                (_, one) => f64::from(u8::from(one)) - (i * 31 + column * 17) as f64 % 23.0,
            };
            let coef: Vec<f64> = (0..600 * h).map(|k| of(k / h, k % h)).collect();
            let sums = apply_exact(&gram, &ids, &coef, h, 100..2300, Par::Seq, &RunControl::unlimited()).expect("unlimited");
            assert_eq!(
                sums,
                pool.install(
                    || apply_exact(&gram, &ids, &coef, h, 100..2300, Par::Pool, &RunControl::unlimited()).expect("unlimited")
                )
            );
            for column in 0..h {
                let alone: Vec<f64> = coef.iter().skip(column).step_by(h).copied().collect();
                let scale: f64 = alone.iter().map(|c| c.abs()).sum();
                let alone =
                    apply_exact(&gram, &ids, &alone, 1, 100..2300, Par::Seq, &RunControl::unlimited()).expect("unlimited");
                let apart = |(a, b): (&f64, &f64)| (a - b).abs() <= 1e-14 * scale;
                assert!(sums.iter().skip(column).step_by(h).zip(&alone).all(apart), "{column} of {h}");
            }
        }
        let all = |coef: [f64; 5]| {
            coefficient_groups(&SampleTerms::of_matrix(&[7], &coef, 5))
                .into_iter()
                .map(|group| (group.columns, group.coef))
                .collect::<Vec<_>>()
        };
        assert_eq!(all([2.0; 5]), [(vec![5], vec![2.0])]);
        assert_eq!(all([0.0, 2.0, 2.0, 2.0, 2.0]), [(vec![0, 5], vec![-2.0, 2.0])]);
        assert_eq!(all([2.0, 2.0, 2.0, 0.0, 2.0]), [(vec![3, 5], vec![-2.0, 2.0])]);
        assert_eq!(all([1.0, 2.0, 2.0, 0.0, 2.0]), [(vec![0, 1, 2, 3, 4], vec![1.0, 2.0, 2.0, 0.0, 2.0])]);
        assert_eq!(all([0.0; 5]), []);
    }

    #[test]
    fn empty_products_are_zero_or_empty() {
        let data = Generator::Banana.generate(30, None, 3).expect("a generator");
        let gram = KernelGram::new(&data.samples, Kernel::Linear, &RunControl::unlimited()).expect("a kernel");
        assert_eq!(apply(&gram, &[], &[], 0..30, Par::Seq, &RunControl::unlimited()).expect("unlimited"), [0.0; 30]);
        assert!(apply(&gram, &[1], &[1.0], 5..5, Par::Seq, &RunControl::unlimited()).expect("unlimited").is_empty());
        assert_eq!(products(&gram, &[], &[1.0; 30], Par::Seq), [0.0; 0]);
        submatrix(&gram, &[], &[1], None, 1, &mut [], Par::Seq);
        submatrix(&gram, &[1], &[], None, 0, &mut [], Par::Seq);
    }
}
