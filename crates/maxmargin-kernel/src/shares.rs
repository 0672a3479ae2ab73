//! Samples by what their coefficients have in common, so that products with many right-hand sides
//! are products with few.

/// Right-hand sides from which on it pays to look for what they have in common, and for who has a
/// coefficient in which.
const ALIKE: usize = 4;
const SPARSE: usize = 16;

/// Samples that are worth a share of their own, at least, and groups that any sample is compared
/// with, at most.
const FEW: usize = 16;
const MOST: usize = 128;

/// Samples whose coefficients are alike, or in the same right-hand sides: they are products with
/// few columns, however many right-hand sides there are.
pub(crate) struct Share {
    pub(crate) ids: Vec<usize>,
    /// Row-major, as many as columns for each sample.
    pub(crate) coef: Vec<f64>,
    /// The right-hand sides that they are added to; the number of these: all of them.
    pub(crate) columns: Vec<usize>,
}

/// Samples whose coefficients are not all 0, by what these have in common. Folds of a
/// cross-validation have the coefficients of their bounded samples in common, but for the one that
/// leaves a sample out. Machines of pairs of classes have samples of two classes each.
pub(crate) fn shares(ids: &[usize], coef: &[f64], h: usize) -> Vec<Share> {
    let share = |columns: Vec<usize>| Share { ids: Vec::new(), coef: Vec::new(), columns };
    let mut apart: Vec<(usize, &[f64])> = Vec::new();
    let mut alike = share(vec![h]);
    let mut but_one: Vec<Share> = (0..h).map(|column| share(vec![column, h])).collect();
    for (&id, row) in ids.iter().zip(coef.chunks_exact(h)) {
        if row.iter().all(|c| *c == 0.0) {
            continue;
        }
        // Of the first two, one is what all but one have; where these two differ, either may be it.
        let differ = |common: f64| row.iter().position(|c| *c != common);
        let only = |common: f64| differ(common).filter(|at| row[at + 1..].iter().all(|c| *c == common)).map(|at| (at, common));
        let (to, coef): (&mut Share, &[f64]) = if h < ALIKE {
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
    // A coefficient that nobody else has in common is not worth a share of its own.
    by_columns(&apart, h).into_iter().chain([alike]).chain(but_one).filter(|share| !share.ids.is_empty()).collect()
}

/// Samples by the right-hand sides in which they have coefficients.
fn by_columns(samples: &[(usize, &[f64])], h: usize) -> Vec<Share> {
    let mut groups: Vec<Group> = Vec::new();
    if h < SPARSE {
        groups.push(Group { members: (0..samples.len()).collect(), there: vec![u64::MAX; h.div_ceil(64)] });
    }
    for (k, (_, row)) in samples.iter().enumerate().filter(|_| h >= SPARSE) {
        let mut there = vec![0_u64; h.div_ceil(64)];
        row.iter().enumerate().filter(|(_, c)| **c != 0.0).for_each(|(j, _)| there[j / 64] |= 1 << (j % 64));
        // The first of those that have most in common with it.
        let common = groups.iter().map(|group| group.common(&there)).enumerate();
        let best = common.max_by_key(|&(at, common)| (common, usize::MAX - at));
        let half = ones(&there).div_ceil(2);
        match best.filter(|(_, common)| *common >= half || groups.len() == MOST) {
            Some((at, _)) => groups[at].take(&[k], &there),
            None => groups.push(Group { members: vec![k], there }),
        }
    }
    let (mut groups, few): (Vec<Group>, Vec<Group>) = groups.into_iter().partition(|group| group.members.len() >= FEW);
    groups.extend(few.into_iter().reduce(|mut all, group| {
        all.take(&group.members, &group.there);
        all
    }));
    let share = |group: Group| {
        let columns: Vec<usize> = (0..h).filter(|j| group.there[j / 64] >> (j % 64) & 1 == 1).collect();
        let coef = group.members.iter().flat_map(|&k| columns.iter().map(move |&j| samples[k].1[j])).collect();
        Share { ids: group.members.into_iter().map(|k| samples[k].0).collect(), coef, columns }
    };
    groups.into_iter().map(share).collect()
}

/// Samples and, bit by bit, the right-hand sides in which some of them have coefficients.
struct Group {
    members: Vec<usize>,
    there: Vec<u64>,
}

fn ones(bits: &[u64]) -> u32 {
    bits.iter().map(|word| word.count_ones()).sum()
}

impl Group {
    /// In how many right-hand sides both have coefficients.
    fn common(&self, there: &[u64]) -> u32 {
        self.there.iter().zip(there).map(|(group, own)| (group & own).count_ones()).sum()
    }

    fn take(&mut self, members: &[usize], there: &[u64]) {
        self.members.extend_from_slice(members);
        self.there.iter_mut().zip(there).for_each(|(group, own)| *group |= own);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The matrix that shares stand for.
    fn spread(shares: &[Share], n: usize, h: usize) -> Vec<f64> {
        let mut coef = vec![0.0; n * h];
        for share in shares {
            for (id, row) in share.ids.iter().zip(share.coef.chunks_exact(share.columns.len())) {
                for (&column, c) in share.columns.iter().zip(row) {
                    let to = if column == h { 0..h } else { column..column + 1 };
                    to.for_each(|j| coef[id * h + j] += c);
                }
            }
        }
        coef
    }

    #[test]
    fn machines_of_pairs_are_products_with_those_of_a_class() {
        let (classes, n) = (12, 1200);
        let pairs: Vec<(usize, usize)> = (0..classes).flat_map(|a| (0..a).map(move |b| (a, b))).collect();
        let (h, class) = (pairs.len(), |i: usize| i / 10 % classes);
        let at = |i: usize, j: usize| {
            let takes_part = pairs[j].0 == class(i) || pairs[j].1 == class(i);
            if takes_part && !(i * 7 + j).is_multiple_of(3) { (i * h + j) as f64 } else { 0.0 }
        };
        let coef: Vec<f64> = (0..n * h).map(|at_all| at(at_all / h, at_all % h)).collect();
        let ids: Vec<usize> = (0..n).collect();
        let shares = shares(&ids, &coef, h);
        assert_eq!(spread(&shares, n, h), coef);
        assert!(shares.len() <= 2 * classes, "{} shares", shares.len());
        let products: usize = shares.iter().map(|share| share.ids.len() * share.columns.len()).sum();
        assert!(products <= n * classes, "{products} of {}", n * h);
    }

    #[test]
    fn whatever_the_coefficients_nothing_is_lost() {
        for h in [1, 3, 4, 15, 16, 63, 64, 65, 200] {
            let n = 300;
            let draw = |i: usize, j: usize| (i * 31 + j * 17 + i * j) % 11;
            let of = |i: usize, j: usize| match i % 4 {
                // One for all, one for all but one, few, many.
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
            assert_eq!(spread(&shares(&ids, &coef, h), n, h), coef, "{h}");
        }
    }
}
