//! The facts of a run: version, command, date, data.

use crate::console::format;
use crate::machine::version::VERSION;
use crate::report::{Setup, data_line, setup_line};
use std::time::SystemTime;

/// Returns what was run, when, and on which data.
pub(crate) fn run_facts(setup: &Setup) -> Vec<(&'static str, String)> {
    let mut facts = vec![
        ("data", data_line(&setup.data).trim().to_owned()),
        ("data, SHA-256", setup.data.sha256.clone()),
        ("solver", setup_line(setup)),
        ("scaling", setup.scale.unwrap_or("none").to_owned()),
        ("command", format::own_command()),
        ("program", format!("maxmargin {VERSION}")),
        ("date", humantime::format_rfc3339_seconds(SystemTime::now()).to_string()),
    ];
    facts.extend(setup.impute.map(|method| ("missing values", format!("imputed: {method}"))));
    facts
}
