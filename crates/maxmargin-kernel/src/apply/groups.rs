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

/// The coefficients of samples, without zeros.
pub(crate) struct SampleTerms {
    ids: Vec<usize>,
    /// The place in `entries` of each sample's first entry, and their number at the end.
    offsets: Vec<usize>,
    /// Right-hand side and coefficient.
    entries: Vec<(usize, f64)>,
    /// Number of right-hand sides.
    h: usize,
}

impl SampleTerms {
    /// The terms of a row-major matrix of coefficients with `h` columns.
    pub(crate) fn of_matrix(ids: &[usize], coef: &[f64], h: usize) -> Self {
        let (mut offsets, mut entries) = (vec![0], Vec::new());
        for row in coef.chunks_exact(h) {
            entries.extend(row.iter().copied().enumerate().filter(|(_, c)| *c != 0.0));
            offsets.push(entries.len());
        }
        Self { ids: ids.to_vec(), offsets, entries, h }
    }

    /// The terms of right-hand sides that are lists of samples below `samples` with coefficients.
    pub(crate) fn of_points(points: &[&[(usize, f64)]], samples: usize) -> Self {
        let mut counts = vec![0; samples];
        points.iter().flat_map(|point| point.iter()).for_each(|term| counts[term.0] += 1);
        let ids: Vec<usize> = (0..samples).filter(|&id| counts[id] > 0).collect();
        let mut offsets = vec![0];
        // From here on, the place of the next entry of each sample.
        for &id in &ids {
            let start = offsets[offsets.len() - 1];
            offsets.push(start + counts[id]);
            counts[id] = start;
        }
        let mut entries = vec![(0, 0.0); offsets[ids.len()]];
        for (p, point) in points.iter().enumerate() {
            for &(id, c) in *point {
                entries[counts[id]] = (p, c);
                counts[id] += 1;
            }
        }
        Self { ids, offsets, entries, h: points.len() }
    }

    /// Number of samples with a term.
    pub(super) fn samples(&self) -> usize {
        (0..self.ids.len()).filter(|&k| !self.of(k).is_empty()).count()
    }

    /// The coefficients of all of `samples` samples of the only right-hand side.
    pub(super) fn dense(&self, samples: usize) -> Vec<f64> {
        debug_assert_eq!(self.h, 1);
        let mut coef = vec![0.0; samples];
        self.ids.iter().enumerate().for_each(|(k, &id)| self.of(k).iter().for_each(|(_, c)| coef[id] += c));
        coef
    }

    /// Samples and coefficients of a right-hand side.
    pub(super) fn of_column(&self, column: usize) -> impl Iterator<Item = (usize, f64)> {
        let entries = self.ids.iter().enumerate().flat_map(|(k, &id)| self.of(k).iter().map(move |entry| (id, entry)));
        entries.filter(move |(_, entry)| entry.0 == column).map(|(id, entry)| (id, entry.1))
    }

    /// The entries of a sample.
    fn of(&self, k: usize) -> &[(usize, f64)] {
        &self.entries[self.offsets[k]..self.offsets[k + 1]]
    }
}

/// Groups the samples whose coefficients are not all 0.
///
/// In a cross-validation, a bounded sample has the same coefficient in all folds except the one
/// that leaves it out. Machines of pairs of classes have samples of two classes each.
pub(crate) fn coefficient_groups(terms: &SampleTerms) -> Vec<CoefficientGroup> {
    let h = terms.h;
    let group = |columns: Vec<usize>| CoefficientGroup { ids: Vec::new(), coef: Vec::new(), columns };
    let mut apart: Vec<usize> = Vec::new();
    let mut alike = group(vec![h]);
    let mut but_one: Vec<CoefficientGroup> = (0..h).map(|column| group(vec![column, h])).collect();
    for (k, &id) in terms.ids.iter().enumerate().filter(|(k, _)| !terms.of(*k).is_empty()) {
        let (to, coef): (&mut CoefficientGroup, &[f64]) = match (h >= ALIKE).then(|| odd_one(terms.of(k), h)).flatten() {
            Some(OddOne { common, other: None }) => (&mut alike, &[common]),
            Some(OddOne { common, other: Some((at, value)) }) => (&mut but_one[at], &[value - common, common]),
            None => {
                apart.push(k);
                continue;
            }
        };
        to.ids.push(id);
        to.coef.extend_from_slice(coef);
    }
    by_columns(&apart, terms).into_iter().chain([alike]).chain(but_one).filter(|group| !group.ids.is_empty()).collect()
}

/// Coefficients that are equal in all right-hand sides but one at most.
struct OddOne {
    common: f64,
    other: Option<(usize, f64)>,
}

/// The common coefficient of a sample, if there is one.
fn odd_one(entries: &[(usize, f64)], h: usize) -> Option<OddOne> {
    if entries.len() + 1 < h {
        return None;
    }
    // If all but one coefficients are equal, the first or the second one is the common value.
    let others = |common: f64| entries.iter().copied().filter(move |(_, c)| *c != common);
    if entries.len() + 1 == h {
        let zero = (0..h).find(|&at| entries.get(at).is_none_or(|entry| entry.0 != at))?;
        let common = entries.first()?.1;
        return others(common).next().is_none().then_some(OddOne { common, other: Some((zero, 0.0)) });
    }
    [entries[0].1, entries[1].1].into_iter().find_map(|common| {
        let mut others = others(common);
        let other = others.next();
        others.next().is_none().then_some(OddOne { common, other })
    })
}

/// Groups samples by the right-hand sides in which they have nonzero coefficients.
fn by_columns(samples: &[usize], terms: &SampleTerms) -> Vec<CoefficientGroup> {
    let h = terms.h;
    let mut patterns: Vec<Pattern> = Vec::new();
    if h < SPARSE {
        patterns.push(Pattern { members: samples.to_vec(), mask: vec![u64::MAX; h.div_ceil(64)] });
    }
    let mut last = 0;
    let mut mask = vec![0_u64; h.div_ceil(64)];
    for &k in samples.iter().filter(|_| h >= SPARSE) {
        mask.fill(0);
        terms.of(k).iter().for_each(|(j, _)| mask[j / 64] |= 1 << (j % 64));
        // Neighbours are mostly of one class, and their pattern soon has all positions of it.
        if patterns.get(last).is_none_or(|pattern| !pattern.contains(&mask)) {
            // The first pattern with the most common positions.
            let common = patterns.iter().map(|pattern| pattern.common(&mask)).enumerate();
            let best = common.max_by_key(|&(at, common)| (common, usize::MAX - at));
            let half = ones(&mask).div_ceil(2);
            let best = best.filter(|(_, common)| *common >= half || patterns.len() == MOST);
            last = best.map_or(patterns.len(), |(at, _)| at);
        }
        match patterns.get_mut(last) {
            Some(pattern) => pattern.merge(&[k], &mask),
            None => patterns.push(Pattern { members: vec![k], mask: mask.clone() }),
        }
    }
    let (mut patterns, few): (Vec<Pattern>, Vec<Pattern>) =
        patterns.into_iter().partition(|pattern| pattern.members.len() >= FEW);
    patterns.extend(few.into_iter().reduce(|mut all, pattern| {
        all.merge(&pattern.members, &pattern.mask);
        all
    }));
    patterns.into_iter().map(|pattern| pattern.group(terms)).collect()
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

    /// Returns whether all positions of a mask are positions of this pattern.
    fn contains(&self, mask: &[u64]) -> bool {
        self.mask.iter().zip(mask).all(|(own, other)| other & !own == 0)
    }

    /// The group of the pattern's samples.
    fn group(self, terms: &SampleTerms) -> CoefficientGroup {
        let columns: Vec<usize> = (0..terms.h).filter(|j| self.mask[j / 64] >> (j % 64) & 1 == 1).collect();
        let mut place = vec![0; terms.h];
        columns.iter().enumerate().for_each(|(at, &column)| place[column] = at);
        let mut coef = vec![0.0; self.members.len() * columns.len()];
        for (&k, row) in self.members.iter().zip(coef.chunks_exact_mut(columns.len())) {
            terms.of(k).iter().for_each(|&(column, c)| row[place[column]] = c);
        }
        CoefficientGroup { ids: self.members.into_iter().map(|k| terms.ids[k]).collect(), coef, columns }
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
        let groups = coefficient_groups(&SampleTerms::of_matrix(&ids, &coef, h));
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
            assert_eq!(expanded(&coefficient_groups(&SampleTerms::of_matrix(&ids, &coef, h)), n, h), coef, "{h}");
        }
    }
}
