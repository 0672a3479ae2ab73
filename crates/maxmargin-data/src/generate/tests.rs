//! Generators: shape, classes, the same bits from the same seed.

use super::*;
use crate::samples::Storage;

/// A hash of all bits of a data set: FNV-1a over the text of its numbers.
fn fingerprint(data: &Dataset) -> u64 {
    let mut hash = 0xCBF2_9CE4_8422_2325_u64;
    let mut add = |bits: u64| {
        for byte in bits.to_le_bytes() {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01B3);
        }
    };
    for (i, label) in data.labels.iter().enumerate() {
        add(label.to_bits());
        data.samples.row(i).for_each(|j, v| {
            add(j as u64);
            add(v.to_bits());
        });
    }
    hash
}

#[test]
fn names_and_generators_match() {
    for generator in Generator::ALL {
        assert_eq!(generator.name().parse(), Ok(generator));
        assert!(!generator.description().is_empty());
    }
    let error = "gauss".parse::<Generator>().expect_err("no such name").to_string();
    assert!(Generator::ALL.iter().all(|g| error.contains(g.name())), "{error}");
}

#[test]
fn the_same_seed_gives_the_same_bits_forever() {
    // These numbers must not change with a platform, a dependency or a rewrite.
    let expected: [u64; 7] = [
        0xAB93_1652_92D9_A6A8,
        0x82EA_BEE0_A95A_6B46,
        0x1731_BB2C_0AD2_B9F6,
        0xE144_CF2C_FBDB_CF02,
        0x1B9F_A7EB_A4A2_36ED,
        0xF8D6_2691_C0C0_079B,
        0x382F_F47A_B7FE_E3D2,
    ];
    let made = Generator::ALL.map(|generator| fingerprint(&generator.generate(50, None, 42).expect("valid request")));
    assert_eq!(made, expected, "{made:#018x?}");
    let others = Generator::ALL.map(|generator| fingerprint(&generator.generate(50, None, 43).expect("valid request")));
    assert!(made.iter().zip(others).all(|(a, b)| *a != b));
}

#[test]
fn fewer_rows_are_a_prefix_of_more() {
    for generator in Generator::ALL {
        let short = generator.generate(20, None, 1).expect("valid request");
        let long = generator.generate(30, None, 1).expect("valid request");
        let order: Vec<usize> = (0..20).collect();
        assert_eq!(long.samples.select(&order), short.samples);
        assert_eq!(long.labels[..20], short.labels);
    }
}

#[test]
fn impossible_requests_are_errors() {
    assert!(matches!(Generator::GaussM.generate(10, Some(3), 0), Err(GenerateError::Features { features: 3, .. })));
    assert!(matches!(Generator::Blobs.generate(10, Some(0), 0), Err(GenerateError::Features { .. })));
    assert!(matches!(Generator::SparseText.generate(10, Some(10), 0), Err(GenerateError::Features { .. })));
    assert!(matches!(Generator::Banana.generate(1, None, 0), Err(GenerateError::Rows { rows: 1 })));
    assert!(matches!(Generator::Banana.generate(usize::MAX, None, 0), Err(GenerateError::TooLarge { .. })));
}

#[test]
fn gauss_m_has_the_means_and_variances_of_its_definition() {
    let rows = 40_000;
    let data = Generator::GaussM.generate(rows, None, 5).expect("valid request");
    assert!(matches!(data.samples.storage(), Storage::Dense32(_)));
    for (sign, centre, variance) in [(1.0, 0.0, 1.0), (-1.0, 2.0, 4.0)] {
        let points: Vec<Vec<f64>> =
            (0..rows).filter(|&i| data.labels[i] == sign).map(|i| data.samples.dense_rows(i..i + 1)).collect();
        let n = points.len() as f64;
        for (j, expected) in [centre, 0.0].into_iter().enumerate() {
            let mean = points.iter().map(|p| p[j]).sum::<f64>() / n;
            let spread = points.iter().map(|p| (p[j] - mean).powi(2)).sum::<f64>() / n;
            assert!((mean - expected).abs() < 5.0 * f64::sqrt(variance / n), "mean {mean}");
            assert!((spread - variance).abs() < 5.0 * variance * f64::sqrt(2.0 / n), "variance {spread}");
        }
    }
}

#[test]
fn text_is_sparse_normalised_and_depends_on_the_words() {
    let rows = 4000;
    let data = Generator::SparseText.generate(rows, None, 3).expect("valid request");
    assert_eq!(data.samples.features(), 1_000_000);
    let a_row = data.samples.non_zeros() as f64 / rows as f64;
    assert!((80.0..120.0).contains(&a_row), "{a_row} words a row");
    let mut frequency = std::collections::HashMap::new();
    for i in 0..rows {
        let entries = data.samples.row(i).entries();
        let length = entries.iter().map(|(_, v)| v * v).sum::<f64>();
        assert!((length - 1.0).abs() < 1e-3, "row {i}: {length}");
        // +1 in rows of one class, −1 in rows of the other.
        for (j, _) in entries {
            let (count, lean) = frequency.entry(j).or_insert((0, 0.0));
            *count += 1;
            *lean += data.labels[i];
        }
    }
    let most = frequency.values().map(|(count, _)| *count).max();
    assert!(most > Some(rows / 2), "the most frequent word is in {most:?} rows");
    // Words without a topic differ between classes only by chance: beyond 6 standard deviations
    // there must be topical words.
    let leaning = frequency.values().filter(|(count, lean)| f64::abs(*lean) > 6.0 * f64::from(*count as u32).sqrt()).count();
    assert!(leaning >= 2, "{leaning} words lean");
}

#[test]
fn classes_alternate_in_the_plane() {
    let data = Generator::Banana.generate(5, None, 9).expect("valid request");
    assert_eq!(data.labels, [1.0, -1.0, 1.0, -1.0, 1.0]);
}

#[test]
fn documents_have_the_shape_of_rcv1() {
    let rows = 2000;
    let data = Generator::Rcv1Like.generate(rows, None, 1).expect("valid request");
    assert_eq!(data.samples.features(), 47_236);
    let a_row = data.samples.non_zeros() as f64 / rows as f64;
    assert!((72.0..76.0).contains(&a_row), "{a_row} words a row");
    let mut frequency = vec![0_usize; 47_236];
    for i in 0..rows {
        let mut length = 0.0;
        data.samples.row(i).for_each(|j, v| {
            length += v * v;
            frequency[j] += 1;
        });
        assert!((length - 1.0).abs() < 2e-3, "row {i}: {length}");
    }
    // Zipf: few columns are in most rows, most columns in few.
    frequency.sort_unstable_by(|a, b| b.cmp(a));
    assert!(frequency[0] > rows * 3 / 4 && frequency[100] < rows / 5 && frequency[20_000] <= 2, "{:?}", &frequency[..20]);
}

#[test]
fn cells_have_the_shape_of_covtype() {
    let rows = 5000;
    let data = Generator::CovtypeLike.generate(rows, None, 1).expect("valid request");
    assert_eq!(data.samples.features(), 54);
    let mut soils = [0_usize; 40];
    // The difference of the class means, divided by the variances, as a separator: about the
    // accuracy of a linear model.
    let (mut lean, mut mean, mut square) = ([0.0; 54], [0.0; 54], [0.0; 54]);
    for i in 0..rows {
        let entries = data.samples.row(i).entries();
        assert!(entries.iter().all(|&(j, v)| (0.0..=1.0).contains(&v) && (j < 10 || v == 1.0)), "row {i}: {entries:?}");
        assert_eq!(entries.iter().filter(|(j, _)| (10..14).contains(j)).count(), 1, "one area");
        let of: Vec<usize> = entries.iter().filter(|(j, _)| *j >= 14).map(|(j, _)| j - 14).collect();
        assert_eq!(of.len(), 1, "one soil");
        soils[of[0]] += 1;
        for (j, v) in entries {
            lean[j] += data.labels[i] * v / rows as f64;
            mean[j] += v / rows as f64;
            square[j] += v * v / rows as f64;
        }
    }
    assert!(soils.iter().all(|&count| count > 0), "{soils:?}");
    let weight = |j: usize| lean[j] / (square[j] - mean[j] * mean[j]);
    let scores: Vec<f64> =
        (0..rows).map(|i| data.samples.row(i).entries().iter().map(|(j, v)| weight(*j) * v).sum::<f64>()).collect();
    let centre = scores.iter().sum::<f64>() / rows as f64;
    let right = scores.iter().zip(&data.labels).filter(|(score, label)| (*score - centre) * *label > 0.0).count();
    assert!((rows * 6 / 10..rows * 9 / 10).contains(&right), "{right} of {rows} right: neither noise nor separable");
}
