//! Zeros and ones whose features fall into few groups with at most one 1 of a sample in each, as
//! one-hot columns do: a sample is one category of each group. A dot product is the number of
//! groups in which two samples have the same category.

use crate::store::blocks::{Panels, STRIDE};
use maxmargin_data::{Cancelled, Row, RunControl, Samples};
use maxmargin_simd::bits::PANEL;
use maxmargin_simd::categories::{are_faster, products};

/// Largest number of categories of a group. The others of 256 bytes are [`NONE`] and [`OTHER`].
const MOST: usize = 254;

/// The byte of a sample without a category in a group, and that of such a sample as a row, which
/// is equal to no byte of a panel.
const NONE: u8 = 0;
const OTHER: u8 = 255;

/// Largest number of features: groups are found by a bit for each pair.
const FEATURES: usize = 8192;

/// Samples as categories.
#[derive(Clone, Debug)]
pub(crate) struct Categories {
    /// Number of groups.
    groups: usize,
    /// The categories of the panels; group `k` of sample `j` of a panel is its element `k * PANEL +
    /// j`.
    panels: Vec<u8>,
}

impl Categories {
    /// Samples of zeros and ones as categories, if products are then faster than by bits in `words`
    /// words of each.
    pub(crate) fn new(samples: &Samples, words: usize, control: &RunControl) -> Result<Option<Self>, Cancelled> {
        let features = samples.features();
        let mut largest = 0;
        samples.each_row(control, |_, row| {
            let mut ones = 0;
            row.for_each(|_, v| ones += usize::from(v != 0.0));
            largest = largest.max(ones);
        })?;
        if features == 0 || features > FEATURES || !are_faster(largest.max(1), words) {
            return Ok(None);
        }
        let mut shared = SharedFeatures::new(features);
        samples.each_row(control, |_, row| shared.add(row))?;
        let Some(Grouping { groups, places }) = shared.grouping(words) else { return Ok(None) };
        let mut panels = vec![NONE; samples.len().div_ceil(PANEL) * PANEL * groups];
        samples.each_row(control, |i, row| {
            row.for_each(|k, v| {
                if v != 0.0 {
                    panels[place(i, places[k].group, groups)] = places[k].category;
                }
            });
        })?;
        Ok(Some(Self { groups, panels }))
    }

    /// The samples `ids`, in that order.
    pub(crate) fn select(&self, ids: &[usize]) -> Self {
        let groups = self.groups;
        let mut panels = vec![NONE; ids.len().div_ceil(PANEL) * PANEL * groups];
        for (to, &i) in ids.iter().enumerate() {
            (0..groups).for_each(|k| panels[place(to, k, groups)] = self.panels[place(i, k, groups)]);
        }
        Self { groups, panels }
    }

    /// Size in bytes.
    pub(crate) fn bytes(&self) -> usize {
        self.panels.len()
    }
}

/// The position of a group of sample `i`, of so many groups.
fn place(i: usize, group: usize, groups: usize) -> usize {
    (i / PANEL * groups + group) * PANEL + i % PANEL
}

impl Panels for Categories {
    type Row = u8;
    type Sum = i32;
    const WIDTH: usize = PANEL;

    fn sample_bytes(&self) -> usize {
        self.groups
    }

    fn load(&self, ids: &[usize], rows: &mut Vec<u8>) {
        rows.clear();
        for &i in ids {
            let from = &self.panels[place(i, 0, self.groups)..];
            let categories = from.iter().step_by(PANEL).take(self.groups);
            rows.extend(categories.map(|&category| if category == NONE { OTHER } else { category }));
        }
    }

    fn multiply(&self, rows: &[u8], count: usize, panel: usize, out: &mut [i32], _: usize, _: &[i32]) {
        let size = PANEL * self.groups;
        products(rows, count, &self.panels[panel * size..][..size], out, STRIDE);
    }
}

/// A feature's group, and its category there.
#[derive(Clone, Copy)]
struct Place {
    group: usize,
    category: u8,
}

/// Features in groups.
struct Grouping {
    groups: usize,
    /// The place of each feature.
    places: Vec<Place>,
}

/// The features of a group, as bits, and their number.
struct Group {
    size: usize,
    features: Vec<u64>,
}

/// Pairs of features that some sample has both of, as a row of bits for each feature.
struct SharedFeatures {
    words: usize,
    bits: Vec<u64>,
    /// The features of one sample, in a list and as bits.
    ones: Vec<usize>,
    row: Vec<u64>,
}

impl SharedFeatures {
    fn new(features: usize) -> Self {
        let words = features.div_ceil(64).max(1);
        Self { words, bits: vec![0; words * features], ones: Vec::new(), row: vec![0; words] }
    }

    /// Adds all pairs of a sample.
    fn add(&mut self, row: Row) {
        self.ones.clear();
        self.row.fill(0);
        row.for_each(|k, v| {
            if v != 0.0 {
                self.ones.push(k);
                self.row[k / 64] |= 1 << (k % 64);
            }
        });
        for &k in &self.ones {
            self.bits[k * self.words..][..self.words].iter_mut().zip(&self.row).for_each(|(all, row)| *all |= row);
        }
    }

    /// Groups without such a pair: each feature joins the first group that has room for it. None if
    /// there are too many groups for rows of so many words.
    fn grouping(&self, words: usize) -> Option<Grouping> {
        let mut groups: Vec<Group> = Vec::new();
        let mut places = Vec::with_capacity(self.bits.len() / self.words);
        for (feature, shared) in self.bits.chunks_exact(self.words).enumerate() {
            let joins = |group: &Group| group.size < MOST && group.features.iter().zip(shared).all(|(a, b)| a & b == 0);
            let at = groups.iter().position(joins).unwrap_or(groups.len());
            if at == groups.len() {
                if !are_faster(at + 1, words) {
                    return None;
                }
                groups.push(Group { size: 0, features: vec![0; self.words] });
            }
            let group = &mut groups[at];
            group.size += 1;
            group.features[feature / 64] |= 1 << (feature % 64);
            places.push(Place { group: at, category: group.size as u8 });
        }
        Some(Grouping { groups: groups.len(), places })
    }
}

#[cfg(test)]
mod tests {
    //! Groups of features, and products by categories.

    use super::*;

    /// Samples of `attributes` one-hot attributes with `kinds` categories each; `extra` samples
    /// have two categories of the first attribute.
    fn one_hot(samples: usize, attributes: usize, kinds: usize, extra: usize) -> Samples {
        let rows: Vec<Vec<f64>> = (0..samples)
            .map(|i| {
                let mut row = vec![0.0; attributes * kinds];
                // The last category stands for a missing one.
                let kind = |a: usize| (i * (2 * a + 3) + i * i / 5) % (kinds + 1);
                (0..attributes).filter(|&a| kind(a) < kinds).for_each(|a| row[a * kinds + kind(a)] = 1.0);
                if i % 97 == 96 && i / 97 < extra {
                    (row[0], row[1]) = (1.0, 1.0);
                }
                row
            })
            .collect();
        Samples::from_rows(&rows).expect("rows of one length")
    }

    fn dot(samples: &Samples, i: usize, j: usize) -> i32 {
        let values = |i: usize| {
            let mut values = vec![0.0; samples.features()];
            samples.row(i).for_each(|k, v| values[k] = v);
            values
        };
        values(i).iter().zip(values(j)).map(|(a, b)| a * b).sum::<f64>() as i32
    }

    #[test]
    fn products_count_equal_categories() {
        let control = RunControl::unlimited();
        for (attributes, kinds, extra) in [(3, 40, 0), (6, 30, 3), (2, 300, 0)] {
            let samples = one_hot(400, attributes, kinds, extra);
            let words = samples.features().div_ceil(64);
            let all = Categories::new(&samples, words, &control).expect("unlimited").expect("few groups");
            let ids: Vec<usize> = (0..400).rev().step_by(3).collect();
            let part = all.select(&ids);
            let mut rows = Vec::new();
            part.load(&[7, 100], &mut rows);
            for panel in 0..ids.len() / PANEL {
                let mut sums = vec![0; 2 * STRIDE];
                part.multiply(&rows, 2, panel, &mut sums, 0, &[]);
                for (r, row) in [7, 100].into_iter().enumerate() {
                    for j in 0..PANEL {
                        let expected = dot(&samples, ids[row], ids[panel * PANEL + j]);
                        assert_eq!(sums[r * STRIDE + j], expected, "{attributes} attributes, {row} and {j} of panel {panel}");
                    }
                }
            }
        }
    }

    #[test]
    fn bits_without_groups_stay_bits() {
        let none = Samples::from_rows(&[[0.0; 0]; 5]).expect("rows of one length");
        assert!(Categories::new(&none, 1, &RunControl::unlimited()).expect("unlimited").is_none(), "no features, no groups");
        let rows: Vec<Vec<f64>> = (0..200).map(|i| (0..64).map(|k| f64::from(u8::from((i * k) % 3 == 0))).collect()).collect();
        let samples = Samples::from_rows(&rows).expect("rows of one length");
        let control = RunControl::unlimited();
        assert!(Categories::new(&samples, 1, &control).expect("unlimited").is_none());
    }
}
