//! Tests of dual problems: shared parts, folds and refusals.

use super::*;

#[test]
fn consecutive_ids_make_one_segment() {
    let segments = segments_of(&[3, 4, 5, 9, 10, 2]);
    let expected = [(3..6, 0), (9..11, 3), (2..3, 5)];
    assert_eq!(segments.len(), 3);
    for (segment, (ids, at)) in segments.iter().zip(expected) {
        assert_eq!((segment.ids.clone(), segment.at), (ids, at));
    }
}

#[test]
fn a_fold_is_the_same_problem_with_other_boxes() {
    let ids = vec![3, 4, 5, 9, 10];
    let all = Dual::c_svc(ids, vec![1.0, -1.0, 1.0, -1.0, 1.0], vec![2.0; 5]).expect("a problem");
    let fold = all.with_upper(vec![2.0, 0.0, 2.0, 2.0, 0.0]).expect("both signs are left");
    assert!(Arc::ptr_eq(&all.shape, &fold.shape));
    let (part, kept) = fold.taking_part().expect("two do not take part");
    assert_eq!((part.ids(), kept), (&[3, 5, 9][..], vec![0, 2, 3]));
    assert_eq!((part.sign(), part.upper()), (&[1.0, 1.0, -1.0][..], &[2.0; 3][..]));
    assert!(all.taking_part().is_none());
    assert_eq!(all.with_upper(vec![2.0, 0.0, 2.0, 0.0, 0.0]), Err(DualError::OneClass));
    assert_eq!(all.with_upper(vec![-1.0; 5]), Err(DualError::Upper { variable: 0, value: -1.0 }));
    assert!(matches!(all.with_upper(vec![1.0; 4]), Err(DualError::Length { found: 4, expected: 5, .. })));
}

#[test]
fn impossible_problems_are_refused() {
    assert_eq!(Dual::c_svc(vec![], vec![], vec![]), Err(DualError::Empty));
    let largest = Dual::c_svc(vec![0, usize::MAX], vec![1.0, -1.0], vec![1.0; 2]);
    assert_eq!(largest, Err(DualError::Row { variable: 1 }));
    assert_eq!(Dual::c_svc(vec![0, 1], vec![1.0, 1.0], vec![1.0; 2]), Err(DualError::OneClass));
    assert_eq!(Dual::c_svc(vec![0, 1], vec![1.0, -1.0], vec![1.0, 0.0]), Err(DualError::OneClass));
    let c = Dual::c_svc(vec![0, 1], vec![1.0, -1.0], vec![1.0, -3.0]);
    assert_eq!(c, Err(DualError::Upper { variable: 1, value: -3.0 }));
    let nan = Dual::c_svc(vec![0, 1], vec![1.0, -1.0], vec![f64::NAN, 1.0]);
    assert!(matches!(nan, Err(DualError::Upper { variable: 0, .. })));
    let sign = Dual::c_svc(vec![0, 1], vec![1.0, 0.5], vec![1.0; 2]);
    assert_eq!(sign, Err(DualError::Sign { variable: 1, value: 0.5 }));
}
