//! The model that owns its samples: growth, keys, saving.

use crate::common::artificial;
use maxmargin_core::Status;
use maxmargin_data::{Par, Samples};
use maxmargin_kernel::Kernel;
use maxmargin_path::{PathConfig, SavedUpdatable, Updatable, UpdatableError};

fn samples(points: &[[f64; 2]]) -> Samples {
    Samples::from_dense(points.len(), 2, points.concat()).expect("finite")
}

fn exact(model: &Updatable, status: Status, what: &str) {
    assert_eq!(status, Status::Converged, "{what}");
    let certificate = model.certify(Par::Seq).expect("samples");
    assert!(certificate.holds(1e-8), "{what}: {certificate:?}");
}

#[test]
fn a_window_slides_and_survives_the_night() {
    let (points, labels) = artificial(1500, 5);
    let (window, stride, c) = (100, 20, 3.0);
    let kernel = Kernel::Rbf { gamma: 1.0 };
    let start = samples(&points[..window]);
    let (mut model, update) =
        Updatable::new(start, labels[..window].to_vec(), kernel, &[c; 100], &[0.0; 100], PathConfig::default()).expect("valid");
    exact(&model, update.status, "start");
    for from in (window..points.len()).step_by(stride) {
        let gone: Vec<u64> = model.keys()[..stride].to_vec();
        let to = from + stride;
        let (keys, update) = model.exchange(&samples(&points[from..to]), &labels[from..to], &[c; 20], &gone).expect("valid");
        assert_eq!(keys, from as u64..to as u64);
        exact(&model, update.status, "window");
        if from % 300 == 0 {
            let text = serde_json::to_string(&model.save()).expect("plain data");
            let saved: SavedUpdatable = serde_json::from_str(&text).expect("what was written");
            let (opened, update) = Updatable::open(saved, None).expect("sound");
            exact(&opened, update.status, "opened");
            assert!((opened.solution().bias - model.solution().bias).abs() < 1e-7);
            assert_eq!(opened.keys(), model.keys());
            model = opened;
        }
    }
    assert_eq!(model.keys(), (1400..1500).collect::<Vec<u64>>());
    // The same window from nothing.
    let (fresh, update) = Updatable::new(
        samples(&points[1400..]),
        labels[1400..].to_vec(),
        Kernel::Rbf { gamma: 1.0 },
        &[c; 100],
        &[0.0; 100],
        PathConfig::default(),
    )
    .expect("valid");
    exact(&fresh, update.status, "fresh");
    for (a, b) in fresh.solution().alpha.iter().zip(&model.solution().alpha) {
        assert!((a - b).abs() < 1e-6, "{a} {b}");
    }
}

#[test]
fn sparse_samples_with_new_features_join() {
    let first = Samples::from_sparse(3, vec![0, 1, 2, 4], vec![0, 1, 0, 2], vec![1.0, 1.0, 0.5, 2.0]).expect("rows");
    let (mut model, _) =
        Updatable::new(first, vec![1.0, -1.0, 1.0], Kernel::Linear, &[2.0; 3], &[0.0; 3], PathConfig::default()).expect("valid");
    let more = Samples::from_sparse(6, vec![0, 2, 3], vec![1, 5, 4], vec![1.0, 3.0, 0.25]).expect("rows");
    let (keys, update) = model.add(&more, &[1.0, -1.0], &[2.0, 2.0]).expect("valid");
    assert_eq!(keys, 3..5);
    exact(&model, update.status, "joined");
    let update = model.remove(&[0, 4]).expect("keys");
    exact(&model, update.status, "left");
    let update = model.set_c(0.3).expect("valid");
    exact(&model, update.status, "C");
    assert_eq!(model.remove(&[0]), Err(UpdatableError::Key(0)));
    let before = model.save();
    assert!(model.add(&more, &[1.0, 0.0], &[2.0, 2.0]).is_err());
    assert!(model.add(&more, &[1.0], &[2.0, 2.0]).is_err());
    assert!(model.exchange(&more, &[1.0, 1.0], &[2.0, 2.0], &[1, 1]).is_err());
    assert_eq!(model.save(), before);
}

/// A saved model may have the last possible key as its next one: keys once began again at 0.
#[test]
fn keys_that_run_out_are_an_error() {
    let start = samples(&[[0.0, 0.0], [1.0, 1.0]]);
    let (model, _) =
        Updatable::new(start, vec![1.0, -1.0], Kernel::Linear, &[2.0; 2], &[0.0; 2], PathConfig::default()).expect("valid");
    let saved = SavedUpdatable { next: u64::MAX - 1, ..model.save() };
    let (mut model, _) = Updatable::open(saved, None).expect("ascending keys");
    let before = model.save();
    let more = samples(&[[2.0, 0.0], [0.0, 2.0]]);
    let refused = model.add(&more, &[1.0, -1.0], &[2.0, 2.0]);
    assert_eq!(refused.err(), Some(UpdatableError::Exhausted(u64::MAX - 1)));
    assert_eq!(model.save(), before);
    assert!(model.add(&samples(&[[2.0, 0.0]]), &[1.0], &[2.0]).is_ok());
}

#[test]
fn a_precomputed_kernel_cannot_grow() {
    let table = Samples::from_dense(1, 2, vec![1.0, 1.0]).expect("one row");
    let result = Updatable::new(table, vec![1.0], Kernel::Precomputed, &[1.0], &[0.0], PathConfig::default());
    assert_eq!(result.err(), Some(UpdatableError::Precomputed));
}
