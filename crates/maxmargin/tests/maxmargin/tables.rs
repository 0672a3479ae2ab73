//! Tables through the estimator: what is trained on a table is what is trained on the same numbers,
//! and no fold sees what it is tested on.

use maxmargin::data::RunControl;
use maxmargin::data::prepare::Preparing;
use maxmargin::data::scale::ScaleMethod;
use maxmargin::data::table::{self, TableOptions};
use maxmargin::model::{decode, encode};
use maxmargin::prelude::*;
use std::fmt::Write;

/// Heart disease as a table: its labels and three columns as words, one as truths; `gap` says which
/// of its numbers are missing.
fn heart(words: bool, gap: impl Fn(usize, usize) -> bool) -> Option<(String, Dataset)> {
    let data = maxmargin_testkit::outside::dataset("heart")?;
    let features = data.samples.features();
    let mut text = (1..=features).map(|j| format!("x{j}")).chain(["diagnosis\n".to_owned()]).collect::<Vec<_>>().join(",");
    for i in 0..data.samples.len() {
        let row = data.samples.dense_rows(i..i + 1);
        for (j, value) in row.iter().enumerate() {
            let written = match j {
                _ if gap(i, j) => String::new(),
                1 if words => if *value == 1.0 { "yes" } else { "no" }.to_owned(),
                2 | 6 | 12 if words => format!("\"level {value}, of some\""),
                _ => value.to_string(),
            };
            write!(text, "{written},").expect("memory");
        }
        let label = match (words, data.labels[i] > 0.0) {
            (false, _) => data.labels[i].to_string(),
            (true, true) => "presence".to_owned(),
            (true, false) => "absence".to_owned(),
        };
        writeln!(text, "{label}").expect("memory");
    }
    Some((text, data))
}

fn read(text: &str) -> Dataset {
    let options = TableOptions { missing: true, ..TableOptions::default() };
    table::read(text.as_bytes(), &options, &RunControl::unlimited()).unwrap_or_else(|error| panic!("{error}")).data
}

#[test]
fn a_table_of_numbers_trains_to_the_same_bits() {
    let Some((text, data)) = heart(false, |_, _| false) else { return };
    let of_table = read(&text);
    assert_eq!((&of_table.samples, &of_table.labels), (&data.samples, &data.labels));
    let plan = FoldPlan::stratified(&data.labels, 5, 1).expect("folds");
    let auto = Svm::c_svc(1.0).kernel(Kernel::rbf(1.0)).gamma(Gamma::Auto);
    for svm in [auto.clone(), auto.clone().impute(Impute::Mean), auto.scale(ScaleMethod::Standard)] {
        let (ours, plain) = (svm.fit(&of_table).expect("trained"), svm.fit(&data).expect("trained"));
        assert_eq!(ours.model.machines(), plain.model.machines());
        assert_eq!(ours.model.parts().support, plain.model.parts().support);
        let (ours, plain) =
            (svm.cross_validate(&of_table, &plan).expect("folds"), svm.cross_validate(&data, &plan).expect("folds"));
        assert_eq!(ours.decisions, plain.decisions);
        assert_eq!(ours.seeding, plain.seeding, "where nothing is missing, nothing keeps folds from sharing their kernel");
    }
}

#[test]
fn words_train_as_one_feature_each() {
    let Some((text, data)) = heart(true, |_, _| false) else { return };
    let of_table = read(&text);
    let words = [2, 6, 12];
    let mut rows = Vec::new();
    for i in 0..data.samples.len() {
        let row = data.samples.dense_rows(i..i + 1);
        let mut own = Vec::new();
        for (j, value) in row.iter().enumerate() {
            if !words.contains(&j) {
                own.push(*value);
                continue;
            }
            let mut levels: Vec<f64> = (0..data.samples.len()).map(|k| data.samples.dense_rows(k..k + 1)[j]).collect();
            levels.sort_by(f64::total_cmp);
            levels.dedup();
            own.extend(levels.iter().map(|level| f64::from(u8::from(level == value))));
        }
        rows.push(own);
    }
    let labels: Vec<f64> = data.labels.iter().map(|label| f64::from(u8::from(*label > 0.0))).collect();
    let by_hand = Dataset::from_rows(&rows, &labels).expect("numbers");
    let columns = of_table.columns.as_ref().expect("of a table");
    assert_eq!((columns.labels(), columns.features().len()), (&["absence".to_owned(), "presence".to_owned()][..], 13));
    assert_eq!((&of_table.samples, &of_table.labels), (&by_hand.samples, &by_hand.labels));
    let svm = Svm::rbf(0.01).c(2.0);
    assert_eq!(svm.fit(&of_table).expect("trained").model.machines(), svm.fit(&by_hand).expect("trained").model.machines());
}

#[test]
fn no_fold_sees_what_it_is_tested_on() {
    let Some((text, _)) = heart(true, |i, j| (i * 7 + j * 3) % 19 == 0) else { return };
    let data = read(&text);
    let plan = FoldPlan::stratified(&data.labels, 5, 3).expect("folds");
    for scale in [None, Some(ScaleMethod::Standard)] {
        let svm = Svm::rbf(0.02).c(2.0).impute(Impute::Median);
        let svm = scale.into_iter().fold(svm, Svm::scale);
        let report = svm.cross_validate(&data, &plan).expect("folds");
        assert!(report.folds.iter().all(|fold| fold.certificate.holds));
        let whole = Preparing { impute: Some(Impute::Median), scale }.fit(&data).expect("prepared");
        let mut differs = false;
        for fold in 0..plan.folds() {
            let (train, test) = (plan.train(fold), data.select(plan.test(fold)));
            let own = svm.fit(&data.select(&train)).expect("trained");
            let found: Vec<f64> = plan.test(fold).iter().map(|&i| report.decisions[i]).collect();
            assert_eq!(own.decision_values(&test.samples).expect("decided"), found, "fold {fold}: trained on its rows alone");
            differs |= own.model.parts().encoder != whole.encoder;
        }
        assert!(differs, "what all rows show is something else: it would have been seen");
    }
}

#[test]
fn missing_values_need_an_imputation() {
    let data = read("a,w,y\n1,x,0\n,y,1\n3,x,0\n4,y,1\n");
    let error = Svm::rbf(1.0).fit(&data).expect_err("a gap").to_string();
    assert!(error.contains("row 1 (from 0) has no value in column `a`"), "{error}");
    let words = read("a,y\n1,x\n2,y\n3,x\n");
    let error = Svm::epsilon_svr(1.0, 0.1).fit(&words).expect_err("words").to_string();
    assert!(error.contains("epsilon-svr predicts numbers, and the target of the table has words, such as `x`"), "{error}");
    let trained = Svm::rbf(1.0).impute(Impute::Mean).fit(&data).expect("trained");
    assert_eq!(trained.model.parts().encoder.as_ref().and_then(|encoder| encoder.fill(0)).as_deref(), Some("2.6666666666666665"));
}

#[test]
fn a_model_keeps_the_columns_and_fills_gaps_of_its_own() {
    let data = read("a,w,t,y\n1,x,yes,cat\n,y,no,dog\n3,x,yes,cat\n4,y,?,dog\n5,y,no,dog\n0,x,yes,cat\n");
    let fitted = Svm::rbf(0.5).c(10.0).impute(Impute::Median).scale(ScaleMethod::Standard).fit(&data).expect("trained");
    let model = decode(&encode(&fitted.model).expect("bytes")).expect("a model");
    assert_eq!(model, fitted.model);
    let columns = std::sync::Arc::new(model.columns().expect("of a table").clone());
    assert_eq!(columns.labels(), ["cat", "dog"]);
    // A missing value where training had none, another order of columns, and an unknown word.
    let options = TableOptions { missing: true, ..TableOptions::default() };
    let new =
        table::read_like(b"t,extra,w,a\nno,1,,5\nyes,2,z,NA\n", &columns, &options, &RunControl::unlimited()).expect("rows");
    let decisions = model.decision_values(&new.data.samples, Par::Seq).expect("decided");
    let filled = table::read_like(b"t,w,a\nno,x,5\nyes,z,3\n", &columns, &options, &RunControl::unlimited()).expect("rows");
    assert_eq!(decisions, model.decision_values(&filled.data.samples, Par::Seq).expect("decided"));
    assert!(maxmargin::cv::verify(&model, &data, None, None, Par::Seq).expect("judged").matches());
    // With another number in the one row that is not missing, what fills the gap is another.
    let other = read("a,w,t,y\n1,x,yes,cat\n,y,no,dog\n9,x,yes,cat\n4,y,?,dog\n5,y,no,dog\n0,x,yes,cat\n");
    let verdict = maxmargin::cv::verify(&model, &other, None, None, Par::Seq).expect("judged");
    assert!(verdict.checks.iter().any(|check| check.what == "columns" && check.passed == Some(false)), "{:?}", verdict.checks);
}

#[test]
fn balanced_weights_make_classes_weigh_the_same() {
    let mut data = Generator::Banana.generate(200, None, 1).expect("made");
    let positive: Vec<usize> = (0..200).filter(|&i| data.labels[i] > 0.0).collect();
    positive.iter().skip(10).for_each(|&i| data.labels[i] = -1.0);
    let classes = maxmargin::data::ClassLabels::new(&data.labels).expect("two");
    let svm = Svm::rbf(1.0).balanced();
    assert_eq!(svm.weights_of(&classes).expect("known"), [200.0 / (2.0 * 190.0), 10.0]);
    assert_eq!(svm.clone().class_weight(1.0, 0.5).weights_of(&classes).expect("known")[1], 5.0);
    let plain = Svm::rbf(1.0).class_weight(-1.0, 200.0 / 380.0).class_weight(1.0, 10.0);
    let machines = |svm: &Svm| svm.fit(&data).expect("trained").model.machines().to_vec();
    assert_eq!(machines(&svm), machines(&plain));
    assert!(Svm::epsilon_svr(1.0, 0.1).balanced().fit(&data).is_err());
}
