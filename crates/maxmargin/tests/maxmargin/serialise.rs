//! Serialisation of results with `serde`: reports, verdicts, the parts of a model.

use maxmargin::core::Formulation;
use maxmargin::cv::verify;
use maxmargin::model::{Model, Parts};
use maxmargin::prelude::*;

#[test]
fn reports_verdicts_and_models_are_json() {
    let data = Generator::Banana.generate(60, None, 1).expect("data");
    let svm = Svm::rbf(1.0).c(10.0);
    let report = svm.cross_validate(&data, &FoldPlan::stratified(&data.labels, 3, 1).expect("folds")).expect("a report");
    let report = serde_json::to_value(&report).expect("JSON");
    assert_eq!(report["folds"].as_array().map(Vec::len), Some(3));
    assert_eq!(report["folds"][0]["certificate"]["holds"], true);

    let fitted = svm.fit(&data).expect("trained");
    let machines = serde_json::to_value(&fitted.machines).expect("JSON");
    assert_eq!(machines[0]["status"], "converged");
    let verdict = verify(&fitted.model, &data, None, None, Par::Seq).expect("a verdict");
    let verdict = serde_json::to_value(&verdict).expect("JSON");
    assert!(verdict["checks"][0]["passed"] == true && verdict["goal"]["kkt"] == 1e-3, "{verdict}");

    let parts: Parts = serde_json::from_str(&serde_json::to_string(fitted.model.parts()).expect("JSON")).expect("parts");
    assert_eq!(
        Model::new(parts).expect("a model").predict(&data.samples, Par::Seq).expect("labels"),
        fitted.predict(&data.samples).expect("labels")
    );
    let formulation = serde_json::to_string(&svm.formulation()).expect("JSON");
    assert_eq!(serde_json::from_str::<Formulation>(&formulation).expect("options"), svm.formulation());
}
