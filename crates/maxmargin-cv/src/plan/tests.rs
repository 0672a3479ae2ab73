//! Tests of the properties of plans.

use super::*;

fn fold_of(plan: &FoldPlan) -> Vec<u32> {
    plan.fold_of().expect("a partition")
}

#[test]
fn contiguous_folds_are_libsvms_boundaries() {
    let plan = FoldPlan::contiguous(10, 3).unwrap();
    assert_eq!(fold_of(&plan), [0, 0, 0, 1, 1, 1, 2, 2, 2, 2]);
}

#[test]
fn stratified_folds_balance_sizes_and_classes() {
    let labels: Vec<f64> = (0..103).map(|i| if i % 4 == 0 { 1.0 } else { -1.0 }).collect();
    let plan = FoldPlan::stratified(&labels, 5, 7).unwrap();
    for class in [1.0, -1.0] {
        let count = |h| (0..103).filter(|&i| fold_of(&plan)[i] == h && labels[i] == class).count();
        let counts: Vec<usize> = (0..5).map(count).collect();
        assert!(counts.iter().max().unwrap() - counts.iter().min().unwrap() <= 1, "{counts:?}");
    }
    assert_eq!(plan, FoldPlan::stratified(&labels, 5, 7).unwrap());
    assert_ne!(plan, FoldPlan::stratified(&labels, 5, 8).unwrap());
}

#[test]
fn groups_stay_together() {
    let groups: Vec<u64> = (0..50).map(|i| (i * i) % 11).collect();
    let plan = FoldPlan::groups(&groups, 3).unwrap();
    for (i, g) in groups.iter().enumerate() {
        let first = groups.iter().position(|x| x == g).unwrap();
        assert_eq!(fold_of(&plan)[i], fold_of(&plan)[first]);
    }
    assert!(matches!(FoldPlan::groups(&[1, 1, 2, 2], 3), Err(PlanError::TooManyForGroups { groups: 2, .. })));
}

#[test]
fn stratified_groups_stay_together_and_spread_classes() {
    // Thirty groups of unequal size; every third group has the rare class only.
    let groups: Vec<u64> = (0..300).map(|i| (i * i + 7 * i) % 30).collect();
    let labels: Vec<f64> = groups.iter().map(|g| if g % 3 == 0 { 1.0 } else { -1.0 }).collect();
    let plan = FoldPlan::stratified_groups(&labels, &groups, 3).unwrap();
    for (i, g) in groups.iter().enumerate() {
        let first = groups.iter().position(|x| x == g).unwrap();
        assert_eq!(fold_of(&plan)[i], fold_of(&plan)[first]);
    }
    for class in [1.0, -1.0] {
        let count = |h: u32| (0..300).filter(|&i| fold_of(&plan)[i] == h && labels[i] == class).count();
        let counts: Vec<usize> = (0..3).map(count).collect();
        // Fold sizes differ by at most the largest group.
        let largest = groups.iter().map(|g| groups.iter().filter(|x| *x == g).count()).max().unwrap();
        assert!(counts.iter().max().unwrap() - counts.iter().min().unwrap() <= largest, "{counts:?}");
    }
    // No fold is empty, even with as many folds as groups.
    let plan = FoldPlan::stratified_groups(&[1.0, 1.0, 2.0, 2.0], &[9, 9, 4, 7], 3).unwrap();
    assert_eq!(fold_of(&plan), [0, 0, 1, 2]);
    assert!(FoldPlan::stratified_groups(&[1.0; 4], &[1, 1, 2, 2], 3).is_err());
}

#[test]
fn every_group_is_left_out_once() {
    let plan = FoldPlan::leave_one_group_out(&[7, 3, 7, 12, 3]).unwrap();
    assert_eq!((fold_of(&plan), plan.folds()), (vec![1, 0, 1, 2, 0], 3));
    assert_eq!(FoldPlan::leave_one_group_out(&[5, 5]), Err(PlanError::TooFew(1)));
}

#[test]
fn text_round_trips_and_refuses() {
    let plan = FoldPlan::shuffled(20, 4, 1).unwrap();
    assert_eq!(FoldPlan::from_text(&plan.to_text(), 20).unwrap(), plan);
    assert_eq!(FoldPlan::from_text("0\nx\n", 2), Err(PlanError::Line { line: 2, found: "x".into() }));
    assert_eq!(FoldPlan::from_text("0\n1\n", 3), Err(PlanError::Length { found: 2, samples: 3 }));
    assert_eq!(FoldPlan::from_text("0\n2\n0\n", 3), Err(PlanError::EmptyFold { fold: 1, greatest: 2 }));
    assert_eq!(FoldPlan::from_text("0\n0\n", 2), Err(PlanError::TooFew(1)));
    assert_eq!(FoldPlan::from_folds(&[1, 1, 2]), Err(PlanError::EmptyFold { fold: 0, greatest: 2 }));
    assert_eq!(FoldPlan::from_folds(&[0, 9]), Err(PlanError::TooMany { folds: 10, samples: 2 }));
}

#[test]
fn impossible_plans_are_refused() {
    assert_eq!(FoldPlan::contiguous(5, 1), Err(PlanError::TooFew(1)));
    assert_eq!(FoldPlan::contiguous(5, 6), Err(PlanError::TooMany { folds: 6, samples: 5 }));
    let labels = [1.0, 1.0, 1.0, -1.0];
    assert_eq!(FoldPlan::stratified(&labels, 4, 0), Err(PlanError::SmallClasses { most: 3, folds: 4 }));
    // A fold without a sample of the small class is allowed.
    let plan = FoldPlan::stratified(&labels, 3, 0).unwrap();
    let mut sizes: Vec<usize> = (0..3).map(|fold| plan.test(fold).len()).collect();
    sizes.sort_unstable();
    assert_eq!(sizes, [1, 1, 2]);
}

#[test]
fn time_goes_on_in_a_time_series() {
    // scikit-learn: TimeSeriesSplit(3, gap=1).split(range(11)).
    let plan = FoldPlan::time_series(11, 3, None, 1).unwrap();
    let splits: Vec<(Vec<usize>, &[usize])> = (0..3).map(|fold| (plan.train(fold), plan.test(fold))).collect();
    let upto = |end: usize| (0..end).collect::<Vec<usize>>();
    assert_eq!(splits, [(upto(4), &[5, 6][..]), (upto(6), &[7, 8]), (upto(8), &[9, 10])]);
    assert_eq!((plan.tested(), plan.rounds(), plan.trained(1), plan.fold_of()), (6, 1, 6, None));
    // With max_train_size=3.
    let plan = FoldPlan::time_series(11, 3, Some(3), 1).unwrap();
    assert_eq!((0..3).map(|fold| plan.train(fold)).collect::<Vec<_>>(), [[1, 2, 3], [3, 4, 5], [5, 6, 7]]);
    assert!(plan.left_out(0).eq([0, 4, 5, 6, 7, 8, 9, 10]));
    assert_eq!(FoldPlan::time_series(3, 3, None, 0), Err(PlanError::TooManyInOrder { folds: 3, samples: 3 }));
    assert_eq!(FoldPlan::time_series(11, 3, None, 5), Err(PlanError::Gap { gap: 5, before: 5 }));
    assert!(FoldPlan::time_series(11, 3, Some(0), 0).is_err() && FoldPlan::time_series(11, 1, None, 0).is_err());
}

#[test]
fn rounds_test_no_sample_twice() {
    let plans: Vec<FoldPlan> = (0..3).map(|seed| FoldPlan::shuffled(20, 4, seed).unwrap()).collect();
    let plan = FoldPlan::joined(&plans).unwrap();
    assert_eq!((plan.folds(), plan.rounds(), plan.tested(), plan.fold_of()), (12, 3, 20, None));
    assert!((0..12).all(|fold| plan.round(fold) == fold / 4 && plan.test(fold) == plans[fold / 4].test(fold % 4)));
    let other = FoldPlan::from_tests(20, (0..12).map(|fold| (plan.test(fold).to_vec(), []))).unwrap();
    assert_eq!(other, plan);
    assert!(FoldPlan::joined(&[FoldPlan::contiguous(4, 2).unwrap(), FoldPlan::contiguous(6, 2).unwrap()]).is_err());
    assert!(FoldPlan::joined(&[]).is_err());
    // A partition that is given fold by fold equals one that is given by sample.
    let splits: Vec<_> = (0..4).map(|fold| (plans[0].train(fold), plans[0].test(fold).to_vec())).collect();
    assert_eq!(FoldPlan::from_splits(20, &splits).unwrap(), plans[0]);
}

#[test]
fn every_plan_round_trips_as_text() {
    let repeated = FoldPlan::joined(&[FoldPlan::shuffled(9, 2, 1).unwrap(), FoldPlan::shuffled(9, 3, 2).unwrap()]).unwrap();
    for plan in [FoldPlan::time_series(9, 3, Some(2), 1).unwrap(), FoldPlan::time_series(9, 2, None, 0).unwrap(), repeated] {
        assert_eq!(FoldPlan::from_text(&plan.to_text(), 9).unwrap(), plan);
    }
    // One sample is held out, one kept away, two trained on.
    let held = FoldPlan::from_text("-\n0\n!0\n-\n", 4).unwrap();
    assert_eq!((held.train(0), held.test(0)), (vec![0, 3], &[1][..]));
    assert_eq!(FoldPlan::from_text("0 0\n-\n", 2), Err(PlanError::Twice { fold: 0, sample: 0 }));
    assert_eq!(FoldPlan::from_text("0 !0\n-\n", 2), Err(PlanError::Twice { fold: 0, sample: 0 }));
    assert_eq!(FoldPlan::from_text("!0\n1\n-\n", 3), Err(PlanError::TestsNothing { fold: 0 }));
    assert_eq!(FoldPlan::from_text("0\n2\n-\n", 3), Err(PlanError::EmptyFold { fold: 1, greatest: 2 }));
    assert_eq!(FoldPlan::from_text("0\n!0\n", 2), Err(PlanError::TrainsOnNothing { fold: 0 }));
    assert_eq!(FoldPlan::from_text("-\n-\n", 2), Err(PlanError::TooFew(0)));
    assert_eq!(FoldPlan::from_tests(3, [(vec![3], vec![])]), Err(PlanError::NoSample { fold: 0, sample: 3, samples: 3 }));
    assert!(FoldPlan::from_splits(3, &[(vec![0, 1], vec![1])]).is_err());
}

#[test]
fn training_sets_are_few_runs() {
    let runs = |plan: &FoldPlan| -> usize {
        let (order, sets) = plan.sorted_by(|_| 0);
        let out = |sample: usize| (0..plan.folds()).filter(|fold| !plan.train(*fold).contains(&sample)).collect::<Vec<_>>();
        (1..order.len()).for_each(|at| assert_eq!(sets[at] == sets[at - 1], out(order[at]) == out(order[at - 1])));
        let of = |fold: usize| {
            let trained: Vec<bool> = order.iter().map(|sample| plan.train(fold).contains(sample)).collect();
            trained.chunk_by(|a, b| a == b).filter(|run| run[0]).count()
        };
        (0..plan.folds()).map(of).max().unwrap()
    };
    assert_eq!(FoldPlan::shuffled(40, 5, 1).unwrap().sorted_by(|_| 0).0, {
        let plan = FoldPlan::shuffled(40, 5, 1).unwrap();
        (0..5).flat_map(|fold| plan.test(fold).to_vec()).collect::<Vec<_>>()
    });
    assert_eq!(runs(&FoldPlan::shuffled(40, 5, 1).unwrap()), 2);
    assert_eq!(runs(&FoldPlan::time_series(40, 5, None, 0).unwrap()), 1);
    assert!(runs(&FoldPlan::time_series(40, 5, Some(12), 3).unwrap()) <= 3);
}

fn text<T: std::fmt::Debug>(found: Result<T, PlanError>) -> String {
    found.expect_err("a refusal").to_string()
}

#[test]
fn folds_in_order_are_refused_for_any_number() {
    for folds in [5, usize::MAX - 1, usize::MAX] {
        assert_eq!(FoldPlan::time_series(5, folds, None, 0), Err(PlanError::TooManyInOrder { folds, samples: 5 }));
    }
    assert_eq!(FoldPlan::time_series(5, 4, None, 0).unwrap().folds(), 4);
}

#[test]
fn parts_of_other_samples_are_refused_by_row() {
    let plan = FoldPlan::contiguous(4, 2).unwrap();
    assert_eq!(text(plan.among(&[0, 9])), "row 9 (from 0) does not exist: the plan has 4 samples");
    let expected = "row 0 follows row 0; give rows in ascending order, each once";
    assert_eq!(text(plan.among(&[0, 0, 3])), expected);
    assert_eq!(text(plan.among(&[3, 0])), "row 0 follows row 3; give rows in ascending order, each once");
    assert_eq!(plan.among(&[0, 3]).unwrap().folds(), 2);
}

#[test]
fn plans_of_other_samples_are_not_joined() {
    let plans = [4, 5].map(|samples| FoldPlan::contiguous(samples, 2).unwrap());
    let expected = "plan 1 (from 0) is for 5 samples and plan 0 for 4; join plans for the same samples";
    assert_eq!(text(FoldPlan::joined(&plans)), expected);
    let expected = "the fold plan has 4 samples, and there are 3; make a plan for these samples";
    assert_eq!(text(plans[0].spread_to(&[0, 1, 5], 6)), expected);
}

#[test]
fn stratified_folds_need_a_finite_label_for_each_row() {
    let expected = "the label of row 1 (from 0) is NaN: stratified folds need the class of each row";
    assert_eq!(text(FoldPlan::stratified(&[1.0, f64::NAN, 2.0], 2, 1)), expected);
    assert_eq!(text(FoldPlan::stratified_groups(&[1.0, f64::NAN, 2.0], &[1, 2, 3], 2)), expected);
    let expected = "2 groups for 3 labels: give one of each for each row";
    assert_eq!(text(FoldPlan::stratified_groups(&[1.0, 1.0, 2.0], &[1, 2], 2)), expected);
}
