//! The Fisher River data of Karasuyama and Takeuchi: whether the flow rises, from the flow, the
//! temperature and the precipitation of the week before.

use crate::workspace::failure::{Context, Outcome, fail};
use std::fmt::Write as _;

/// The daily series of the manifest from which the data are made: flow, temperature, precipitation.
pub(crate) const SERIES: [&str; 3] =
    ["mhsets_astatkie-fisher.arff", "mhsets_astatkie-fishert.arff", "mhsets_astatkie-fisherp.arff"];

/// Days whose values are features.
const DAYS: usize = 7;

/// Returns rows in LIBSVM format, in the order of time: one for each day with a week before it, +1
/// when the flow is greater than the day before. Features are the seven days before, oldest first,
/// series by series; every series is scaled to [0, 1] as a whole.
pub(crate) fn rows(texts: &[String; 3]) -> Outcome<String> {
    let mut series = Vec::new();
    for (text, name) in texts.iter().zip(SERIES) {
        series.push(values(text).context(name)?);
    }
    let days = series[0].len();
    if let Some((other, name)) = series.iter().zip(SERIES).find(|(other, _)| other.len() != days) {
        return fail(format!("{name} has {} days, {} has {days}", other.len(), SERIES[0]));
    }
    if days <= DAYS {
        return fail(format!("{days} days are no week and a day"));
    }
    let flow = series[0].clone();
    for values in &mut series {
        scale(values);
    }
    let mut out = String::new();
    for day in DAYS..days {
        out += if flow[day] > flow[day - 1] { "+1" } else { "-1" };
        for (s, values) in series.iter().enumerate() {
            for (lag, value) in values[day - DAYS..day].iter().enumerate() {
                if *value != 0.0 {
                    let _ = write!(out, " {}:{value}", s * DAYS + lag + 1);
                }
            }
        }
        out.push('\n');
    }
    Ok(out)
}

/// Returns the numbers of a series in ARFF: one a line after `@data`.
fn values(text: &str) -> Outcome<Vec<f64>> {
    let mut lines = text.lines().enumerate();
    if !lines.any(|(_, line)| line.trim().eq_ignore_ascii_case("@data")) {
        return fail("there is no line `@data`");
    }
    let numbers = lines.map(|(n, line)| (n, line.trim())).filter(|(_, line)| !line.is_empty() && !line.starts_with('%'));
    numbers.map(|(n, line)| line.parse::<f64>().context(format_args!("line {}: `{line}`", n + 1))).collect()
}

/// Moves the values to [0, 1].
fn scale(values: &mut [f64]) {
    let (low, high) = values.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), v| (v.min(low), v.max(high)));
    let width = if high > low { high - low } else { 1.0 };
    values.iter_mut().for_each(|v| *v = (*v - low) / width);
}

#[cfg(test)]
mod tests {
    use super::rows;

    fn arff(values: &[f64]) -> String {
        let lines: Vec<String> = values.iter().map(ToString::to_string).collect();
        format!("% about\n@relation r\n@attribute value REAL\n\n@data\n{}\n\n", lines.join("\n"))
    }

    fn texts() -> [String; 3] {
        let flow = [1.0, 2.0, 3.0, 4.0, 5.0, 4.0, 3.0, 3.5, 3.5];
        let warmth = [-4.0, -3.0, -2.0, -1.0, 0.0, 1.0, 2.0, 3.0, 4.0];
        let rain = [0.0; 9];
        [arff(&flow), arff(&warmth), arff(&rain)]
    }

    #[test]
    fn a_week_of_three_series() {
        let text = rows(&texts()).expect("rows");
        let lines: Vec<&str> = text.lines().collect();
        // Nine days have two with a week before; the flow rises on the first and stays on the
        // second. Zeros are not written.
        assert_eq!(lines.len(), 2);
        assert_eq!(lines[0], "+1 2:0.25 3:0.5 4:0.75 5:1 6:0.75 7:0.5 9:0.125 10:0.25 11:0.375 12:0.5 13:0.625 14:0.75");
        assert_eq!(
            lines[1],
            "-1 1:0.25 2:0.5 3:0.75 4:1 5:0.75 6:0.5 7:0.625 8:0.125 9:0.25 10:0.375 11:0.5 12:0.625 13:0.75 14:0.875"
        );
    }

    #[test]
    fn what_is_wrong_with_a_file() {
        let broken = |which: usize, text: &str| {
            let mut texts = texts();
            texts[which] = text.to_owned();
            rows(&texts).unwrap_err().to_string()
        };
        assert!(broken(1, "@data\n1\nx\n").contains("fishert.arff: line 3"));
        assert!(broken(2, "1\n2\n").contains("fisherp.arff: there is no line `@data`"));
        assert!(broken(2, "@data\n1\n").contains("fisherp.arff has 1 days"));
    }
}
