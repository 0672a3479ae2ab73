//! Decision values and labels: machines share kernel values without a bit of difference to
//! themselves, and models say what they are.

use crate::common::{CLASSES, bits, changed, dense, kernels, model, record_of, recorded, sparse};
use maxmargin_core::{BiasTerm, Formulation, Loss, Status};
use maxmargin_data::{ClassLabels, Par, Samples};
use maxmargin_kernel::{Kernel, UserKernel, decision_values};
use maxmargin_model::{DecisionRule, Machine, MachineRecord, Model, Multiclass, Parts, Record};

#[test]
fn one_machine_has_the_bits_of_a_plain_sum() {
    for kernel in kernels() {
        // More vectors than a block of kernel values has columns.
        for (support, queries) in [(dense(2100, 6, 1), dense(70, 6, 2)), (sparse(40, 9, 3), sparse(11, 12, 4))] {
            let model = model(kernel.clone(), support, CLASSES[0]);
            let (machine, support) = (&model.machines()[0], &model.parts().support);
            let plain = decision_values(&kernel, support, &machine.coef, machine.bias, &queries, Par::Seq).unwrap();
            assert_eq!(bits(&model.decision_values(&queries, Par::Seq).unwrap()), bits(&plain));
        }
    }
}

#[test]
fn shared_support_vectors_give_what_each_machine_gives_alone() {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(3).build().unwrap();
    for kernel in kernels() {
        for (support, queries) in [(dense(2100, 6, 1), dense(70, 6, 2)), (sparse(40, 9, 3), sparse(11, 12, 4))] {
            let model = model(kernel.clone(), support, CLASSES[2]);
            let table = model.decision_values(&queries, Par::Seq).unwrap();
            assert_eq!(bits(&table), bits(&pool.install(|| model.decision_values(&queries, Par::Pool)).unwrap()));
            for (p, machine) in model.machines().iter().enumerate() {
                let rows: Vec<usize> = machine.support.iter().map(|k| *k as usize).collect();
                let own = model.parts().support.select(&rows);
                let alone = decision_values(&kernel, &own, &machine.coef, machine.bias, &queries, Par::Seq).unwrap();
                let mass: f64 = machine.coef.iter().map(|c| c.abs()).sum();
                for (q, value) in alone.iter().enumerate() {
                    let most = 1e-12 * mass * (1.0 + value.abs());
                    assert!((table[6 * q + p] - value).abs() <= most, "{} {value}", table[6 * q + p]);
                }
            }
        }
    }
}

#[test]
fn weights_alone_vote() {
    let classes = ClassLabels::new(&[1.0, 2.0, 3.0]).unwrap();
    let machines = [(vec![(0, 1.5)], 0.5), (vec![(1, -2.0), (3, 1.0)], -1.0), (vec![(2, 0.25)], 0.0)];
    let model = Model::from_weights(4, &classes, &machines).unwrap();
    assert_eq!((model.len(), model.weights(1), model.weights(3)), (3, Some(&[0.0, -2.0, 0.0, 1.0][..]), None));
    let x = Samples::from_dense(2, 4, vec![1.0, 1.0, 1.0, 1.0, -1.0, 0.0, 0.0, 2.0]).unwrap();
    assert_eq!(model.decision_values(&x, Par::Seq).unwrap(), [2.0, -2.0, 0.25, -1.0, 1.0, 0.0]);
    // Votes: 2, 1, 3 and 1, 3, 3.
    assert_eq!(model.predict(&x, Par::Seq).unwrap(), [1.0, 3.0]);
    assert_eq!((model.label(&[-1.0, -1.0, 1.0]), model.label(&[0.0, 0.0, 0.0])), (1.0, 3.0));
}

#[test]
fn the_second_of_two_classes_has_decision_0() {
    let model = changed(&model(Kernel::Linear, dense(3, 2, 1), CLASSES[0]), |p| p.classes = vec![4.0, 2.5]).unwrap();
    assert_eq!([-1e-300, 0.0, 1.0].map(|decision| model.label(&[decision])), [4.0, 2.5, 2.5]);
}

#[test]
fn machines_are_gathered_from_rows_of_the_samples() {
    let classes = ClassLabels::new(&[1.0, 2.0, 3.0]).unwrap();
    let samples = Samples::from_dense(5, 1, vec![1.0, 2.0, 4.0, 8.0, 16.0]).unwrap();
    let machines = [(vec![(1, 0.5), (4, -1.0)], 0.0), (vec![(3, 2.0)], 1.0), (vec![(1, 3.0), (3, 1.0)], 0.25)];
    let model = Model::from_machines(Kernel::Linear, &samples, &classes, &machines).unwrap();
    assert_eq!((model.len(), model.support_vectors(), model.folded()), (3, 3, false));
    let places: Vec<&[u32]> = model.machines().iter().map(|m| &m.support[..]).collect();
    assert_eq!(places, [&[0, 2][..], &[1], &[0, 1]]);
    let one = Samples::from_dense(1, 1, vec![1.0]).unwrap();
    assert_eq!(model.decision_values(&one, Par::Seq).unwrap(), [-15.0, 17.0, 14.25]);
    let descending = [machines[0].clone(), machines[1].clone(), (vec![(3, 1.0), (1, 3.0)], 0.0)];
    for row in [samples.len(), usize::MAX] {
        let missing = [(vec![(0, 1.0), (row, -1.0)], 0.0)];
        let error = Model::from_machines(Kernel::Linear, &samples, &classes, &missing).unwrap_err().to_string();
        assert!(error.contains(&format!("row {row}, the matrix has {} rows", samples.len())), "{error}");
    }
    let error = Model::from_machines(Kernel::Linear, &samples, &classes, &descending).unwrap_err().to_string();
    assert!(error.contains("machine 2 does not ascend"), "{error}");
}

#[test]
fn thousands_of_machines_of_many_features_cost_no_table_of_weights() {
    // 3,000,000 numbers are few; 5050 times that would be 120 GB.
    let classes = ClassLabels::new(&(0..101).map(f64::from).collect::<Vec<_>>()).unwrap();
    let machines: Vec<_> = (0..5050).map(|p| (vec![(p, 1.0)], 0.5)).collect();
    let model = Model::from_weights(3_000_000, &classes, &machines).unwrap();
    assert_eq!(model.weights(0), None);
    let x = Samples::from_sparse(3_000_000, vec![0, 2], vec![0, 2], vec![3.0, -4.0]).unwrap();
    let decisions = model.decision_values(&x, Par::Seq).unwrap();
    assert_eq!((decisions.len(), &decisions[..4]), (5050, &[3.5, 0.5, -3.5, 0.5][..]));
}

#[test]
fn weights_made_for_one_prediction_have_the_bits_of_kept_ones() {
    let classes = ClassLabels::new(&(0..22).map(f64::from).collect::<Vec<_>>()).unwrap();
    let machines: Vec<_> = (0..231).map(|p| (vec![(0, 0.1 + f64::from(p)), (1, -0.3)], 0.7)).collect();
    let samples = dense(2, 20_000, 1);
    let many = Model::from_machines(Kernel::Linear, &samples, &classes, &machines).unwrap();
    assert_eq!(many.weights(0), None, "231 · 20,000 numbers for 40,000 entries");
    let two = ClassLabels::new(&[1.0, 2.0]).unwrap();
    let queries = dense(3, 20_001, 2);
    let table = many.decision_values(&queries, Par::Seq).unwrap();
    for (p, machine) in machines.iter().enumerate() {
        let one = Model::from_machines(Kernel::Linear, &samples, &two, std::slice::from_ref(machine)).unwrap();
        assert_eq!(one.weights(0).map(<[f64]>::len), Some(20_000));
        let column: Vec<f64> = table.iter().skip(p).step_by(231).copied().collect();
        assert_eq!(bits(&column), bits(&one.decision_values(&queries, Par::Seq).unwrap()));
    }
}

#[test]
fn support_vectors_are_counted_once_kept_or_folded() {
    let kept = recorded(Kernel::Linear, dense(12, 2, 1), CLASSES[2]);
    assert_eq!((kept.support_vectors(), kept.len(), kept.folded()), (12, 12, false));
    let classes = ClassLabels::new(&[1.0, 2.0, 3.0]).unwrap();
    let machines = [(vec![(0, 1.5)], 0.5), (vec![(1, -2.0)], -1.0), (vec![(1, 0.25)], 0.0)];
    let model = Model::from_weights(2, &classes, &machines).unwrap();
    let mut record = Record { rows: 9, ..record_of(&model) };
    for (training, rows) in record.machines.iter_mut().zip([vec![0, 3], vec![3, 8], vec![0, 1, 8]]) {
        training.folded = Some(vec![0.5; rows.len()]);
        training.rows = rows;
    }
    let folded = model.clone().with_record(record.clone()).unwrap();
    assert_eq!((folded.support_vectors(), folded.len(), folded.folded()), (4, 3, true));
    record.machines[1] = MachineRecord { rows: vec![2], folded: None, ..record.machines[1].clone() };
    let error = model.with_record(record).unwrap_err().to_string();
    assert!(error.contains("some machines keep weights alone"), "{error}");
}

#[test]
fn a_record_tells_its_worst_machine() {
    let mut record = record_of(&model(Kernel::Linear, dense(9, 2, 1), CLASSES[1]));
    record.machines[1].certificate.kkt = 2e-3;
    record.machines[2].certificate.kkt = 2e-3;
    record.machines[0].status = Status::Stalled;
    assert_eq!((record.status(), record.iterations()), (Status::Stalled, 1234 + 1235 + 1236));
    assert_eq!(record.worst(), Some(&record.machines[1]));
    record.machines[2].certificate.kkt = f64::NAN;
    assert!(record.worst().is_some_and(|worst| worst.certificate.kkt.is_nan()));
    record.machines.clear();
    assert_eq!((record.worst(), record.status(), record.iterations()), (None, Status::Converged, 0));
}

#[test]
fn impossible_parts_are_refused() {
    for classes in CLASSES {
        let good = model(Kernel::Rbf { gamma: 0.5 }, dense(8, 2, 1), classes);
        let last = good.machines().len() - 1;
        let wrong = |change: &dyn Fn(&mut Parts), says: &str| {
            let error = changed(&good, change).unwrap_err().to_string();
            assert!(error.contains(says) && !error.contains('\n'), "{error:?} does not say {says:?}");
        };
        wrong(&|p| p.classes[1] = p.classes[0], "twice");
        wrong(&|p| p.classes[1] = f64::NAN, "list of classes");
        wrong(&|p| p.classes.truncate(1), "two labels or more and has 1");
        wrong(&|p| p.classes.clear(), "two labels or more and has 0");
        wrong(&|p| p.classes.push(9.0), "number of machines");
        wrong(&|p| p.machines.clear(), "number of machines");
        wrong(&|p| p.machines.push(Machine::default()), "number of machines");
        wrong(&|p| *p.machines[last].support.last_mut().unwrap() = 8, &format!("machine {last} does not ascend below 8"));
        wrong(&|p| p.machines[last].support.reverse(), &format!("machine {last}"));
        wrong(&|p| p.machines[last].coef.truncate(1), "number of coefficients");
        wrong(&|p| p.machines[last].coef[1] = f64::NAN, "NaN");
        wrong(&|p| p.machines[last].bias = f64::INFINITY, &format!("machine {last} has inf"));
        wrong(&|p| p.index_base = 2, "index base");
        wrong(&|p| p.kernel = Kernel::Rbf { gamma: -1.0 }, "gamma");
        wrong(&|p| p.kernel = Kernel::Precomputed, "serial");
    }
}

#[test]
fn records_that_do_not_fit_are_refused() {
    for classes in CLASSES {
        let model = model(Kernel::Linear, dense(8, 2, 1), classes);
        let good = record_of(&model);
        let wrong = |change: &dyn Fn(&mut Record), says: &str| {
            let mut record = good.clone();
            change(&mut record);
            let error = model.clone().with_record(record).unwrap_err().to_string();
            assert!(error.contains(says) && !error.contains('\n'), "{error:?} does not say {says:?}");
        };
        wrong(&|r| r.machines.clear(), "0 trainings");
        wrong(&|r| r.weights.push(1.0), "weights for");
        wrong(&|r| r.weights[1] = -1.0, "weight of a class is -1");
        wrong(&|r| r.weights[0] = f64::INFINITY, "weight of a class is inf");
        wrong(&|r| r.formulation = Formulation::c_svc(0.0), "C = 0");
        wrong(&|r| r.eps = f64::NAN, "eps = NaN");
        wrong(&|r| r.gap = Some(-1.0), "gap = Some(-1.0)");
        wrong(&|r| r.features = 3, "3 features");
        wrong(&|r| r.formulation = r.formulation.with(Loss::Hinge, BiasTerm::Feature(f64::NAN)), "bias feature");
        wrong(&|r| r.solver = "smo\n".to_owned(), "name of the solver");
        wrong(&|r| r.solver = "s".repeat(65), "name of the solver");
        wrong(&|r| *r.machines[0].rows.last_mut().unwrap() = r.rows, "machine 0: the rows of the support vectors do not ascend");
        wrong(&|r| r.machines[0].rows.reverse(), "machine 0: the rows of the support vectors do not ascend");
        wrong(&|r| _ = r.machines[0].rows.pop(), "machine 0: ");
        wrong(&|r| r.machines[0].folded = Some(vec![1.0; r.machines[0].rows.len()]), "weights alone");
    }
}

/// The models of every decision rule without probabilities, over these support vectors.
fn of_all_rules(kernel: &Kernel, support: &Samples) -> Vec<Model> {
    let votes = model(kernel.clone(), support.clone(), CLASSES[2]);
    let two = model(kernel.clone(), support.clone(), CLASSES[0]);
    let rest = changed(&votes, |p| {
        (p.multiclass, p.decision_rule) = (Multiclass::OneVsRest, DecisionRule::Argmax);
        p.machines.truncate(4);
    });
    let alone = |decision_rule| {
        changed(&two, |p| {
            (p.decision_rule, p.classes) = (decision_rule, Vec::new());
        })
    };
    let made = [rest, alone(DecisionRule::Inlier), alone(DecisionRule::Value), two.clone().with_threshold(0.3)];
    let in_order = votes.clone().with_tie_order(vec![2, 0, 3, 1]);
    made.into_iter().chain([in_order]).map(|model| model.unwrap()).chain([votes, two]).collect()
}

/// Predictions are the labels of decision values, for all rules, kernels and forms of rows; also of
/// decision values that are exactly at the border.
#[test]
fn predictions_are_the_labels_of_decision_values() {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
    let user = UserKernel::new("laplacian for labels", |x, z| {
        let mut distance = 0.0;
        x.for_each_pair(z, |_, x, z| distance += (x - z).abs());
        (-0.5 * distance).exp()
    });
    for kernel in kernels().into_iter().chain([Kernel::User(user), Kernel::Rbf { gamma: 1e-12 }, Kernel::Rbf { gamma: 1e9 }]) {
        for (support, queries) in [(dense(300, 6, 1), dense(150, 6, 2)), (sparse(40, 9, 3), sparse(50, 12, 4))] {
            for made in of_all_rules(&kernel, &support) {
                let border = made.decision_values(&queries.select(&[7]), Par::Seq).unwrap();
                let at_border = changed(&made, |p| {
                    let threshold = p.threshold.unwrap_or(0.0);
                    p.machines.iter_mut().zip(&border).for_each(|(machine, value)| machine.bias += threshold - value);
                });
                for model in [made, at_border.unwrap()] {
                    let table = model.decision_values(&queries, Par::Seq).unwrap();
                    let want: Vec<f64> = table.chunks(model.machines().len()).map(|row| model.label(row)).collect();
                    assert_eq!(bits(&model.predict(&queries, Par::Seq).unwrap()), bits(&want), "{kernel:?}");
                    assert_eq!(bits(&pool.install(|| model.predict(&queries, Par::Pool)).unwrap()), bits(&want), "{kernel:?}");
                    let few = queries.select(&[7, 3]);
                    assert_eq!(bits(&model.predict(&few, Par::Seq).unwrap()), bits(&[want[7], want[3]]), "{kernel:?}");
                }
            }
        }
    }
}

/// Single precision decides nearly all rows of an RBF model, and none of the other kernels.
#[test]
fn few_rows_of_an_rbf_kernel_take_double_precision() {
    let queries = dense(500, 6, 2);
    for kernel in kernels() {
        let is_rbf = matches!(kernel, Kernel::Rbf { .. });
        for classes in CLASSES {
            let found = model(kernel.clone(), dense(300, 6, 1), classes).labels(&queries, Par::Seq).unwrap();
            assert_eq!(found.in_singles, is_rbf);
            assert!(found.recomputed <= 5, "{} of 500", found.recomputed);
        }
    }
}

/// LIBLINEAR looks at the first column alone where there are two labels, also in models of Crammer
/// and Singer's machine, which have a column for each.
#[test]
fn liblinears_two_labels_are_decided_by_the_first_column() {
    let model = maxmargin_model::liblinear::LinearModel {
        solver: 4,
        labels: vec![2, 1],
        features: 1,
        bias: -1.0,
        rho: None,
        weights: vec![vec![1.0], vec![-1.0]],
    };
    let elected = [[0.0, 0.0], [0.25, -0.25], [-0.25, 0.25], [0.25, 0.5]].map(|row| model.label(&row));
    assert_eq!(elected, [1.0, 2.0, 1.0, 2.0]);
}
