//! The options of a training are the same in every interface, with the same defaults.

use maxmargin::TrainOptions;
use maxmargin::conformal::ConformalScore;
use maxmargin::core::{BiasTerm, FormulationParameters, Loss};
use maxmargin::cv::Seeding;
use maxmargin::model::Multiclass;
use std::collections::BTreeMap;

/// The keywords of the Python extension with their defaults, as its source has them.
fn python_defaults() -> BTreeMap<String, String> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../maxmargin-python/src/svm.rs");
    let source = std::fs::read_to_string(path).expect("the source of the Python package");
    let (_, rest) = source.split_once("#[pyo3(signature = (formulation, *,").expect("the signature of Svm");
    let (signature, _) = rest.split_once("))]").expect("its end");
    let pairs = signature.split(',').map(|pair| pair.trim().split_once('=').expect("every keyword has a default"));
    pairs.map(|(name, value)| (name.trim().to_owned(), value.trim().to_owned())).collect()
}

#[test]
fn python_has_every_option_with_the_same_default() {
    // Without `..`, so that a new option does not compile before it is compared here.
    let TrainOptions {
        kernel,
        gamma,
        formulation,
        levels,
        loss,
        bias_term,
        weights,
        class_weights: _,
        sample_weights: _,
        multiclass,
        scale: _,
        impute: _,
        feature_weights: _,
        solver,
        keep_support_vectors,
        // The functions of Python return the decision values.
        keep_decisions: _,
        shrinking,
        merge_equal_rows: _,
        goal,
        max_iter,
        max_time,
        memory,
        par: _,
        seeding,
        seed,
        calibration,
        conformal,
    } = TrainOptions::default();
    let options = TrainOptions::default();
    assert!(
        loss.is_none() && bias_term.is_none() && goal.is_none() && gamma.is_none() && weights.is_empty() && levels.is_empty()
    );
    let (c, parameters) = (formulation.c().expect("C-SVC"), FormulationParameters::default());
    assert_eq!(c, parameters.c);
    let name_of = |seeding: Seeding| Seeding::ALL.into_iter().find(|known| known.1 == seeding).map(|known| known.0);
    let defaults = [
        ("kernel", format!("{:?}", kernel.name())),
        // Kernels of Python have their parameters in keywords of their own.
        ("gamma", "1.0".to_owned()),
        ("coef0", "0.0".to_owned()),
        ("degree", "3".to_owned()),
        ("c", format!("{c:?}")),
        ("nu", format!("{:?}", parameters.nu)),
        ("epsilon", format!("{:?}", parameters.epsilon)),
        ("tau", format!("Tau::One({:?})", parameters.tau)),
        ("squared", format!("{}", options.resolved_formulation().loss() == Loss::SquaredHinge)),
        ("bias", if options.resolved_formulation().bias_term() == BiasTerm::Free { "None" } else { "another" }.to_owned()),
        ("class_weight", "Vec::new()".to_owned()),
        ("one_vs_rest", format!("{}", multiclass == Multiclass::OneVsRest)),
        ("tol", format!("{:e}", options.resolved_goal().first_kkt())),
        ("max_iter", format!("{max_iter:?}")),
        ("max_time", format!("{max_time:?}")),
        ("memory", format!("{} << 30", memory >> 30)),
        ("shrinking", format!("{shrinking}")),
        ("keep_data", format!("{keep_support_vectors}")),
        ("keep_vectors", format!("{keep_support_vectors}")),
        ("solver", format!("{:?}", solver.name())),
        ("seed", format!("{seed}")),
        ("probability", format!("{:?}", calibration.probability)),
        ("conformal", format!("{:?}", conformal.map(|of| of.level.alpha()))),
        ("conformal_score", format!("{:?}", ConformalScore::default().to_string())),
        ("seeding", format!("{:?}", name_of(seeding).expect("a name"))),
    ];
    assert!(options.resolved_goal().gap().is_none() && memory.is_multiple_of(1 << 30));
    let expected: BTreeMap<String, String> = defaults.map(|(name, value)| (name.to_owned(), value)).into();
    assert_eq!(python_defaults(), expected);
}
