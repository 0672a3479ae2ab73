//! What single folds take, and what all of them would where the first alone are trained.

use crate::failure::Failure;
use crate::measured::Rounds;
use maxmargin::cv::{CvReport, FoldPlan, SeedSource, Seeding};

/// The first `most` folds of a plan, whose samples stay what they are.
pub(super) fn first(plan: FoldPlan, most: Option<usize>) -> Result<FoldPlan, Failure> {
    let Some(most) = most else { return Ok(plan) };
    let folds = (0..plan.folds().min(most)).map(|fold| (plan.test(fold).iter().copied(), std::iter::empty()));
    Ok(FoldPlan::from_tests(plan.len(), folds)?)
}

/// What the measured folds took, for a plan that has `folds` of them.
pub(super) fn of(report: &CvReport, seeding: Seeding, folds: usize) -> Rounds {
    let each: Vec<(f64, f64)> =
        report.folds.iter().map(|fold| (fold.seed_seconds + fold.solve_seconds, fold.iterations as f64)).collect();
    let full = report.full.as_ref().filter(|_| seeding.source() == SeedSource::AllData);
    let (first, later, others) = match full {
        Some(full) => ((full.solve_seconds, full.iterations as f64), &each[..], folds),
        None => (each[0], &each[1..], folds - 1),
    };
    let mean = |of: fn(&(f64, f64)) -> f64| later.iter().map(of).sum::<f64>() / later.len() as f64;
    let (seconds, iterations) = (mean(|round| round.0), mean(|round| round.1));
    Rounds {
        first_round_seconds: first.0,
        round_seconds: seconds,
        all_rounds_seconds: first.0 + seconds * others as f64,
        all_rounds_iterations: first.1 + iterations * others as f64,
    }
}

#[cfg(test)]
mod tests {
    use super::{first, of};
    use maxmargin::Svm;
    use maxmargin::cv::{CvReport, FoldPlan, Seeding};
    use maxmargin::data::generate::Generator;

    #[test]
    fn the_first_folds_alone() {
        let whole = FoldPlan::contiguous(60, 60).expect("folds");
        let plan = first(whole.clone(), Some(20)).expect("folds");
        assert_eq!((plan.folds(), plan.len(), plan.trained(19), plan.test(19)), (20, 60, 59, &[19][..]));
        assert_eq!(first(whole.clone(), None).expect("folds"), whole);
        assert_eq!(first(whole.clone(), Some(90)).expect("folds"), whole);
        assert!(first(whole, Some(0)).is_err());
    }

    #[test]
    fn what_all_folds_take_and_would_take() {
        let data = Generator::TwoGaussians.generate(60, None, 1).expect("data");
        let whole = FoldPlan::contiguous(60, 60).expect("folds");
        let some = first(whole.clone(), Some(20)).expect("folds");
        for seeding in [Seeding::Cold, Seeding::Sir, Seeding::Avg] {
            let svm = Svm::rbf(0.5).c(10.0).seeding(seeding);
            let run = |plan| svm.cross_validate(&data, plan).expect("folds");
            let (all, some): (CvReport, CvReport) = (run(&whole), run(&some));
            let told = of(&all, seeding, 60);
            assert!((told.all_rounds_iterations - all.total_iterations as f64).abs() < 1e-6, "{seeding:?}: {told:?}");
            let (seed, solve) = all.seed_and_solve_seconds();
            assert!((told.all_rounds_seconds - seed - solve).abs() < 1e-6 * solve, "{seeding:?}: {told:?}");
            let counts: Vec<f64> = some.folds.iter().map(|fold| fold.iterations as f64).collect();
            let expected = match &some.full {
                Some(full) => full.iterations as f64 + 60.0 * counts.iter().sum::<f64>() / 20.0,
                None => counts[0] + 59.0 * counts[1..].iter().sum::<f64>() / 19.0,
            };
            let found = of(&some, seeding, 60);
            assert_eq!((counts.len(), some.full.is_some()), (20, seeding == Seeding::Avg));
            assert!((found.all_rounds_iterations - expected).abs() < 1e-9 * expected, "{seeding:?}: {found:?}");
            let seconds = found.first_round_seconds + if seeding == Seeding::Avg { 60.0 } else { 59.0 } * found.round_seconds;
            assert_eq!((found.all_rounds_seconds, found.first_round_seconds > 0.0), (seconds, true));
        }
    }
}
