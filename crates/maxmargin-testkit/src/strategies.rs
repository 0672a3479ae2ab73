//! Strategies of property tests.

use maxmargin_data::Samples;
use proptest::prelude::*;

/// Generates a problem of any shape: points, labels, one C per row.
#[allow(clippy::missing_panics_doc, reason = "the values are finite, and there are n d of them")]
pub fn any_problem() -> impl Strategy<Value = (Samples, Vec<f64>, Vec<f64>)> {
    (2_usize..40, 1_usize..7, -2.0_f64..3.0).prop_flat_map(|(n, d, log_c)| {
        let value = prop_oneof![2 => Just(0.0), 3 => (-8_i32..=8).prop_map(|v| f64::from(v) / 4.0), 1 => -3.0..3.0_f64];
        let values = proptest::collection::vec(value, n * d);
        let labels = proptest::collection::vec(prop_oneof![Just(1.0), Just(-1.0)], n);
        let factors = proptest::collection::vec(prop_oneof![3 => Just(1.0), 1 => 0.1..4.0_f64], n);
        (values, labels, factors).prop_map(move |(values, mut labels, factors)| {
            (labels[0], labels[1]) = (1.0, -1.0);
            let samples = Samples::from_dense(n, d, values).expect("finite values").compact();
            (samples, labels, factors.iter().map(|f| f * 10_f64.powf(log_c)).collect())
        })
    })
}
