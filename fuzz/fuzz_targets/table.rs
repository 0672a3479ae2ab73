//! The target `table` of maxmargin-trust.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| maxmargin_trust::fuzz::guided("table", input));
