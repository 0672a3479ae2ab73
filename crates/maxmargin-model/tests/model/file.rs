//! The native file: it keeps all bits, and damaged files are errors.

use crate::common::{CLASSES, bits, changed, dense, kernels, model, record_of, recorded, sparse};
use maxmargin_data::scale::ScaleMethod;
use maxmargin_data::{Par, Samples, Scaler, codec};
use maxmargin_kernel::{Kernel, UserKernel};
use maxmargin_model::file::FORMAT;
use maxmargin_model::{Machine, ModelError, decode, encode};
use proptest::prelude::*;

/// Returns the native file of any `payload`: a hostile file with a valid checksum.
fn sealed(payload: &[u8]) -> Vec<u8> {
    maxmargin_model::file::sealed(FORMAT, payload)
}

fn payload(file: &[u8]) -> &[u8] {
    let line = file.iter().position(|b| *b == b'\n').expect("a first line");
    &file[line + 1..]
}

#[test]
fn a_round_trip_predicts_the_same_bits() {
    for (kernel, classes) in kernels().iter().flat_map(|kernel| CLASSES.map(|classes| (kernel, classes))) {
        for support in [dense(17, 6, 1), sparse(17, 6, 2)] {
            let plain = model(kernel.clone(), support, classes);
            let scaled = plain.clone().with_scaler(Scaler::fit(&dense(5, 6, 9), ScaleMethod::Standard)).unwrap();
            for model in [plain.with_index_base(0).unwrap(), scaled] {
                let record = record_of(&model);
                let model = model.with_record(record).unwrap();
                let copy = decode(&encode(&model).unwrap()).unwrap();
                assert_eq!(model, copy);
                for queries in [dense(9, 6, 3), sparse(9, 8, 4), dense(9, 4, 5)] {
                    let before = model.decision_values(&queries, Par::Seq).unwrap();
                    let after = copy.decision_values(&queries, Par::Seq).unwrap();
                    assert_eq!(bits(&before), bits(&after));
                }
            }
        }
    }
}

#[test]
fn a_kernel_of_ones_own_is_found_by_its_name() {
    let laplacian = UserKernel::new("laplacian of the model tests", |x, z| {
        let mut distance = 0.0;
        x.for_each_pair(z, |_, x, z| distance += f64::abs(x - z));
        f64::exp(-distance)
    });
    // The matrix is so wide and empty that kernels of products would drop columns.
    let hollow = Samples::from_sparse(1 << 23, vec![0, 2, 3], vec![7, 1 << 22, 9], vec![1.0, 0.5, 2.0]).unwrap();
    let model = recorded(Kernel::User(laplacian.clone()), hollow, CLASSES[0]);
    let file = encode(&model).unwrap();
    let error = decode(&file).expect_err("a kernel that this process does not know").to_string();
    assert!(error.contains("no kernel is registered as `laplacian of the model tests`"), "{error}");
    laplacian.register();
    let copy = decode(&file).unwrap();
    let queries = dense(5, 12, 3);
    let decisions = copy.decision_values(&queries, Par::Seq).unwrap();
    assert_eq!(bits(&decisions), bits(&model.decision_values(&queries, Par::Seq).unwrap()));
    let (support, machine) = (&model.parts().support, &model.machines()[0]);
    for (q, decision) in decisions.into_iter().enumerate() {
        let terms = machine.support.iter().zip(&machine.coef);
        let sum: f64 = terms.map(|(&k, c)| c * laplacian.value(support.row(k as usize), queries.row(q))).sum();
        assert!((decision - sum - machine.bias).abs() < 1e-15);
    }
    assert!(matches!(maxmargin_model::libsvm::write_model(&model, &mut Vec::new()), Err(ModelError::Unsupported(_))));
}

#[test]
fn an_empty_model_and_sections_survive() {
    for classes in CLASSES {
        let none = Samples::from_dense(0, 3, vec![]).unwrap();
        let model = model(Kernel::Rbf { gamma: 1.0 }, none, classes).with_section(*b"path\0\0\0\0", vec![0, 255, 3]);
        let copy = decode(&encode(&model).unwrap()).unwrap();
        assert!(copy.is_empty());
        assert_eq!(copy.section(*b"path\0\0\0\0"), Some(&[0, 255, 3][..]));
        assert_eq!(copy.section(*b"other\0\0\0"), None);
        let biases: Vec<f64> = model.machines().iter().map(|m| m.bias).collect();
        assert_eq!(copy.decision_values(&dense(2, 3, 1), Par::Seq).unwrap(), [&biases[..], &biases].concat());
        let replaced = copy.with_section(*b"path\0\0\0\0", vec![1]);
        assert_eq!(replaced.section(*b"path\0\0\0\0"), Some(&[1][..]));
        assert_eq!(replaced.parts().sections.len(), 1);
    }
}

#[test]
fn every_truncation_is_an_error() {
    for classes in CLASSES {
        let file = encode(&recorded(Kernel::Rbf { gamma: 0.5 }, sparse(9, 5, 1), classes)).unwrap();
        for length in 0..file.len() {
            let found = decode(&file[..length]);
            assert!(found.is_err(), "{length} of {} bytes were read as a model", file.len());
        }
        let content = payload(&file);
        for length in 0..content.len() {
            let found = decode(&sealed(&content[..length]));
            assert!(matches!(found, Err(ModelError::Content(_))), "{length} of {} bytes of content", content.len());
        }
        let cut = decode(&file[..file.len() - 3]).unwrap_err();
        assert!(matches!(cut, ModelError::Truncated { expected, found } if expected == found + 3), "{cut}");
        let mut longer = file.clone();
        longer.push(0);
        assert!(matches!(decode(&longer), Err(ModelError::Trailing(1))));
    }
}

#[test]
fn every_flipped_bit_is_an_error() {
    let file = encode(&recorded(Kernel::Linear, dense(5, 3, 1), CLASSES[1])).unwrap();
    for at in 0..file.len() {
        for bit in 0..8 {
            let mut damaged = file.clone();
            damaged[at] ^= 1 << bit;
            assert!(decode(&damaged).is_err(), "bit {bit} of byte {at} made no difference");
        }
    }
}

#[test]
fn messages_say_what_is_wrong() {
    let says = |bytes: &[u8]| decode(bytes).unwrap_err().to_string();
    assert!(says(b"hello").contains("not a model file"));
    assert!(says(b"").contains("not a model file"));
    assert!(says(b"maxmargin-model 12 0 abc\n").contains("format 12"));
    assert!(says(b"maxmargin-model").contains("first line"));
    assert!(says(format!("maxmargin-model {FORMAT} 18446744073709551615 00\nxx").as_bytes()).contains("cut short"));
    let mut future = encode(&model(Kernel::Linear, dense(2, 2, 1), CLASSES[0])).unwrap();
    future.insert(16, b'1');
    assert!(matches!(decode(&future), Err(ModelError::Future { found: 111, newest: FORMAT })));
    future.drain(16..18);
    future[16] = b'8';
    assert!(matches!(decode(&future), Err(ModelError::Past { found: 8 })));
    future[16] = b'0';
    assert!(matches!(decode(&future), Err(ModelError::Header)));
}

/// A file of invalid parts with a valid checksum is refused.
#[test]
fn a_sealed_file_with_impossible_numbers_is_refused() {
    for classes in CLASSES {
        let good = recorded(Kernel::Rbf { gamma: 0.5 }, dense(8, 2, 1), classes);
        let says = |change: &dyn Fn(&mut maxmargin_model::Parts)| {
            let mut parts = good.parts().clone();
            change(&mut parts);
            decode(&sealed(&codec::encode(&parts).unwrap())).unwrap_err().to_string()
        };
        assert!(says(&|p| p.machines[0].coef.truncate(1)).contains("number of coefficients"));
        assert!(says(&|p| p.machines[0].support[1] = u32::MAX).contains("list of support vectors"));
        assert!(says(&|p| p.machines.resize(70_000, Machine::default())).contains("number of machines"));
        assert!(says(&|p| p.classes.extend((0..70_000).map(|i| f64::from(i) + 0.5))).contains("number of machines"));
        assert!(says(&|p| p.kernel = Kernel::Rbf { gamma: -1.0 }).contains("gamma"));
        assert!(says(&|p| p.record.as_mut().unwrap().machines[0].rows[1] = 1_000_000).contains("rows of the support vectors"));
    }
}

/// Every eight bytes of the content in turn become impossible lengths; the reader does not allocate
/// memory for them.
#[test]
fn hostile_lengths_are_refused() {
    for classes in CLASSES {
        let file = encode(&recorded(Kernel::Linear, sparse(8, 5, 1), classes)).unwrap();
        let content = payload(&file);
        for at in 0..content.len() - 8 {
            for length in [u64::MAX, 1 << 63, 1 << 40, u64::from(u32::MAX)] {
                let mut hostile = content.to_vec();
                hostile[at..at + 8].copy_from_slice(&length.to_le_bytes());
                if let Ok(model) = decode(&sealed(&hostile)) {
                    assert_eq!(decode(&encode(&model).unwrap()).unwrap().len(), 8);
                }
            }
        }
    }
}

/// A few bytes that name the greatest possible feature, for every machine.
#[test]
fn the_greatest_width_costs_nothing_whatever_the_number_of_machines() {
    let wide = Samples::from_sparse(4_294_967_295, vec![0, 1, 2, 3, 3], vec![0, 7, 4_000_000_000], vec![1.0, 2.0, 3.0]).unwrap();
    let copy = decode(&encode(&model(Kernel::Linear, wide.clone(), CLASSES[2])).unwrap()).unwrap();
    assert_eq!(copy.weights(0), None);
    let decisions = copy.decision_values(&wide, Par::Seq).unwrap();
    let machine = &copy.machines()[0];
    let at = machine.support.iter().position(|k| *k == 1).unwrap();
    assert_eq!(decisions[6], 4.0 * machine.coef[at] + machine.bias);
    let narrow = changed(&copy, |p| p.kernel = Kernel::Rbf { gamma: 0.5 }).unwrap();
    assert_eq!(narrow.decision_values(&wide, Par::Seq).unwrap().len(), 24);
}

proptest! {
    #![proptest_config(maxmargin_testkit::cases(2000))]

    /// A hostile file with a valid checksum causes neither a panic nor an enormous allocation.
    #[test]
    fn changed_content_never_panics(
        classes in 0..CLASSES.len(),
        changes in prop::collection::vec((0_usize..1000, any::<u8>()), 1..8),
        cut in 0_usize..400,
    ) {
        let kernel = Kernel::Poly { gamma: 1.0, coef0: 0.0, degree: 2 };
        let file = encode(&recorded(kernel, sparse(6, 5, 1), CLASSES[classes])).unwrap();
        let mut content = payload(&file).to_vec();
        for (at, byte) in changes {
            let length = content.len();
            content[at % length] = byte;
        }
        content.truncate(content.len().max(cut) - cut.min(content.len()) / 4);
        if let Ok(model) = decode(&sealed(&content)) {
            let again = decode(&encode(&model).unwrap()).unwrap();
            prop_assert_eq!(encode(&model).unwrap(), encode(&again).unwrap());
        }
    }

    #[test]
    fn what_is_written_reads_back(
        kernel in 0_usize..4, count in 2_usize..7, rows in 0_usize..20, features in 0_usize..9, seed in any::<u64>(),
    ) {
        let classes: Vec<f64> = (0..count).map(|class| (class * 5 % 7) as f64 - 2.5).collect();
        let model = recorded(kernels()[kernel].clone(), sparse(rows, features, seed), &classes);
        prop_assert_eq!(decode(&encode(&model).unwrap()).unwrap(), model);
    }

    #[test]
    fn random_content_never_panics(content in prop::collection::vec(any::<u8>(), 0..300)) {
        let _ = decode(&sealed(&content));
        let _ = maxmargin_model::read(&content);
    }
}

/// A regression test: rows without features take no byte of a file. 2⁵⁶ of them were read, and the
/// first prediction requested 2⁵⁹ bytes and aborted.
#[test]
fn vectors_without_features_are_not_more_than_machines_use() {
    let mut parts = model(Kernel::rbf(0.5), dense(5, 3, 1), CLASSES[0]).into_parts();
    parts.support = Samples::from_dense(1 << 56, 0, vec![]).expect("rows without values");
    parts.machines.iter_mut().for_each(|machine| *machine = Machine { bias: 1.0, ..Machine::default() });
    let file = sealed(&codec::encode(&parts).expect("bytes"));
    let error = decode(&file).expect_err("rows that nothing bounds").to_string();
    assert!(error.contains("vectors of 0 features"), "{error}");
}
