//! Forged model files with a correct checksum. Reading one gives an error, or a model that every
//! consumer can use.

mod consumers;
mod fields;

use consumers::{consume, decode_all};
use fields::fields;
use maxmargin_conformal::Level;
use maxmargin_core::{BiasTerm, Formulation, Loss, Stop};
use maxmargin_cv::{Conformal, ConformalOptions, RunControl, Seeding, Study, TrainOptions, TrainingData};
use maxmargin_data::scale::ScaleMethod;
use maxmargin_data::{ClassLabels, Dataset, codec};
use maxmargin_kernel::Kernel;
use maxmargin_model::file::FORMAT;
use maxmargin_model::{Model, Parts, decode, encode};
use maxmargin_solvers::Solver;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// The native file of any `payload`: a hostile file with a correct checksum.
fn sealed(payload: &[u8]) -> Vec<u8> {
    maxmargin_model::file::sealed(FORMAT, payload)
}

fn payload(file: &[u8]) -> &[u8] {
    let line = file.iter().position(|b| *b == b'\n').expect("a first line");
    &file[line + 1..]
}

/// The file of unchecked parts.
fn crafted(parts: &Parts) -> Vec<u8> {
    sealed(&codec::encode(parts).expect("encodable"))
}

struct Trained {
    name: &'static str,
    data: Dataset,
    model: Model,
}

fn trained(
    name: &'static str,
    rows: usize,
    count: usize,
    kernel: &Kernel,
    scale: Option<ScaleMethod>,
    solver: Solver,
) -> Trained {
    let data = crate::common::banana(rows, count, 3);
    let classes = ClassLabels::new(&data.labels).expect("classes");
    let (loss, bias_term) = solver.problem();
    let built = solver.build(7);
    let weights = vec![1.0; classes.count()];
    let options = TrainOptions { kernel: kernel.clone(), scale, ..TrainOptions::default() };
    let study = Study {
        formulation: Formulation::Svc { c: 2.0, loss, bias_term },
        stop: Stop::when(solver.goal()),
        memory: 1 << 22,
        ..Study::new(&data, Some(&classes), &options, &weights, &*built)
    };
    let mut model = study.train(&RunControl::unlimited()).expect("a training").model;
    if !model.folded() && loss == Loss::Hinge && bias_term == BiasTerm::Free {
        model = TrainingData::new(data.clone()).put_into(model).expect("its own data");
    }
    if name.starts_with("conformal") {
        let options = ConformalOptions::new(Level::new(0.3).expect("a level"));
        let control = RunControl::unlimited();
        model = study.conformalise(model, &options, Seeding::Full, &control).expect("folds").model;
        assert!(Conformal::of(&model).is_ok_and(|kept| kept.is_some()), "{name}");
    }
    Trained { name, data, model }
}

/// One model of each kind: two classes and three, kernel and none, scaled and not, with its data
/// and without.
fn models() -> Vec<Trained> {
    let rbf = Kernel::rbf(0.5);
    vec![
        trained("two", 8, 2, &rbf, None, Solver::Smo),
        trained("three", 12, 3, &rbf, None, Solver::Smo),
        trained("scaled", 8, 2, &Kernel::poly(0.5, 1.0, 2), Some(ScaleMethod::Standard), Solver::Smo),
        trained("folded", 8, 3, &Kernel::Linear, None, Solver::Linear),
        trained("squared", 8, 2, &rbf, None, Solver::Pairwise),
        trained("conformal", 8, 2, &rbf, None, Solver::Smo),
        trained("conformal, scaled", 8, 2, &rbf, Some(ScaleMethod::Standard), Solver::Smo),
        trained("conformal, folded", 8, 3, &Kernel::Linear, None, Solver::Linear),
    ]
}

/// Runs `work`, and returns the message if it panics.
fn panics(work: impl FnOnce()) -> Option<String> {
    let caught = catch_unwind(AssertUnwindSafe(work)).err()?;
    let text = caught.downcast_ref::<String>().cloned();
    Some(text.or_else(|| caught.downcast_ref::<&str>().map(|text| (*text).to_owned())).unwrap_or_default())
}

#[test]
fn every_field_may_hold_anything() {
    let (mut refused, mut taken, mut wrong) = (0, 0, Vec::new());
    for Trained { name, data, model } in models() {
        for (field, change) in fields() {
            for at in 0.. {
                let mut parts = model.parts().clone();
                if change(&mut parts, at).is_none() {
                    assert!(at > 0 || name != "two" || field.contains("folded") || field == "no scaler", "{field} never changes");
                    break;
                }
                let Ok(model) = decode(&crafted(&parts)) else {
                    refused += 1;
                    continue;
                };
                taken += 1;
                wrong.extend(panics(|| consume(&model, &data)).map(|text| format!("{name}, {field}, {at}: {text}")));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(refused > 300 && taken > 300, "{refused} refused, {taken} taken");
}

/// Values that replace every eight bytes of the content in turn.
#[test]
fn every_word_may_be_anything() {
    let numbers = [f64::NAN, f64::INFINITY, -0.0, f64::MAX, -1.0].map(f64::to_bits);
    let counts = [0, 1, u64::from(u32::MAX), u64::MAX - 1, u64::MAX];
    let mut wrong = Vec::new();
    for Trained { name, model, .. } in
        models().into_iter().filter(|one| ["three", "scaled", "folded", "conformal"].contains(&one.name))
    {
        let file = encode(&model).expect("encodable");
        assert!(decode_all(&file));
        let content = payload(&file);
        let mut taken = 0;
        // Numbers and counts begin at any byte: an odd step reaches all places of a word.
        for at in (0..content.len() - 8).step_by(11) {
            for word in numbers.into_iter().chain(counts) {
                let mut hostile = content.to_vec();
                hostile[at..at + 8].copy_from_slice(&word.to_le_bytes());
                let asked = panics(|| taken += usize::from(decode_all(&sealed(&hostile))));
                wrong.extend(asked.map(|text| format!("{name}, byte {at}, {word:x}: {text}")));
            }
        }
        assert!(taken > 100, "{name}: {taken} of {} words", content.len());
    }
    wrong.truncate(40);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
