//! Samples grouped by common coefficients, so that products with many right-hand sides become
//! products with few columns.

/// From this number of right-hand sides on, samples are searched for common coefficients.
const ALIKE: usize = 4;
/// From this number of right-hand sides on, samples are grouped by the positions of nonzero
/// coefficients.
const SPARSE: usize = 16;

/// Smallest number of samples for a group of their own.
const FEW: usize = 16;
/// Largest number of patterns that a sample is compared with.
const MOST: usize = 128;

/// Samples with common coefficients, or with nonzero coefficients in the same right-hand sides.
/// Their product has few columns for any number of right-hand sides.
pub(crate) struct CoefficientGroup {
    pub(crate) ids: Vec<usize>,
    /// Row-major, one coefficient per sample and column.
    pub(crate) coef: Vec<f64>,
    /// The right-hand side that each column is added to; the number `h` stands for all of them.
    pub(crate) columns: Vec<usize>,
}

/// Groups the samples whose coefficients are not all 0.
///
/// In a cross-validation, a bounded sample has the same coefficient in all folds except the one
/// that leaves it out. Machines of pairs of classes have samples of two classes each.
pub(crate) fn coefficient_groups(ids: &[usize], coef: &[f64], h: usize) -> Vec<CoefficientGroup> {
    let group = |columns: Vec<usize>| CoefficientGroup { ids: Vec::new(), coef: Vec::new(), columns };
    let mut apart: Vec<(usize, &[f64])> = Vec::new();
    let mut alike = group(vec![h]);
    let mut but_one: Vec<CoefficientGroup> = (0..h).map(|column| group(vec![column, h])).collect();
    for (&id, row) in ids.iter().zip(coef.chunks_exact(h)) {
        if row.iter().all(|c| *c == 0.0) {
            continue;
        }
        // If all but one coefficients are equal, the first or the second one is the common value.
        let differ = |common: f64| row.iter().position(|c| *c != common);
        let only = |common: f64| differ(common).filter(|at| row[at + 1..].iter().all(|c| *c == common)).map(|at| (at, common));
        let (to, coef): (&mut CoefficientGroup, &[f64]) = if h < ALIKE {
            apart.push((id, row));
            continue;
        } else if differ(row[0]).is_none() {
            (&mut alike, &row[..1])
        } else if let Some((at, common)) = only(row[0]).or_else(|| only(row[1])) {
            (&mut but_one[at], &[row[at] - common, common])
        } else {
            apart.push((id, row));
            continue;
        };
        to.ids.push(id);
        to.coef.extend_from_slice(coef);
    }
    by_columns(&apart, h).into_iter().chain([alike]).chain(but_one).filter(|group| !group.ids.is_empty()).collect()
}

/// Groups samples by the right-hand sides in which they have nonzero coefficients.
fn by_columns(samples: &[(usize, &[f64])], h: usize) -> Vec<CoefficientGroup> {
    let mut patterns: Vec<Pattern> = Vec::new();
    if h < SPARSE {
        patterns.push(Pattern { members: (0..samples.len()).collect(), mask: vec![u64::MAX; h.div_ceil(64)] });
    }
    for (k, (_, row)) in samples.iter().enumerate().filter(|_| h >= SPARSE) {
        let mut mask = vec![0_u64; h.div_ceil(64)];
        row.iter().enumerate().filter(|(_, c)| **c != 0.0).for_each(|(j, _)| mask[j / 64] |= 1 << (j % 64));
        // The first pattern with the most common positions.
        let common = patterns.iter().map(|pattern| pattern.common(&mask)).enumerate();
        let best = common.max_by_key(|&(at, common)| (common, usize::MAX - at));
        let half = ones(&mask).div_ceil(2);
        match best.filter(|(_, common)| *common >= half || patterns.len() == MOST) {
            Some((at, _)) => patterns[at].merge(&[k], &mask),
            None => patterns.push(Pattern { members: vec![k], mask }),
        }
    }
    let (mut patterns, few): (Vec<Pattern>, Vec<Pattern>) =
        patterns.into_iter().partition(|pattern| pattern.members.len() >= FEW);
    patterns.extend(few.into_iter().reduce(|mut all, pattern| {
        all.merge(&pattern.members, &pattern.mask);
        all
    }));
    let group = |pattern: Pattern| {
        let columns: Vec<usize> = (0..h).filter(|j| pattern.mask[j / 64] >> (j % 64) & 1 == 1).collect();
        let coef = pattern.members.iter().flat_map(|&k| columns.iter().map(move |&j| samples[k].1[j])).collect();
        CoefficientGroup { ids: pattern.members.into_iter().map(|k| samples[k].0).collect(), coef, columns }
    };
    patterns.into_iter().map(group).collect()
}

/// Samples, and a bit mask of the right-hand sides in which any of them has a coefficient.
struct Pattern {
    members: Vec<usize>,
    mask: Vec<u64>,
}

/// The number of bits that are set.
fn ones(bits: &[u64]) -> u32 {
    bits.iter().map(|word| word.count_ones()).sum()
}

impl Pattern {
    /// The number of right-hand sides in both masks.
    fn common(&self, mask: &[u64]) -> u32 {
        self.mask.iter().zip(mask).map(|(own, other)| (own & other).count_ones()).sum()
    }

    /// Adds samples and their mask.
    fn merge(&mut self, members: &[usize], mask: &[u64]) {
        self.members.extend_from_slice(members);
        self.mask.iter_mut().zip(mask).for_each(|(all, own)| *all |= own);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The coefficient matrix that the groups represent.
    fn expanded(groups: &[CoefficientGroup], n: usize, h: usize) -> Vec<f64> {
        let mut coef = vec![0.0; n * h];
        for group in groups {
            for (id, row) in group.ids.iter().zip(group.coef.chunks_exact(group.columns.len())) {
                for (&column, c) in group.columns.iter().zip(row) {
                    let to = if column == h { 0..h } else { column..column + 1 };
                    to.for_each(|j| coef[id * h + j] += c);
                }
            }
        }
        coef
    }

    #[test]
    fn machines_of_pairs_need_one_column_per_class() {
        let (classes, n) = (12, 1200);
        let pairs: Vec<(usize, usize)> = (0..classes).flat_map(|a| (0..a).map(move |b| (a, b))).collect();
        let (h, class) = (pairs.len(), |i: usize| i / 10 % classes);
        let at = |i: usize, j: usize| {
            let takes_part = pairs[j].0 == class(i) || pairs[j].1 == class(i);
            if takes_part && !(i * 7 + j).is_multiple_of(3) { (i * h + j) as f64 } else { 0.0 }
        };
        let coef: Vec<f64> = (0..n * h).map(|at_all| at(at_all / h, at_all % h)).collect();
        let ids: Vec<usize> = (0..n).collect();
        let groups = coefficient_groups(&ids, &coef, h);
        assert_eq!(expanded(&groups, n, h), coef);
        assert!(groups.len() <= 2 * classes, "{} groups", groups.len());
        let products: usize = groups.iter().map(|group| group.ids.len() * group.columns.len()).sum();
        assert!(products <= n * classes, "{products} of {}", n * h);
    }

    #[test]
    fn groups_represent_all_coefficients() {
        for h in [1, 3, 4, 15, 16, 63, 64, 65, 200] {
            let n = 300;
            let draw = |i: usize, j: usize| (i * 31 + j * 17 + i * j) % 11;
            let of = |i: usize, j: usize| match i % 4 {
                // All equal, all but one equal, few nonzero, many nonzero.
                0 => 2.0,
                1 => {
                    if j == i % h {
                        5.0
                    } else {
                        3.0
                    }
                }
                2 => {
                    if draw(i, j) == 0 {
                        (i + j) as f64
                    } else {
                        0.0
                    }
                }
                _ => draw(i, j) as f64,
            };
            let coef: Vec<f64> = (0..n * h).map(|at| of(at / h, at % h)).collect();
            let ids: Vec<usize> = (0..n).collect();
            assert_eq!(expanded(&coefficient_groups(&ids, &coef, h), n, h), coef, "{h}");
        }
    }
}
