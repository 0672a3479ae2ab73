//! Problems of two to four points, solved by hand.

use crate::common::{Form, assert_exact, gram};
use maxmargin_core::{Dual, EqualityConstraint, RunControl, Status};
use maxmargin_path::{Added, Path, PathConfig, PathError, polish};

fn added(ids: &[usize], upper: f64) -> Vec<Added> {
    ids.iter().map(|&id| Added { id, upper }).collect()
}

fn close(a: f64, b: f64) {
    assert!((a - b).abs() < 1e-12, "{a} is not {b}");
}

/// On the line, points ±1 with a linear kernel: w = 1, b = 0, α = ½.
#[test]
fn two_points_at_once() {
    let gram = gram(&[[1.0, 0.0], [-1.0, 0.0]], Form::Linear);
    let mut path = Path::new(&gram, &[1.0, -1.0], PathConfig::default()).expect("two labels");
    let update = path.change(&added(&[0, 1], 10.0), &[]).expect("two new samples");
    assert_exact(&path, &gram, &update, "two points");
    assert_eq!(update.repairs, 0, "{update:?}");
    close(path.alpha(0).expect("a member"), 0.5);
    close(path.alpha(1).expect("a member"), 0.5);
    close(path.bias(), 0.0);
    // A C below ½ binds: the margin is then empty, and the bias is the middle of its interval.
    let update = path.set_c(0.25).expect("a possible C");
    assert_exact(&path, &gram, &update, "small C");
    close(path.alpha(0).expect("a member"), 0.25);
    assert_eq!((update.margin, update.bounded, update.repairs), (0, 2, 0));
    let update = path.set_c(10.0).expect("a possible C");
    assert_exact(&path, &gram, &update, "large C again");
    assert_eq!(update.repairs, 0);
    close(path.alpha(0).expect("a member"), 0.5);
}

/// A sample at the origin, which holds the bias at −1, against 40 orthogonal ones of the other
/// label with `K_ii = 2 / (1 + i·10⁻⁴)`: each is free from α = 1 + i·10⁻⁴ on. While C goes from 1
/// to 2, breakpoint `i` is at `τ = i·10⁻⁴`: steps of 10⁻⁴ are no ties.
#[test]
fn short_steps_are_not_of_length_zero() {
    let own = |i: usize| if i == 0 { 0.0 } else { 2.0 / (1.0 + 1e-4 * i as f64) };
    let gram = maxmargin_kernel::FnGram::new(41, move |i, j| if i == j { own(i) } else { 0.0 });
    let labels: Vec<f64> = (0..41).map(|i| if i == 0 { -1.0 } else { 1.0 }).collect();
    let mut path = Path::new(&gram, &labels, PathConfig::default()).expect("labels");
    let mut all = added(&[0], 1000.0);
    all.extend(added(&(1..41).collect::<Vec<_>>(), 1.0));
    let update = path.change(&all, &[]).expect("new");
    assert_exact(&path, &gram, &update, "small C");
    assert_eq!((update.margin, update.bounded), (1, 40));
    let doubled: Vec<(usize, f64)> = (1..41).map(|id| (id, 2.0)).collect();
    let update = path.set_weights(&doubled).expect("members");
    assert_exact(&path, &gram, &update, "doubled C");
    assert_eq!((update.breakpoints, update.zero_steps, update.repairs), (40, 0, 0), "{update:?}");
    assert_eq!((update.margin, update.bounded, update.travelled), (41, 0, 1.0));
    (1..41).for_each(|id| close(path.alpha(id).expect("a member"), 1.0 + 1e-4 * id as f64));
    close(path.alpha(0).expect("a member"), 40.082);
    close(path.bias(), -1.0);
}

/// Points 0, 1 (negative, positive). A third, 3 (positive), is no support vector; a fourth, 0.5
/// (negative), changes the solution to w = 4, b = −3.
#[test]
fn a_nearer_point_takes_over() {
    let gram = gram(&[[0.0, 0.0], [1.0, 0.0], [3.0, 0.0], [0.5, 0.0]], Form::Linear);
    let mut path = Path::new(&gram, &[-1.0, 1.0, 1.0, -1.0], PathConfig::default()).expect("four labels");
    let update = path.change(&added(&[0, 1], 100.0), &[]).expect("new");
    assert_exact(&path, &gram, &update, "first two");
    close(path.alpha(0).expect("a member"), 2.0);
    close(path.bias(), -1.0);
    let update = path.change(&added(&[2], 100.0), &[]).expect("new");
    assert_eq!((update.breakpoints, update.bounded), (0, 0), "a sample beyond the margin costs nothing");
    let update = path.change(&added(&[3], 100.0), &[]).expect("new");
    assert_exact(&path, &gram, &update, "fourth");
    assert_eq!(update.repairs, 0);
    close(path.alpha(0).expect("a member"), 0.0);
    close(path.alpha(1).expect("a member"), 8.0);
    close(path.alpha(3).expect("a member"), 8.0);
    close(path.bias(), -3.0);
    let update = path.change(&[], &[3, 2]).expect("members");
    assert_exact(&path, &gram, &update, "back");
    assert_eq!(update.repairs, 0);
    close(path.alpha(0).expect("a member"), 2.0);
    close(path.alpha(1).expect("a member"), 2.0);
}

#[test]
fn one_class_has_alpha_zero_and_the_class_may_change() {
    let gram = gram(&[[0.0, 0.0], [1.0, 0.0], [2.0, 1.0], [-1.0, 0.5]], Form::Rbf(1.0));
    let mut path = Path::new(&gram, &[1.0, 1.0, -1.0, -1.0], PathConfig::default()).expect("four labels");
    let update = path.change(&added(&[0, 1], 1.0), &[]).expect("new");
    assert_exact(&path, &gram, &update, "one class");
    assert_eq!((path.alpha(0), path.alpha(1), path.bias()), (Some(0.0), Some(0.0), 1.0));
    let update = path.change(&added(&[2, 3], 1.0), &[0]).expect("new and old");
    assert_exact(&path, &gram, &update, "two classes");
    let update = path.change(&[], &[1]).expect("a member");
    assert_exact(&path, &gram, &update, "the other class");
    assert_eq!((path.alpha(2), path.alpha(3)), (Some(0.0), Some(0.0)));
    close(path.bias(), -1.0);
    let update = path.change(&[], &[2, 3]).expect("members");
    assert_eq!((update.status, path.len()), (Status::Converged, 0));
    assert!(path.dual().is_none());
}

#[test]
fn duplicates_need_no_ridge() {
    // Every point four times, with both labels at one of them.
    let points: Vec<[f64; 2]> = (0..16).map(|i| [f64::from(i % 4), f64::from(i % 2)]).collect();
    let labels: Vec<f64> = (0..16).map(|i| if i % 4 < 2 || i == 15 { 1.0 } else { -1.0 }).collect();
    for form in [Form::Linear, Form::Rbf(0.7), Form::Poly] {
        let gram = gram(&points, form);
        let mut path = Path::new(&gram, &labels, PathConfig::default()).expect("labels");
        for id in 0..16 {
            let update = path.change(&added(&[id], 1.5), &[]).expect("new");
            assert_exact(&path, &gram, &update, &format!("{form:?} + {id}"));
        }
        let update = path.change(&[], &[0, 1, 2, 3, 15]).expect("members");
        assert_exact(&path, &gram, &update, &format!("{form:?} − 5"));
    }
}

#[test]
fn a_weight_of_zero_silences() {
    let gram = gram(&[[0.0, 0.0], [1.0, 0.0], [3.0, 0.0], [0.5, 0.0]], Form::Linear);
    let mut path = Path::new(&gram, &[-1.0, 1.0, 1.0, -1.0], PathConfig::default()).expect("four labels");
    path.change(&added(&[0, 1, 2, 3], 100.0), &[]).expect("new");
    let update = path.set_weight(3, 0.0).expect("a member");
    assert_exact(&path, &gram, &update, "silenced");
    assert_eq!(path.alpha(3), Some(0.0));
    close(path.alpha(0).expect("a member"), 2.0);
    let update = path.set_weight(3, 4.0).expect("a member");
    assert_exact(&path, &gram, &update, "heard again");
    close(path.alpha(3).expect("a member"), 4.0);
}

#[test]
fn a_limit_stops_the_path_and_it_goes_on() {
    let (points, labels) = crate::common::artificial(80, 3);
    let gram = gram(&points, Form::Rbf(1.0));
    let mut whole = Path::new(&gram, &labels, PathConfig::default()).expect("labels");
    let all: Vec<usize> = (0..60).collect();
    whole.change(&added(&all, 5.0), &[]).expect("new");
    let reference = {
        let mut path = whole.clone();
        path.change(&[], &(0..20).collect::<Vec<_>>()).expect("members");
        path.solution()
    };
    let mut limited = Path::restore(&gram, &labels, &whole.save(), PathConfig::default().with_limit(Some(3))).expect("saved").0;
    let update = limited.change(&[], &(0..20).collect::<Vec<_>>()).expect("members");
    assert_eq!((update.status, update.breakpoints), (Status::IterationLimit, 3));
    assert!(update.travelled > 0.0 && update.travelled < 1.0);
    assert!(limited.unfinished() && !whole.unfinished());
    assert_eq!(limited.change(&[], &[21]), Err(PathError::Unfinished));
    let (mut finished, mut seeded) = (limited.clone(), limited.clone());
    let update = limited.resume(None).expect("whole");
    assert_exact(&limited, &gram, &update, "resumed");
    let update = finished.finish().expect("whole");
    assert_exact(&finished, &gram, &update, "finished");
    let update = seeded.finish_with(|dual, _| crate::common::pairwise(dual, &gram, 1e-3)).expect("an alpha per variable");
    assert_exact(&seeded, &gram, &update, "seeded");
    for path in [&limited, &finished, &seeded] {
        assert!(!path.unfinished());
        assert!((path.bias() - reference.bias).abs() < 1e-7);
        for (a, b) in path.solution().alpha.iter().zip(&reference.alpha) {
            assert!((a - b).abs() < 1e-6, "{a} {b}");
        }
    }
}

#[test]
fn bad_requests_are_refused_and_change_nothing() {
    let gram = gram(&[[0.0, 0.0], [1.0, 0.0], [3.0, 0.0]], Form::Linear);
    assert!(matches!(Path::new(&gram, &[1.0], PathConfig::default()).err(), Some(PathError::Length { .. })));
    assert!(matches!(Path::new(&gram, &[1.0, 0.0, 1.0], PathConfig::default()).err(), Some(PathError::Label { id: 1, .. })));
    let mut path = Path::new(&gram, &[-1.0, 1.0, 1.0], PathConfig::default()).expect("labels");
    path.change(&added(&[0, 1], 1.0), &[]).expect("new");
    let before = path.save();
    assert_eq!(path.change(&added(&[7], 1.0), &[]), Err(PathError::Unknown { id: 7, pool: 3 }));
    assert_eq!(path.change(&added(&[1], 1.0), &[]), Err(PathError::Member(1)));
    assert_eq!(path.change(&added(&[2, 2], 1.0), &[]), Err(PathError::Twice(2)));
    assert_eq!(path.change(&added(&[2], 1.0), &[2]), Err(PathError::Twice(2)));
    assert_eq!(path.change(&[], &[2]), Err(PathError::NotMember(2)));
    assert_eq!(path.change(&added(&[2], -1.0), &[]), Err(PathError::Upper { id: 2, value: -1.0 }));
    assert!(matches!(path.set_c(f64::NAN), Err(PathError::Upper { .. })));
    assert_eq!(path.set_weight(2, 1.0), Err(PathError::NotMember(2)));
    assert_eq!(path.save(), before);
}

/// One-class: `Σ α = 1`, no linear term, three points on a line. The minimum of ½‖Σ α x‖² has all
/// weight on the smallest.
#[test]
fn other_problems_can_be_polished() {
    let points = gram(&[[1.0, 0.0], [2.0, 0.0], [3.0, 0.0]], Form::Linear);
    let dual =
        |upper: f64, balance| Dual::new(vec![2, 0, 1], vec![1.0; 3], vec![0.0; 3], vec![upper; 3], 0.0, balance).expect("valid");
    for balance in [EqualityConstraint::Sum(1.0), EqualityConstraint::Simplex] {
        let polished =
            polish(&dual(1.0, balance), &points, &[0.3, 0.3, 0.4], 1 << 20, &RunControl::unlimited()).expect("supported");
        assert_eq!(polished.solution.status, Status::Converged);
        assert_eq!(polished.solution.alpha, [0.0, 1.0, 0.0]);
        let polished = polish(&dual(0.6, balance), &points, &[0.0; 3], 1 << 20, &RunControl::unlimited()).expect("supported");
        close(polished.solution.alpha[1], 0.6);
        close(polished.solution.alpha[2], 0.4);
    }
    assert_eq!(
        polish(&dual(0.3, EqualityConstraint::Sum(1.0)), &points, &[0.0; 3], 0, &RunControl::unlimited()),
        Err(PathError::Infeasible)
    );
    assert_eq!(
        polish(&dual(1.0, EqualityConstraint::Free), &points, &[0.0; 3], 0, &RunControl::unlimited()),
        Err(PathError::Unsupported)
    );
    assert!(matches!(
        polish(&dual(1.0, EqualityConstraint::Sum(1.0)), &points, &[0.0; 2], 0, &RunControl::unlimited()),
        Err(PathError::Length { .. })
    ));
}
