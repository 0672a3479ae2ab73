//! Models of every kernel, rule and calibration, made of seeded numbers.

use maxmargin_data::prepare::{Impute, Preparing};
use maxmargin_data::scale::ScaleMethod;
use maxmargin_data::table::{self, TableOptions};
use maxmargin_data::{ClassLabels, RunControl, Samples};
use maxmargin_kernel::Kernel;
use maxmargin_model::{Calibration, DecisionRule, Model, Multiclass, Rule};
use std::fmt::Write;

/// A model and rows to predict.
pub(crate) struct Case {
    pub(crate) name: String,
    pub(crate) model: Model,
    pub(crate) rows: Samples,
}

/// Numbers between −1 and 1.
pub(crate) struct Noise(u64);

impl Noise {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub(crate) fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
    }

    fn many(&mut self, count: usize) -> Vec<f64> {
        (0..count).map(|_| self.next()).collect()
    }
}

const FEATURES: usize = 5;
const VECTORS: usize = 40;

fn samples(rows: usize, noise: &mut Noise) -> Samples {
    Samples::from_dense(rows, FEATURES, noise.many(rows * FEATURES)).expect("finite")
}

fn kernels() -> [(&'static str, Kernel); 6] {
    [
        ("linear", Kernel::Linear),
        ("rbf", Kernel::rbf(0.7)),
        // Where norms would lose digits, distances are sums of squares.
        ("narrow rbf", Kernel::rbf(300.0)),
        ("poly", Kernel::poly(0.5, 1.0, 3)),
        ("constant poly", Kernel::poly(0.5, 1.0, 0)),
        ("sigmoid", Kernel::sigmoid(0.3, -0.2)),
    ]
}

/// The machines of a rule over shared vectors, each with a part of them.
fn model(kernel: &Kernel, vectors: &Samples, rule: Rule, noise: &mut Noise) -> Model {
    let count = (rule.multiclass.machines(rule.classes.len()) as usize).max(rule.levels.len());
    let machines: Vec<(Vec<(usize, f64)>, f64)> = (0..count)
        .map(|m| {
            let terms = (0..vectors.len()).filter(|k| (k + m) % 3 > 0).map(|k| (k, noise.next())).collect();
            (terms, 0.1 * noise.next())
        })
        .collect();
    Model::from_machines(kernel.clone(), vectors, rule, &machines).expect("a model")
}

fn rule(classes: usize, multiclass: Multiclass) -> Rule {
    let labels: Vec<f64> = (0..classes).map(|class| class as f64 * 2.0 - 1.0).collect();
    Rule::of(&ClassLabels::new(&labels).expect("classes"), multiclass)
}

fn sigmoids(count: usize, noise: &mut Noise) -> Vec<Calibration> {
    (0..count).map(|_| Calibration::Sigmoid { a: -2.0 + noise.next(), b: 0.3 * noise.next() }).collect()
}

fn steps(count: usize, noise: &mut Noise) -> Vec<Calibration> {
    let one = |_| {
        let mut at: Vec<f64> = (0..6).map(|k| f64::from(k) - 2.5 + 0.2 * noise.next()).collect();
        at.sort_by(f64::total_cmp);
        // Two knots with the same probability are a step.
        Calibration::Steps { at, probability: vec![0.05, 0.2, 0.2, 0.5, 0.8, 0.95] }
    };
    (0..count).map(one).collect()
}

/// Every kernel with every kind of outcome.
pub(crate) fn all() -> Vec<Case> {
    let mut cases = Vec::new();
    for (k, (name, kernel)) in kernels().into_iter().enumerate() {
        let noise = &mut Noise::new(k as u64 + 1);
        let (vectors, rows) = (samples(VECTORS, noise), samples(60, noise));
        let mut add =
            |what: String, model: Model| cases.push(Case { name: format!("{name}, {what}"), model, rows: rows.clone() });
        let value = model(&kernel, &vectors, Rule::VALUE, noise);
        add("value".to_owned(), value.clone());
        add("value with errors".to_owned(), calibrated(value, vec![Calibration::Laplace { scale: 0.25 }]));
        add("levels".to_owned(), model(&kernel, &vectors, Rule::of_levels(&[0.1, 0.5, 0.9]), noise));
        let inlier = model(&kernel, &vectors, Rule::INLIER, noise);
        add("inlier".to_owned(), inlier.clone());
        let marks = (0..10).map(|k| f64::from(k) - 4.5).collect();
        add("inlier with marks".to_owned(), calibrated(inlier, vec![Calibration::Marks(marks)]));
        for classes in [2, 3, 10] {
            for multiclass in [Multiclass::OneVsOne, Multiclass::OneVsRest] {
                if classes == 2 && multiclass == Multiclass::OneVsRest {
                    continue;
                }
                let plain = model(&kernel, &vectors, rule(classes, multiclass), noise);
                let count = plain.machines().len();
                let what = format!("{classes} classes, {multiclass:?}");
                add(what.clone(), plain.clone());
                let order: Vec<u32> = (0..classes as u32).rev().collect();
                add(format!("{what}, order"), plain.clone().with_tie_order(order.clone()).expect("an order"));
                let likely = calibrated(plain.clone(), sigmoids(count, noise));
                add(format!("{what}, platt"), likely.clone());
                add(format!("{what}, platt, order"), likely.clone().with_tie_order(order).expect("an order"));
                add(format!("{what}, platt, votes"), likely.with_decision_rule(multiclass.decision_rule()).expect("a rule"));
                add(format!("{what}, isotonic"), calibrated(plain, steps(count, noise)));
            }
        }
        let two = model(&kernel, &vectors, rule(2, Multiclass::OneVsOne), noise);
        let mut parts = two.into_parts();
        (parts.threshold, parts.decision_rule) = (Some(0.3), DecisionRule::Threshold);
        add("threshold".to_owned(), Model::new(parts).expect("a model"));
    }
    cases.extend(tables());
    cases
}

fn calibrated(model: Model, calibration: Vec<Calibration>) -> Model {
    model.with_calibration(calibration).expect("a calibration")
}

/// Models of tables with words, truths and gaps, which are filled and scaled.
fn tables() -> Vec<Case> {
    let mut text = String::from("size,colour,old,shape,y\n");
    let noise = &mut Noise::new(77);
    for i in 0..50 {
        let colour = ["red", "green", "blue", ""][i % 4];
        let size = if i % 7 == 3 { String::new() } else { format!("{}", 3.0 + noise.next()) };
        let old = ["yes", "no", "yes", "", "no"][i % 5];
        // The training rows, the first thirty, do not have this word.
        let shape = if i == 41 { "rare" } else { ["round", "long"][i % 2] };
        writeln!(text, "{size},{colour},{old},{shape},{}", ["no", "yes", "maybe"][i % 3]).expect("memory");
    }
    let numbers = "a,b,y\n1,2,0\n3,,1\n,5,0\n2,1,1\n7,3,0\n";
    let scales = [None, Some(ScaleMethod::Standard), Some(ScaleMethod::MinMax { lower: -1.0, upper: 1.0 })];
    let mut cases = Vec::new();
    for (what, text) in [("words", &text[..]), ("numbers", numbers)] {
        for scale in scales {
            let options = TableOptions { missing: true, ..TableOptions::default() };
            let data = table::read(text.as_bytes(), &options, &RunControl::unlimited()).expect("a table").data;
            let preparing = Preparing { impute: Some(Impute::Median), scale };
            let preparation = preparing.fit_rows(&data, 0..data.samples.len().min(30)).expect("prepared");
            let vectors = preparation.apply(&data.samples).expect("prepared").into_owned();
            let rule = Rule::from(&ClassLabels::new(&data.labels).expect("classes"));
            let mut model = model(&Kernel::rbf(0.4), &vectors, rule, noise);
            if let Some(scaler) = preparation.scaler.clone() {
                model = model.with_scaler(scaler).expect("a scaler");
            }
            let model = model.with_encoder(preparation.encoder.clone().expect("columns")).expect("an encoder");
            cases.push(Case { name: format!("table of {what}, {scale:?}"), model, rows: data.samples });
        }
    }
    cases
}
