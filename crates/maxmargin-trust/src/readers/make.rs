//! Almost valid input for every reader.

mod binary;
mod table;
mod text;

pub use binary::{KEY, cache, cell, close_cache, close_cell, close_model, native_model, open_model, open_seal};
pub use table::table;
pub use text::{data, folds, labels, liblinear_model, libsvm_model, numbers, range};

use crate::draws::Draws;

/// Returns a number as files write it: usually small, sometimes at a limit of numbers, sometimes
/// not a number.
fn number(draws: &mut Draws) -> String {
    const ODD: [&str; 20] = [
        "0",
        "-0",
        "+1",
        "1e308",
        "-1e308",
        "1e-308",
        "4e-324",
        "1e999",
        "nan",
        "inf",
        ".5",
        "5.",
        "1e5",
        "0x10",
        "1_0",
        "9007199254740993",
        "0.1000000000000000055511151231257827",
        "123456789012345678901234567890",
        "1e-400",
        "--1",
    ];
    match draws.below(24) {
        0 => draws.pick(&ODD).to_owned(),
        1..6 => draws.below(3).to_string(),
        6..12 => (draws.below(20) as i64 - 10).to_string(),
        12..18 => format!("{}", (draws.unit() * 100.0).round() / 8.0),
        18..22 => format!("{}", draws.unit()),
        22 => format!("{:e}", draws.unit() * 2_f64.powi(draws.below(2000) as i32 - 1000)),
        _ => format!("{:.17e}", draws.unit()),
    }
}

/// Returns a whole number: usually small, sometimes at a limit of an integer type.
fn whole(draws: &mut Draws) -> String {
    const ENDS: [u64; 6] = [u32::MAX as u64 - 1, u32::MAX as u64, 1 << 31, 1 << 32, 1 << 63, u64::MAX];
    match draws.below(40) {
        0 => draws.pick(&ENDS).to_string(),
        1 => format!("-{}", draws.below(5)),
        2 => draws.below(100_000).to_string(),
        _ => draws.below(12).to_string(),
    }
}

/// Returns the text between two words: usually one blank.
fn gap(draws: &mut Draws) -> &'static str {
    if draws.once_in(12) { draws.pick(&["\t", "  ", "\r", "", "\x0b", " #", "\u{a0}"]) } else { " " }
}

/// Returns the end of a line: usually a line feed.
fn line_end(draws: &mut Draws) -> &'static str {
    if draws.once_in(15) { draws.pick(&["\r\n", " \n", "\n\n", " # a note\n", "\r", "\n#\n"]) } else { "\n" }
}
