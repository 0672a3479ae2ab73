//! Invalid values in model files: a change for every field.

use maxmargin_core::{BiasTerm, Formulation, Loss};
use maxmargin_cv::TrainingData;
use maxmargin_data::scale::Scaler;
use maxmargin_data::{Samples, codec};
use maxmargin_kernel::Kernel;
use maxmargin_model::{Calibration, DecisionRule, Machine, Multiclass, Parts};

/// Numbers of samples, lengths, indices: those at which sums and products wrap.
const COUNTS: [u64; 10] = [0, 1, 2, 7, u32::MAX as u64 - 1, u32::MAX as u64, 1 << 32, 1 << 63, u64::MAX - 1, u64::MAX];

/// Values that are invalid, or nearly invalid, for coefficients, biases and C.
const NUMBERS: [f64; 10] =
    [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -0.0, 0.0, -1.0, f64::MAX, f64::MIN_POSITIVE, 5e-324, 1e9];

/// A change of parts, by number; `None` if there is no change with this number.
pub(crate) type Field = fn(&mut Parts, usize) -> Option<()>;

fn put<T: Clone>(place: &mut T, values: &[T], at: usize) -> Option<()> {
    *place = values.get(at)?.clone();
    Some(())
}

fn count(place: &mut u64, at: usize) -> Option<()> {
    put(place, &COUNTS, at)
}

fn number(place: &mut f64, at: usize) -> Option<()> {
    put(place, &NUMBERS, at)
}

/// Makes a list shorter, longer, doubled, reversed or empty.
fn list<T: Clone>(list: &mut Vec<T>, at: usize) -> Option<()> {
    match at {
        0 => list.clear(),
        1 => drop(list.pop()),
        2 => list.push(list.last()?.clone()),
        3 => list.reverse(),
        4 => list.insert(0, list.last()?.clone()),
        5 => list.truncate(1),
        _ => return None,
    }
    Some(())
}

/// Every field of every kind, by name.
pub(crate) fn fields() -> Vec<(&'static str, Field)> {
    [of_decisions(), of_record(), of_kept_data()].concat()
}

fn of_decisions() -> Vec<(&'static str, Field)> {
    vec![
        ("classes", |p, at| list(&mut p.classes, at)),
        ("a class", |p, at| number(p.classes.last_mut()?, at)),
        ("another class", |p, at| put(&mut p.classes[0], &[1.0, 2.0, 3.0, -7.0, 0.5, f64::NAN], at)),
        ("machines", |p, at| list(&mut p.machines, at)),
        ("an empty machine", |p, at| (at == 0).then(|| p.machines[0] = Machine::default())),
        ("machine.support", |p, at| list(&mut p.machines.last_mut()?.support, at)),
        ("a support index", |p, at| {
            let indices = COUNTS.map(|n| n as u32);
            put(p.machines.last_mut()?.support.last_mut()?, &indices, at)
        }),
        ("machine.coef", |p, at| list(&mut p.machines.last_mut()?.coef, at)),
        ("a coefficient", |p, at| number(p.machines.last_mut()?.coef.first_mut()?, at)),
        ("every coefficient", |p, at| {
            let value = *NUMBERS.get(at)?;
            p.machines.iter_mut().for_each(|m| m.coef.fill(value));
            Some(())
        }),
        ("bias", |p, at| number(&mut p.machines.first_mut()?.bias, at)),
        ("support", |p, at| {
            let rows = [0, 1, 5];
            p.support = p.support.select(&vec![0; *rows.get(at)?]);
            Some(())
        }),
        ("support.features", |p, at| {
            let features = [0, 1, 3, 1 << 12];
            p.support = p.support.clone().with_features(*features.get(at)?);
            Some(())
        }),
        ("vectors of no features", |p, at| {
            p.support = Samples::from_dense(*COUNTS.get(at)? as usize, 0, Vec::new()).ok()?;
            p.scaler = p.scaler.as_ref().map(|scaler| Scaler::fit(&p.support.select(&[]), scaler.method()));
            p.record.iter_mut().for_each(|record| record.features = 0);
            Some(())
        }),
        ("features of no vectors", |p, at| {
            p.support = Samples::from_dense(0, *COUNTS.get(at)? as usize, Vec::new()).ok()?;
            p.scaler = p.scaler.as_ref().map(|scaler| Scaler::fit(&p.support, scaler.method()));
            p.machines.iter_mut().for_each(|m| *m = Machine { bias: m.bias, ..Machine::default() });
            p.record = None;
            Some(())
        }),
        ("rule", |p, at| {
            put(
                &mut p.decision_rule,
                &[DecisionRule::Vote, DecisionRule::Value, DecisionRule::Inlier, DecisionRule::Argmax, DecisionRule::Coupled],
                at,
            )
        }),
        ("scheme", |p, at| put(&mut p.multiclass, &[Multiclass::OneVsOne, Multiclass::OneVsRest], at)),
        ("rule of the rest", |p, at| {
            (p.decision_rule, p.multiclass) = (DecisionRule::Argmax, Multiclass::OneVsRest);
            put(&mut p.machines.first_mut()?.bias, &[0.0, 1.0], at)
        }),
        ("calibration", |p, at| {
            let of = |x: f64| {
                [Calibration::Sigmoid { a: x, b: 1.0 }, Calibration::Sigmoid { a: 1.0, b: x }, Calibration::Laplace { scale: x }]
            };
            let steps = |x: f64| Calibration::Steps { at: vec![x, 1.0], probability: vec![0.5, x] };
            let all = NUMBERS.into_iter().flat_map(|x| of(x).into_iter().chain([steps(x), Calibration::Marks(vec![x; 10])]));
            p.calibration = vec![all.collect::<Vec<_>>().get(at)?.clone(); p.machines.len()];
            p.decision_rule = DecisionRule::Coupled;
            Some(())
        }),
        ("order of ties", |p, at| {
            put(&mut p.tie_order, &[vec![0], vec![1, 0], vec![0, 0], vec![0, 1, 2], vec![u32::MAX; 2]], at)
        }),
        ("index base", |p, at| put(&mut p.index_base, &[0, 1, 2, u32::MAX], at)),
        ("gamma", |p, at| {
            p.kernel = p.kernel.clone().with_gamma(*NUMBERS.get(at)?);
            Some(())
        }),
        ("kernel", |p, at| {
            let huge = Kernel::poly(1.0, 0.0, u32::MAX);
            let kernels = [Kernel::Linear, Kernel::Precomputed, Kernel::rbf(1e300), huge, Kernel::poly(1e300, 1e300, 9)];
            p.kernel = kernels.get(at)?.clone();
            Some(())
        }),
    ]
}

fn of_record() -> Vec<(&'static str, Field)> {
    vec![
        ("no scaler", |p, at| (at == 0).then(|| p.scaler = None)),
        ("no record", |p, at| (at == 0).then(|| p.record = None)),
        ("C", |p, at| {
            let formulation = &mut p.record.as_mut()?.formulation;
            *formulation = formulation.with_c(*NUMBERS.get(at)?);
            Some(())
        }),
        ("formulation", |p, at| {
            let of = |x: f64| {
                let svr = Formulation::Svr { c: 1.0, epsilon: x, loss: Loss::Hinge, bias_term: BiasTerm::Free };
                let levels = [Formulation::quantile(1.0, x), Formulation::expectile(1.0, x)];
                let shares =
                    [Formulation::NuSvc { nu: x }, Formulation::NuSvr { c: 1.0, nu: x }, Formulation::OneClass { nu: x }];
                [svr].into_iter().chain(levels).chain(shares)
            };
            p.record.as_mut()?.formulation = NUMBERS.into_iter().chain([0.1, 1.0]).flat_map(of).nth(at)?;
            Some(())
        }),
        ("a formulation and its rule", |p, at| {
            let values = Formulation::epsilon_svr(1.0, 0.1);
            let level = Formulation::quantile(1.0, 0.9);
            let all = [Formulation::NuSvr { c: 1.0, nu: 0.5 }, values, level, Formulation::OneClass { nu: 0.5 }];
            let formulation = *all.get(at)?;
            p.decision_rule = DecisionRule::of(formulation.target_kind());
            p.classes = Vec::new();
            let record = p.record.as_mut()?;
            (record.formulation, record.weights) = (formulation, Vec::new());
            record.machines.truncate(1);
            p.machines.truncate(1);
            Some(())
        }),
        ("a weight", |p, at| number(p.record.as_mut()?.weights.first_mut()?, at)),
        ("weights", |p, at| list(&mut p.record.as_mut()?.weights, at)),
        ("eps", |p, at| number(&mut p.record.as_mut()?.eps, at)),
        ("gap", |p, at| {
            p.record.as_mut()?.gap = Some(*NUMBERS.get(at)?);
            Some(())
        }),
        ("loss", |p, at| {
            let formulation = &mut p.record.as_mut()?.formulation;
            *formulation = formulation.with(*[Loss::Hinge, Loss::SquaredHinge].get(at)?, formulation.bias_term());
            Some(())
        }),
        ("offset", |p, at| {
            let bias_term = NUMBERS.map(BiasTerm::Feature).into_iter().chain([BiasTerm::Free, BiasTerm::None]).nth(at)?;
            let formulation = &mut p.record.as_mut()?.formulation;
            *formulation = formulation.with(formulation.loss(), bias_term);
            Some(())
        }),
        ("solver", |p, at| {
            let names = ["", "cvm", "no such solver", "a\nline", "\u{7}"];
            (*names.get(at)?).clone_into(&mut p.record.as_mut()?.solver);
            Some(())
        }),
        ("rows", |p, at| count(&mut p.record.as_mut()?.rows, at)),
        ("features", |p, at| count(&mut p.record.as_mut()?.features, at)),
        ("trainings", |p, at| list(&mut p.record.as_mut()?.machines, at)),
        ("training.rows", |p, at| list(&mut p.record.as_mut()?.machines.last_mut()?.rows, at)),
        ("a row", |p, at| count(p.record.as_mut()?.machines.last_mut()?.rows.last_mut()?, at)),
        ("rows and a row", |p, at| {
            let record = p.record.as_mut()?;
            record.rows = u64::MAX;
            count(record.machines.last_mut()?.rows.last_mut()?, at)
        }),
        ("bounded", |p, at| count(&mut p.record.as_mut()?.machines.last_mut()?.bounded, at)),
        ("every bounded", |p, at| {
            let value = *COUNTS.get(at)?;
            p.record.as_mut()?.machines.iter_mut().for_each(|m| m.bounded = value);
            Some(())
        }),
        ("every iterations", |p, at| {
            let value = *COUNTS.get(at)?;
            p.record.as_mut()?.machines.iter_mut().for_each(|m| m.iterations = value);
            Some(())
        }),
        ("primal", |p, at| number(&mut p.record.as_mut()?.machines.last_mut()?.certificate.primal, at)),
        ("dual", |p, at| number(&mut p.record.as_mut()?.machines.last_mut()?.certificate.dual, at)),
        ("kkt", |p, at| number(&mut p.record.as_mut()?.machines.last_mut()?.certificate.kkt, at)),
        ("infeasible", |p, at| number(&mut p.record.as_mut()?.machines.last_mut()?.certificate.infeasible, at)),
        ("folded", |p, at| list(p.record.as_mut()?.machines.last_mut()?.folded.as_mut()?, at)),
        ("a folded coefficient", |p, at| number(p.record.as_mut()?.machines.last_mut()?.folded.as_mut()?.first_mut()?, at)),
        ("not folded", |p, at| {
            (at < 2).then_some(())?;
            let machines = p.record.as_mut()?.machines.iter_mut();
            machines.skip(at).for_each(|machine| machine.folded = None);
            Some(())
        }),
        ("sections", |p, at| list(&mut p.sections, at)),
    ]
}

fn of_kept_data() -> Vec<(&'static str, Field)> {
    vec![
        ("kept bytes", |p, at| list(&mut p.sections.first_mut()?.bytes, at)),
        ("kept numbers", |p, at| kept(p, |kept| list(&mut kept.numbers, at))),
        ("a kept number", |p, at| kept(p, |kept| count(kept.numbers.last_mut()?, at))),
        ("next", |p, at| kept(p, |kept| count(&mut kept.next, at))),
        ("updates", |p, at| kept(p, |kept| count(&mut kept.updates, at))),
        ("kept labels", |p, at| kept(p, |kept| list(&mut kept.data.labels, at))),
        ("a kept label", |p, at| kept(p, |kept| number(kept.data.labels.last_mut()?, at))),
        ("kept groups", |p, at| {
            kept(p, |kept| {
                kept.data.groups = Some(vec![0, 1]);
                (at == 0).then_some(())
            })
        }),
        ("kept index base", |p, at| kept(p, |kept| put(&mut kept.data.index_base, &[0, 2, u32::MAX], at))),
        ("kept features", |p, at| {
            kept(p, |kept| {
                let features = [0, 1, 3, 1 << 12];
                kept.data.samples = kept.data.samples.clone().with_features(*features.get(at)?);
                Some(())
            })
        }),
        ("kept features of no rows", |p, at| {
            kept(p, |kept| {
                kept.data.samples = Samples::from_dense(0, *COUNTS.get(at)? as usize, Vec::new()).ok()?;
                (kept.data.labels, kept.numbers) = (Vec::new(), Vec::new());
                Some(())
            })
        }),
        ("kept rows of no features", |p, at| {
            kept(p, |kept| {
                kept.data.samples = Samples::from_dense(*COUNTS.get(at)? as usize, 0, Vec::new()).ok()?;
                Some(())
            })
        }),
        ("kept rows", |p, at| {
            kept(p, |kept| {
                let rows = [0, 1, 30];
                kept.data.samples = kept.data.samples.select(&vec![0; *rows.get(at)?]);
                Some(())
            })
        }),
    ]
}

/// Changes the data that a model keeps. The hash is updated, so that only the change is wrong.
fn kept(parts: &mut Parts, change: impl FnOnce(&mut TrainingData) -> Option<()>) -> Option<()> {
    let section = parts.sections.first_mut()?;
    let mut kept: TrainingData = codec::decode(&section.bytes, section.bytes.len()).ok()?;
    change(&mut kept)?;
    section.bytes = codec::encode(&kept).expect("encodable");
    if kept.data.labels.len() >= kept.data.samples.len() {
        parts.record.as_mut()?.data_sha256 = maxmargin_model::numbers_sha256(&kept.data);
    }
    Some(())
}
