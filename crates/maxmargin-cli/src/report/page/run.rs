//! The facts of a run: version, command, date, data.

use crate::console::format;
use crate::machine::version::VERSION;
use crate::report::{Setup, data_line, setup_line};
use std::time::{SystemTime, UNIX_EPOCH};

/// Returns what was run, when, and on which data.
pub(crate) fn run_facts(setup: &Setup) -> Vec<(&'static str, String)> {
    let arguments = std::env::args().skip(1).map(|argument| format::shell(&argument));
    let command: Vec<String> = std::iter::once("maxmargin".to_owned()).chain(arguments).collect();
    let seconds = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    let mut facts = vec![
        ("data", data_line(&setup.data).trim().to_owned()),
        ("data, SHA-256", setup.data.sha256.clone()),
        ("machine", setup_line(setup)),
        ("scaling", setup.scale.unwrap_or("none").to_owned()),
        ("command", command.join(" ")),
        ("program", format!("maxmargin {VERSION}")),
        ("date", date(seconds)),
    ];
    facts.extend(setup.impute.map(|method| ("missing values", format!("imputed: {method}"))));
    facts
}

/// Returns `2026-11-21 09:30 UTC` for seconds since 1970.
fn date(seconds: u64) -> String {
    let (mut days, minutes) = (seconds / 86_400, seconds % 86_400 / 60);
    let is_leap = |year: u64| year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    let mut year = 1970;
    while days >= 365 + u64::from(is_leap(year)) {
        days -= 365 + u64::from(is_leap(year));
        year += 1;
    }
    let mut month = 0;
    let february = 28 + u64::from(is_leap(year));
    let lengths = [31, february, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
    while days >= lengths[month] {
        days -= lengths[month];
        month += 1;
    }
    format!("{year}-{:02}-{:02} {:02}:{:02} UTC", month + 1, days + 1, minutes / 60, minutes % 60)
}

#[cfg(test)]
mod tests {
    use super::date;

    #[test]
    fn dates_are_those_of_the_calendar() {
        let cases = [
            (0, "1970-01-01 00:00 UTC"),
            (951_782_400, "2000-02-29 00:00 UTC"),
            (4_107_542_399, "2100-02-28 23:59 UTC"),
            (4_107_542_400, "2100-03-01 00:00 UTC"),
            (1_798_761_599, "2026-12-31 23:59 UTC"),
        ];
        for (seconds, text) in cases {
            assert_eq!(date(seconds), text);
        }
    }
}
