//! The native file: nothing is lost, and nothing but an intact file is read.

mod common;

use common::{bits, dense, kernels, model, recorded, sparse};
use maxmargin_data::{Par, Samples};
use maxmargin_kernel::{Kernel, UserKernel};
use maxmargin_model::file::FORMAT;
use maxmargin_model::{Model, ModelError, decode, encode};
use proptest::prelude::*;
use sha2::{Digest, Sha256};

/// The native file of `payload`, whatever that is: a hostile file with a good checksum.
fn sealed(payload: &[u8]) -> Vec<u8> {
    let mut file = format!("maxmargin-model {FORMAT} {} ", payload.len()).into_bytes();
    Sha256::digest(payload).iter().for_each(|byte| file.extend_from_slice(format!("{byte:02x}").as_bytes()));
    file.push(b'\n');
    file.extend_from_slice(payload);
    file
}

fn payload(file: &[u8]) -> &[u8] {
    let line = file.iter().position(|b| *b == b'\n').expect("a first line");
    &file[line + 1..]
}

#[test]
fn a_round_trip_predicts_the_same_bits() {
    for kernel in kernels() {
        for support in [dense(17, 6, 1), sparse(17, 6, 2)] {
            let queries = [dense(9, 6, 3), sparse(9, 8, 4), dense(9, 4, 5)];
            let model = recorded(kernel.clone(), support);
            let copy = decode(&encode(&model).unwrap()).unwrap();
            assert_eq!(model, copy);
            for queries in &queries {
                let before = model.decision_values(queries, Par::Seq).unwrap();
                let after = copy.decision_values(queries, Par::Seq).unwrap();
                assert_eq!(bits(&before), bits(&after));
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
    // So wide and empty that kernels of products would drop columns.
    let hollow = Samples::from_sparse(1 << 23, vec![0, 2, 3], vec![7, 1 << 22, 9], vec![1.0, 0.5, 2.0]).unwrap();
    let model = recorded(Kernel::User(laplacian.clone()), hollow);
    let file = encode(&model).unwrap();
    let error = decode(&file).expect_err("a kernel that this process does not know").to_string();
    assert!(error.contains("no kernel is registered as `laplacian of the model tests`"), "{error}");
    laplacian.register();
    let copy = decode(&file).unwrap();
    let queries = dense(5, 12, 3);
    let decisions = copy.decision_values(&queries, Par::Seq).unwrap();
    assert_eq!(bits(&decisions), bits(&model.decision_values(&queries, Par::Seq).unwrap()));
    let parts = model.parts();
    for (q, decision) in decisions.into_iter().enumerate() {
        let terms = (0..2).map(|k| parts.coef[k] * laplacian.value(parts.support.row(k), queries.row(q)));
        assert!((decision - terms.sum::<f64>() - parts.bias).abs() < 1e-15);
    }
    assert!(matches!(maxmargin_model::libsvm::write_model(&model, &mut Vec::new()), Err(ModelError::Unsupported(_))));
}

#[test]
fn an_empty_model_and_sections_survive() {
    let none = Samples::from_dense(0, 3, vec![]).unwrap();
    let model = model(Kernel::Rbf { gamma: 1.0 }, none).with_section(*b"path\0\0\0\0", vec![0, 255, 3]);
    let copy = decode(&encode(&model).unwrap()).unwrap();
    assert_eq!(copy.section(*b"path\0\0\0\0"), Some(&[0, 255, 3][..]));
    assert_eq!(copy.section(*b"other\0\0\0"), None);
    assert_eq!(copy.decision_values(&dense(2, 3, 1), Par::Seq).unwrap(), [0.125, 0.125]);
    let replaced = copy.with_section(*b"path\0\0\0\0", vec![1]);
    assert_eq!(replaced.section(*b"path\0\0\0\0"), Some(&[1][..]));
    assert_eq!(replaced.parts().sections.len(), 1);
}

#[test]
fn every_truncation_is_an_error() {
    let file = encode(&recorded(Kernel::Rbf { gamma: 0.5 }, sparse(9, 5, 1))).unwrap();
    for length in 0..file.len() {
        let found = decode(&file[..length]);
        assert!(found.is_err(), "{length} of {} bytes were read as a model", file.len());
    }
    let cut = decode(&file[..file.len() - 3]).unwrap_err();
    assert!(matches!(cut, ModelError::Truncated { expected, found } if expected == found + 3), "{cut}");
    let mut longer = file.clone();
    longer.push(0);
    assert!(matches!(decode(&longer), Err(ModelError::Trailing(1))));
}

#[test]
fn every_flipped_bit_is_an_error() {
    let file = encode(&recorded(Kernel::Linear, dense(5, 3, 1))).unwrap();
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
    assert!(says(b"maxmargin-model 4 0 abc\n").contains("format 4"));
    assert!(says(b"maxmargin-model").contains("first line"));
    assert!(says(format!("maxmargin-model {FORMAT} 18446744073709551615 00\nxx").as_bytes()).contains("cut short"));
    let mut future = encode(&model(Kernel::Linear, dense(2, 2, 1))).unwrap();
    future[16] = b'7';
    assert!(matches!(decode(&future), Err(ModelError::Future { found: 7, newest: FORMAT })));
    future[16] = b'1';
    assert!(matches!(decode(&future), Err(ModelError::Past { found: 1, oldest: FORMAT })));
}

#[test]
fn a_sealed_file_with_impossible_numbers_is_refused() {
    let good = model(Kernel::Rbf { gamma: 0.5 }, dense(3, 2, 1));
    let broken = |change: &dyn Fn(&mut maxmargin_model::Parts)| {
        let mut parts = good.parts().clone();
        change(&mut parts);
        Model::new(parts).unwrap_err().to_string()
    };
    assert!(broken(&|p| p.coef.truncate(2)).contains("number of coefficients"));
    assert!(broken(&|p| p.coef[1] = f64::NAN).contains("coefficient"));
    assert!(broken(&|p| p.bias = f64::INFINITY).contains("bias"));
    assert!(broken(&|p| p.positive = p.negative).contains("labels"));
    assert!(broken(&|p| p.index_base = 2).contains("index base"));
    assert!(broken(&|p| p.kernel = Kernel::Rbf { gamma: -1.0 }).contains("gamma"));
    assert!(broken(&|p| p.kernel = Kernel::Precomputed).contains("serial"));
    let mut record = recorded(Kernel::Linear, dense(3, 2, 1)).record().unwrap().clone();
    record.support_rows[2] = 1_000_000;
    assert!(broken(&|p| p.record = Some(record.clone())).contains("rows of the support vectors"));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    /// A hostile file with a good checksum: any answer but a panic or an enormous allocation will do.
    #[test]
    fn changed_content_never_panics(changes in prop::collection::vec((0_usize..400, any::<u8>()), 1..8), cut in 0_usize..400) {
        let file = encode(&recorded(Kernel::Poly { gamma: 1.0, coef0: 0.0, degree: 2 }, sparse(6, 5, 1))).unwrap();
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
    fn random_content_never_panics(content in prop::collection::vec(any::<u8>(), 0..300)) {
        let _ = decode(&sealed(&content));
        let _ = maxmargin_model::read(&content);
    }
}
