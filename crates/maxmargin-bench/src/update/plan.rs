//! Which samples come and leave.

use crate::cell::job::Update as Cell;
use crate::cell::update_samples::UpdateSamples;
use crate::failure::Failure;
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;

/// One update, in rows of the pool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Change {
    pub(crate) add: Vec<usize>,
    pub(crate) remove: Vec<usize>,
}

/// Updates one after the other, from the first model without `held_back`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Course {
    pub(crate) held_back: Vec<usize>,
    pub(crate) changes: Vec<Change>,
}

/// Samples of the first model and of the pool, which holds all samples that ever take part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Extent {
    pub(crate) window: usize,
    pub(crate) pool: usize,
}

impl Extent {
    pub(crate) fn of(cell: &Cell, rows: usize) -> Result<Self, Failure> {
        let coming = match cell.pick {
            UpdateSamples::Order => cell.add * cell.updates,
            UpdateSamples::Bounded | UpdateSamples::Free | UpdateSamples::Zero => 0,
        };
        let window = cell.window.unwrap_or_else(|| rows.saturating_sub(coming));
        let pool = window + coming;
        // The oldest are rows of the window even if nothing comes.
        let leaving = if cell.pick == UpdateSamples::Order { cell.remove * cell.updates } else { 0 };
        let needed = pool.max(leaving + 1);
        if needed > rows || leaving >= pool {
            return Err(Failure::Window { window, updates: cell.updates, needed, rows });
        }
        Ok(Self { window, pool })
    }
}

/// The updates of a cell; `picked` are the rows of the first model whose α is what the cell picks.
pub(crate) fn courses(cell: &Cell, extent: Extent, picked: &[usize]) -> Result<Vec<Course>, Failure> {
    match cell.pick {
        UpdateSamples::Order => Ok(vec![Course { held_back: Vec::new(), changes: slides(cell, extent.window) }]),
        UpdateSamples::Bounded | UpdateSamples::Free | UpdateSamples::Zero => draws(cell, picked),
    }
}

fn slides(cell: &Cell, window: usize) -> Vec<Change> {
    let slide = |u: usize| Change {
        add: (window + u * cell.add..window + (u + 1) * cell.add).collect(),
        remove: (u * cell.remove..(u + 1) * cell.remove).collect(),
    };
    (0..cell.updates).map(slide).collect()
}

/// Independent draws without replacement, from one stream of random numbers.
fn draws(cell: &Cell, picked: &[usize]) -> Result<Vec<Course>, Failure> {
    let wanted = cell.add + cell.remove;
    if wanted > picked.len() {
        return Err(Failure::Picked { wanted, what: cell.pick.words(), found: picked.len() });
    }
    let mut random = ChaCha8Rng::seed_from_u64(cell.setting.seed);
    let draw = |_| {
        let mut rows = picked.to_vec();
        rows.shuffle(&mut random);
        let (mut add, mut remove) = (rows[..cell.add].to_vec(), rows[cell.add..wanted].to_vec());
        add.sort_unstable();
        remove.sort_unstable();
        Course { held_back: add.clone(), changes: vec![Change { add, remove }] }
    };
    Ok((0..cell.updates).map(draw).collect())
}

/// The rows of the model after a change, ascending.
pub(crate) fn members(ids: &[usize], change: &Change) -> Vec<usize> {
    let mut after: Vec<usize> = ids.iter().copied().filter(|id| !change.remove.contains(id)).collect();
    after.extend(&change.add);
    after.sort_unstable();
    after
}

#[cfg(test)]
mod tests {
    use super::{Change, Extent, courses, members};
    use crate::cell::job::Update as Cell;
    use crate::failure::Failure;
    use serde_json::json;

    fn cell(more: &serde_json::Value) -> Cell {
        let mut cell = json!({"data": {"file": "x"}, "kernel": "rbf", "c": 1.0, "tol": 1e-8, "method": "mid"});
        let all = cell.as_object_mut().expect("object");
        all.extend(more.as_object().expect("object").clone());
        serde_json::from_value(cell).expect("cell")
    }

    #[test]
    fn windows_slide() {
        let cell = cell(&json!({"add": 2, "remove": 1, "updates": 3}));
        let extent = Extent::of(&cell, 10).expect("rows enough");
        assert_eq!(extent, Extent { window: 4, pool: 10 });
        let course = courses(&cell, extent, &[]).expect("course").remove(0);
        assert_eq!(course.changes[1], Change { add: vec![6, 7], remove: vec![1] });
        assert_eq!(members(&[0, 1, 2, 3], &course.changes[0]), [1, 2, 3, 4, 5]);
    }

    #[test]
    fn windows_that_do_not_fit_are_refused() {
        let window = |more| Extent::of(&cell(&more), 10);
        assert!(matches!(window(json!({"add": 2, "window": 9})), Err(Failure::Window { needed: 11, .. })));
        assert!(matches!(window(json!({"remove": 5, "updates": 2})), Err(Failure::Window { .. })));
        assert_eq!(window(json!({"add": 2, "window": 8})).expect("fits"), Extent { window: 8, pool: 10 });
    }

    #[test]
    fn draws_are_of_bounded_samples_and_do_not_overlap() {
        let cell = cell(&json!({"add": 3, "remove": 2, "updates": 4, "pick": "bounded", "seed": 7}));
        let extent = Extent::of(&cell, 20).expect("rows enough");
        assert_eq!(extent, Extent { window: 20, pool: 20 });
        let bounded: Vec<usize> = (0..20).step_by(3).collect();
        let all = courses(&cell, extent, &bounded).expect("enough at C");
        assert_eq!(all.len(), 4);
        assert!(all.windows(2).any(|w| w[0] != w[1]), "every draw is the same");
        for course in &all {
            let change = &course.changes[0];
            assert_eq!((course.held_back.as_slice(), change.remove.len()), (change.add.as_slice(), 2));
            assert!(change.add.iter().chain(&change.remove).all(|row| bounded.contains(row)));
            assert!(change.add.iter().all(|row| !change.remove.contains(row)));
        }
        assert!(matches!(courses(&cell, extent, &bounded[..4]), Err(Failure::Picked { wanted: 5, what: "alpha = C", found: 4 })));
    }
}
