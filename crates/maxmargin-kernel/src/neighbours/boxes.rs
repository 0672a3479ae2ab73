//! A tree of boxes over samples of few features: which parts of them may be near each other.

use std::ops::Range;

/// The largest number of samples in a leaf.
const LEAF: usize = 128;

/// The features of samples.
pub(crate) struct Coordinates {
    /// The coordinates of the samples, one sample after the other.
    pub(crate) values: Vec<f64>,
    /// Number of coordinates of a sample, at least 1.
    pub(crate) width: usize,
}

/// Samples in the order of a tree whose leaves are consecutive, with a box around each node.
pub(crate) struct BoxTree {
    /// The samples, leaf by leaf.
    pub(crate) order: Vec<usize>,
    nodes: Vec<Node>,
    /// Lower and upper bounds of each node, coordinate by coordinate.
    bounds: Vec<[f64; 2]>,
    width: usize,
}

struct Node {
    /// The places in the order.
    places: Range<usize>,
    /// The node after this one's left part; 0 for a leaf. The left part follows the node itself.
    right: usize,
}

impl BoxTree {
    /// Splits samples at the median of the coordinate in which they are furthest apart.
    pub(crate) fn new(coordinates: &Coordinates) -> Self {
        let Coordinates { values, width } = coordinates;
        let len = values.len() / width;
        let mut tree = Self { order: (0..len).collect(), nodes: Vec::new(), bounds: Vec::new(), width: *width };
        tree.split(values, 0..len);
        tree
    }

    /// Adds the node of these places and all nodes below it.
    fn split(&mut self, values: &[f64], places: Range<usize>) {
        let node = self.nodes.len();
        self.nodes.push(Node { places: places.clone(), right: 0 });
        let first = self.bounds.len();
        self.bounds.resize(first + self.width, [f64::INFINITY, f64::NEG_INFINITY]);
        for &i in &self.order[places.clone()] {
            let sample = &values[i * self.width..(i + 1) * self.width];
            for (bounds, v) in self.bounds[first..].iter_mut().zip(sample) {
                *bounds = [bounds[0].min(*v), bounds[1].max(*v)];
            }
        }
        let widths = self.bounds[first..].iter().map(|[low, high]| high - low).enumerate();
        let Some((widest, width)) = widths.max_by(|a, b| a.1.total_cmp(&b.1)) else { return };
        if places.len() <= LEAF || width <= 0.0 {
            return;
        }
        let middle = (places.len() / 2).next_multiple_of(LEAF / 2);
        let key = |i: usize| values[i * self.width + widest];
        self.order[places.clone()].select_nth_unstable_by(middle, |&a, &b| key(a).total_cmp(&key(b)).then(a.cmp(&b)));
        self.split(values, places.start..places.start + middle);
        self.nodes[node].right = self.nodes.len();
        self.split(values, places.start + middle..places.end);
    }

    /// The leaves, in the order of their places.
    pub(crate) fn leaves(&self) -> Vec<usize> {
        (0..self.nodes.len()).filter(|&node| self.nodes[node].right == 0).collect()
    }

    /// The places of a leaf.
    pub(crate) fn places(&self, leaf: usize) -> Range<usize> {
        self.nodes[leaf].places.clone()
    }

    /// The places from those of a leaf on that may hold samples within the squared distance `reach`
    /// of one of its samples, as runs.
    pub(crate) fn near(&self, leaf: usize, reach: f64) -> Vec<Range<usize>> {
        let first = self.nodes[leaf].places.start;
        let mut runs: Vec<Range<usize>> = Vec::new();
        let mut pending = vec![0];
        while let Some(at) = pending.pop() {
            let node = &self.nodes[at];
            if node.places.end <= first || self.apart(leaf, at) > reach {
                continue;
            }
            if node.right != 0 {
                pending.extend([node.right, at + 1]);
                continue;
            }
            match runs.last_mut() {
                Some(run) if run.end == node.places.start => run.end = node.places.end,
                _ => runs.push(node.places.clone()),
            }
        }
        runs
    }

    /// The squared distance of two boxes.
    fn apart(&self, one: usize, other: usize) -> f64 {
        let bounds = |node: usize| &self.bounds[node * self.width..(node + 1) * self.width];
        let gaps = bounds(one).iter().zip(bounds(other)).map(|(a, b)| (a[0] - b[1]).max(b[0] - a[1]).max(0.0));
        gaps.map(|gap| gap * gap).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::{BoxTree, Coordinates};
    use proptest::prelude::*;

    proptest! {
        /// Every pair within reach is among the runs of the leaf of its first sample.
        #[test]
        fn no_near_pair_is_missed(
            values in prop::collection::vec(prop_oneof![-50_i32..50, Just(7)], 2..1500),
            features in 1_usize..4,
            reach in 0.0_f64..40.0,
        ) {
            let len = values.len() / features;
            prop_assume!(len > 0);
            let values: Vec<f64> = values[..len * features].iter().map(|v| f64::from(*v) / 4.0).collect();
            let tree = BoxTree::new(&Coordinates { values: values.clone(), width: features });
            let mut sorted = tree.order.clone();
            sorted.sort_unstable();
            prop_assert_eq!(sorted, (0..len).collect::<Vec<usize>>());
            let sample = |place: usize| &values[tree.order[place] * features..][..features];
            let mut places = 0;
            for leaf in tree.leaves() {
                let own = tree.places(leaf);
                prop_assert_eq!(own.start, places);
                places = own.end;
                let runs = tree.near(leaf, reach);
                prop_assert!(runs.windows(2).all(|pair| pair[0].end < pair[1].start));
                for one in own {
                    for other in one..len {
                        let squared: f64 = sample(one).iter().zip(sample(other)).map(|(a, b)| (a - b) * (a - b)).sum();
                        prop_assert!(squared > reach || runs.iter().any(|run| run.contains(&other)), "{one} {other}");
                    }
                }
            }
            prop_assert_eq!(places, len);
        }
    }
}
