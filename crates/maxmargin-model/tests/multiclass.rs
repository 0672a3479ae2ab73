//! Models of several classes: nothing is lost in either file form, votes are LIBSVM's, damaged files are refused.

mod common;

use common::{bits, dense, kernels, noise, sparse};
use maxmargin_data::classes::pairs;
use maxmargin_data::{ClassLabels, Dataset, Par, Samples};
use maxmargin_kernel::{Kernel, decision_values};
use maxmargin_model::libsvm::write_multiclass;
use maxmargin_model::{
    Machine, ModelError, MulticlassModel, MulticlassParts, Stored, decode, decode_any, encode_multiclass, read_any,
};
use proptest::prelude::*;
use std::process::Command;

/// Support vectors of classes in turn; a machine uses most of those of its two classes, with the signs that they have.
fn model(kernel: Kernel, support: Samples, classes: &[f64]) -> MulticlassModel {
    let count = classes.len();
    let machines = pairs(count).enumerate().map(|(p, (a, b))| {
        let mut machine = Machine { bias: noise(1, p as u64 + 7)[0], ..Machine::default() };
        for (k, value) in noise(support.len(), p as u64 + 50).into_iter().enumerate() {
            let class = k % count;
            if (class == a || class == b) && (k + p) % 4 != 0 {
                machine.support.push(k as u32);
                machine.coef.push(if class == b { value.abs() } else { -value.abs() });
            }
        }
        machine
    });
    let machines = machines.collect();
    MulticlassModel::new(MulticlassParts {
        kernel,
        support,
        classes: classes.to_vec(),
        machines,
        index_base: 1,
        scaler: None,
        record: None,
    })
    .expect("a valid model")
}

fn written(model: &MulticlassModel) -> Vec<u8> {
    let mut text = Vec::new();
    write_multiclass(model, &mut text).unwrap();
    text
}

fn many(stored: Stored) -> MulticlassModel {
    let Stored::Many(model) = stored else { panic!("two classes") };
    model
}

#[test]
fn shared_support_vectors_give_what_each_machine_gives_alone() {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(3).build().unwrap();
    for kernel in kernels() {
        for (support, queries) in [(dense(2100, 6, 1), dense(70, 6, 2)), (sparse(40, 9, 3), sparse(11, 12, 4))] {
            let model = model(kernel.clone(), support, &[1.0, 2.0, 5.0, 7.0]);
            let table = model.decision_values(&queries, Par::Seq).unwrap();
            assert_eq!(bits(&table), bits(&pool.install(|| model.decision_values(&queries, Par::Pool)).unwrap()));
            for (p, machine) in model.parts().machines.iter().enumerate() {
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
fn both_file_forms_keep_every_bit() {
    for kernel in kernels() {
        let queries = dense(9, 6, 3);
        for support in [dense(13, 6, 1), sparse(13, 6, 2)] {
            let model = model(kernel.clone(), support, &[-3.0, 0.0, 4.0]);
            let before = model.decision_values(&queries, Par::Seq).unwrap();
            let native = many(decode_any(&encode_multiclass(&model).unwrap()).unwrap());
            assert_eq!(native, model);
            let text = many(read_any(&written(&model)).unwrap());
            // LIBSVM's text has the vectors sorted by class: the sums have another order.
            for (a, b) in before.iter().zip(&text.decision_values(&queries, Par::Seq).unwrap()) {
                assert!((a - b).abs() <= 1e-12 * (1.0 + a.abs()), "{a} {b}");
            }
            assert_eq!(written(&text), written(&many(read_any(&written(&text)).unwrap())));
        }
    }
}

#[test]
fn weights_alone_go_through_both_forms() {
    let classes = ClassLabels::new(&[1.0, 2.0, 3.0]).unwrap();
    let machines = [(vec![(0, 1.5)], 0.5), (vec![(1, -2.0), (3, 1.0)], -1.0), (vec![(2, 0.25)], 0.0)];
    let model = MulticlassModel::from_weights(4, &classes, &machines).unwrap();
    let x = Samples::from_dense(2, 4, vec![1.0, 1.0, 1.0, 1.0, -1.0, 0.0, 0.0, 2.0]).unwrap();
    let expected = [2.0, -2.0, 0.25, -1.0, 1.0, 0.0];
    for copy in [model.clone(), many(read_any(&written(&model)).unwrap())] {
        assert_eq!(copy.decision_values(&x, Par::Seq).unwrap(), expected);
        // Votes: 2, 1, 3 and 1, 3, 3.
        assert_eq!(copy.predict(&x, Par::Seq).unwrap(), [1.0, 3.0]);
    }
}

#[test]
fn a_model_of_three_classes_is_not_one_of_two() {
    let file = encode_multiclass(&model(Kernel::Linear, dense(6, 2, 1), &[1.0, 2.0, 3.0])).unwrap();
    assert!(matches!(decode(&file), Err(ModelError::Classes(3))));
}

#[test]
fn impossible_parts_are_refused() {
    let parts = model(Kernel::Linear, dense(6, 2, 1), &[1.0, 2.0, 3.0]).parts().clone();
    let wrong = |change: &dyn Fn(&mut MulticlassParts), says: &str| {
        let mut parts = parts.clone();
        change(&mut parts);
        let error = MulticlassModel::new(parts).unwrap_err().to_string();
        assert!(error.contains(says), "{error:?} does not say {says:?}");
    };
    wrong(&|p| p.classes[1] = 3.0, "3 twice");
    wrong(&|p| p.classes[1] = f64::NAN, "list of classes");
    wrong(&|p| p.classes.push(9.0), "number of machines");
    wrong(&|p| p.machines[0].support[0] = 6, "machine 0");
    wrong(&|p| p.machines[1].support.reverse(), "machine 1");
    wrong(&|p| p.machines[2].bias = f64::INFINITY, "machine 2");
    wrong(&|p| p.index_base = 2, "index base");
}

#[test]
fn wrong_text_is_refused() {
    let good = "svm_type c_svc\nkernel_type linear\nnr_class 3\ntotal_sv 3\nrho 0 0 0\nlabel 1 2 3\nnr_sv 1 1 1\nSV\n\
                1 1 1:1 \n-1 1 2:1 \n-1 -1 1:3 \n";
    assert!(read_any(good.as_bytes()).is_ok());
    let cases = [
        ("nr_class 3", "nr_class 4", "3 labels for 4 classes"),
        ("rho 0 0 0", "rho 0 0", "2 values of rho for 3 classes"),
        ("nr_sv 1 1 1", "nr_sv 1 1 2", "nr_sv does not divide 3"),
        ("nr_sv 1 1 1\n", "", "no `nr_sv`"),
        ("-1 -1 1:3", "-1 1:3", "`1:3` is not a finite number"),
        ("label 1 2 3", "label 1 2 2", "2 twice"),
    ];
    for (from, to, says) in cases {
        let error = read_any(good.replace(from, to).as_bytes()).unwrap_err().to_string();
        assert!(error.contains(says), "{error:?} does not say {says:?}");
    }
}

/// LIBSVM's own program, where it is installed, elects the same classes from our text.
#[test]
#[expect(clippy::print_stderr, reason = "a test that skips says so")]
fn svm_predict_agrees() {
    let folder = std::env::temp_dir().join(format!("maxmargin-multiclass-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let [model_file, data_file, out] = ["model", "data", "out"].map(|name| folder.join(name));
    for kernel in kernels() {
        let model = model(kernel, dense(60, 8, 5), &[7.0, -2.0, 3.0, 4.0]);
        let samples = dense(300, 8, 6);
        let labels = model.predict(&samples, Par::Seq).unwrap();
        let data = Dataset { samples, labels: labels.clone(), groups: None, index_base: 1, sha256: [0; 32] };
        std::fs::write(&model_file, written(&model)).unwrap();
        let mut text = Vec::new();
        maxmargin_data::libsvm::write(&data, &mut text).unwrap();
        std::fs::write(&data_file, text).unwrap();
        let Ok(run) = Command::new("svm-predict").arg(&data_file).arg(&model_file).arg(&out).output() else {
            eprintln!("svm-predict is not installed: this comparison is skipped");
            break;
        };
        assert!(run.status.success(), "{run:?}");
        let theirs: Vec<f64> = std::fs::read_to_string(&out).unwrap().lines().map(|l| l.parse().unwrap()).collect();
        assert_eq!(labels, theirs);
    }
    std::fs::remove_dir_all(&folder).unwrap();
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn damaged_text_never_panics(at in 0_usize..4000, byte in any::<u8>(), cut in 0_usize..4000) {
        let mut text = written(&model(Kernel::Rbf { gamma: 0.5 }, sparse(9, 4, 1), &[1.0, 2.0, 3.0]));
        let length = text.len();
        text[at % length] = byte;
        text.truncate(length - cut % length);
        let _ = read_any(&text);
    }
}
