//! The target `cell` of maxmargin-trust.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| maxmargin_trust::fuzz::guided("cell", input));
