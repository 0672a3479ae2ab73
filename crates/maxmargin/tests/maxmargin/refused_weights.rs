//! Weights and parameters that no training can follow are refused.

use maxmargin::core::DualError;
use maxmargin::cv::FoldPlan;
use maxmargin::data::Dataset;
use maxmargin::kernel::Kernel;
use maxmargin::{Error, LinearClassifier, Ranges, Svm};

fn four() -> Dataset {
    Dataset::from_rows(&[[0.0, 0.1], [0.2, 0.0], [1.0, 0.9], [0.9, 1.1]], &[1.0, 1.0, 2.0, 2.0]).expect("data")
}

/// Once, a free bias ran away, and the result had a certificate that did not hold.
#[test]
fn a_class_without_weight_beside_a_free_bias() {
    let data = four();
    let is_refused = |error: Error| assert!(matches!(error, Error::Data(DualError::OneClass)), "{error}");
    let weights = || vec![0.0, 0.0, 1.0, 1.0];
    for svm in [Svm::linear(), Svm::rbf(1.0), Svm::linear().one_vs_rest()] {
        is_refused(svm.clone().class_weight(1.0, 0.0).fit(&data).expect_err("one class"));
        is_refused(svm.sample_weights(weights()).fit(&data).expect_err("one class"));
    }
    for linear in [LinearClassifier::logistic(1.0), LinearClassifier::sparse_svc(1.0)] {
        is_refused(linear.clone().class_weight(1.0, 0.0).fit(&data).expect_err("one class"));
        is_refused(linear.clone().sample_weights(weights()).fit(&data).expect_err("one class"));
        is_refused(linear.clone().sample_weights(vec![0.0; 4]).fit(&data).expect_err("no class"));
        // A bias that is regularised has an optimum.
        let fitted = linear.bias_term(maxmargin::core::BiasTerm::Feature(1.0)).class_weight(1.0, 0.0).fit(&data);
        assert!(fitted.expect("an optimum").certificate.holds);
    }
}

/// Once, all of these were models of the bias 0 that "hold".
#[test]
fn no_weight_at_all() {
    let data = four();
    let is_refused = |error: Error| {
        let text = error.to_string();
        assert!(text.contains("sample 0 (from 0) is 0") && text.contains("above 0 for some"), "{text}");
    };
    let none = || vec![0.0; 4];
    for svm in [Svm::epsilon_svr(1.0, 0.1), Svm::quantile(1.0, 0.5), Svm::expectile(1.0, 0.5), Svm::nu_svr(1.0, 0.5)] {
        is_refused(svm.sample_weights(none()).fit(&data).expect_err("no sample"));
    }
    is_refused(LinearClassifier::crammer_singer(1.0).sample_weights(none()).fit(&data).expect_err("no sample"));
    assert!(Svm::one_class(0.5).sample_weights(none()).fit(&data).is_err());
}

/// Once, these were ignored.
#[test]
fn parameters_that_the_formulation_does_not_have() {
    let data = four();
    for c in [-1.0, f64::NAN, 0.0, 3.0] {
        for (svm, name) in [(Svm::nu_svc(0.5), "nu-svc"), (Svm::one_class(0.5), "one-class")] {
            let error = svm.kernel(Kernel::rbf(1.0)).c(c).fit(&data).expect_err("no C").to_string();
            assert_eq!(error, format!("C is for formulations other than nu-svc and one-class, not {name}; leave it out"));
        }
    }
    let plan = FoldPlan::contiguous(4, 2).expect("folds");
    let refused =
        |svm: Svm, ranges: Ranges| svm.grid(&data, &plan, &ranges).map(|_| ()).expect_err("not its parameter").to_string();
    let nu = refused(Svm::rbf(1.0), Ranges::new().nu(&[0.1, 0.2]));
    assert_eq!(nu, "nu is for nu-svc, nu-svr or one-class, not c-svc; leave it out");
    let epsilon = refused(Svm::rbf(1.0), Ranges::new().epsilon(&[0.1, 0.2]));
    assert_eq!(epsilon, "epsilon is for epsilon-svr, not c-svc; leave it out");
    let epsilon = refused(Svm::nu_svr(1.0, 0.5), Ranges::new().epsilon(&[0.1]));
    assert_eq!(epsilon, "epsilon is for epsilon-svr, not nu-svr; leave it out");
}
