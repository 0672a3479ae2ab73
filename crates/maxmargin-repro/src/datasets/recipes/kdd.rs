//! The ten-percent sample of KDD Cup 1999: normal connections against attacks, of any kind or of
//! four.

use crate::workspace::failure::{Outcome, fail};
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// The attributes of a connection, in the order of the file; the label comes after them.
#[rustfmt::skip]
const ATTRIBUTES: [&str; 41] = [
    "duration", "protocol_type", "service", "flag", "src_bytes", "dst_bytes", "land", "wrong_fragment", "urgent", "hot",
    "num_failed_logins", "logged_in", "num_compromised", "root_shell", "su_attempted", "num_root", "num_file_creations",
    "num_shells", "num_access_files", "num_outbound_cmds", "is_host_login", "is_guest_login", "count", "srv_count",
    "serror_rate", "srv_serror_rate", "rerror_rate", "srv_rerror_rate", "same_srv_rate", "diff_srv_rate",
    "srv_diff_host_rate", "dst_host_count", "dst_host_srv_count", "dst_host_same_srv_rate", "dst_host_diff_srv_rate",
    "dst_host_same_src_port_rate", "dst_host_srv_diff_host_rate", "dst_host_serror_rate", "dst_host_srv_serror_rate",
    "dst_host_rerror_rate", "dst_host_srv_rerror_rate",
];

/// The places of `protocol_type`, `service` and `flag`, whose values are names.
const NAMES: std::ops::RangeInclusive<usize> = 1..=3;

const NORMAL: &str = "normal.";

const MEND: &str = "take the file of datasets/manifest.toml (cargo xtask datasets kddcup.data_10_percent.csv)";

/// The encoding of an attribute.
enum Feature<'t> {
    /// Always the same: left out.
    Constant,
    /// One feature, moved to [0, 1].
    Scaled { index: usize, low: f64, width: f64 },
    /// One feature of value 1 for each name.
    Named(BTreeMap<&'t str, usize>),
}

/// The attacks of each kind, by the task's description: denial of service, probing, remote to
/// local, user to root.
const KINDS: [(&str, &[&str]); 4] = [
    ("2", &["back.", "land.", "neptune.", "pod.", "smurf.", "teardrop."]),
    ("3", &["ipsweep.", "nmap.", "portsweep.", "satan."]),
    ("4", &["ftp_write.", "guess_passwd.", "imap.", "multihop.", "phf.", "spy.", "warezclient.", "warezmaster."]),
    ("5", &["buffer_overflow.", "loadmodule.", "perl.", "rootkit."]),
];

/// Returns +1 for a normal connection, −1 for an attack.
#[expect(clippy::unnecessary_wraps, reason = "other classes have names that they do not know")]
pub(crate) fn attack(name: &str) -> Option<&'static str> {
    Some(if name == NORMAL { "+1" } else { "-1" })
}

/// Returns 1 for a normal connection, 2 to 5 for the kinds of attacks, none for an unknown name.
pub(crate) fn kind(name: &str) -> Option<&'static str> {
    if name == NORMAL {
        return Some("1");
    }
    KINDS.iter().find(|(_, names)| names.contains(&name)).map(|(label, _)| *label)
}

/// Returns rows in LIBSVM format, in the order of the file, labelled by `class`.
///
/// Features are the attributes in the order of the file: `duration`; one feature for each value of
/// `protocol_type`, `service` and `flag`, the values of an attribute in alphabetical order (3, 66
/// and 11 of them); then the other numeric attributes from `src_bytes` to
/// `dst_host_srv_rerror_rate`. Every numeric attribute is scaled to [0, 1] as a whole, and those
/// that are the same in all rows (`num_outbound_cmds`, `is_host_login`) are left out: 116 features.
pub(crate) fn rows(text: &str, class: fn(&str) -> Option<&'static str>) -> Outcome<String> {
    let features = survey(text)?;
    let mut out = String::with_capacity(2 * text.len());
    for (n, line) in text.lines().enumerate() {
        let (fields, label) = fields(n, line)?;
        let Some(class) = class(label) else {
            return fail(format!("line {}: no kind of attack is called `{label}`; {MEND}", n + 1));
        };
        out += class;
        for ((field, feature), name) in fields.iter().zip(&features).zip(ATTRIBUTES) {
            match feature {
                Feature::Constant => {}
                Feature::Named(places) => {
                    let _ = write!(out, " {}:1", places[field]);
                }
                Feature::Scaled { index, low, width } => {
                    let value = (number(n, name, field)? - low) / width;
                    if value != 0.0 {
                        let _ = write!(out, " {index}:{value}");
                    }
                }
            }
        }
        out.push('\n');
    }
    Ok(out)
}

/// Returns ranges and names of all rows, as features numbered from 1.
fn survey(text: &str) -> Outcome<Vec<Feature<'_>>> {
    let mut ranges = [(f64::INFINITY, f64::NEG_INFINITY); ATTRIBUTES.len()];
    let mut names: [BTreeMap<&str, usize>; ATTRIBUTES.len()] = [const { BTreeMap::new() }; ATTRIBUTES.len()];
    for (n, line) in text.lines().enumerate() {
        let (fields, _) = fields(n, line)?;
        for (at, field) in fields.iter().enumerate() {
            if NAMES.contains(&at) {
                names[at].insert(field, 0);
            } else {
                let value = number(n, ATTRIBUTES[at], field)?;
                ranges[at] = (ranges[at].0.min(value), ranges[at].1.max(value));
            }
        }
    }
    if text.lines().next().is_none() {
        return fail(format!("the file is empty; {MEND}"));
    }
    let mut count = 0;
    let mut next = || {
        count += 1;
        count
    };
    let feature = |(at, mut names): (usize, BTreeMap<_, usize>)| {
        let (low, high) = ranges[at];
        if NAMES.contains(&at) {
            names.values_mut().for_each(|index| *index = next());
            Feature::Named(names)
        } else if high > low {
            Feature::Scaled { index: next(), low, width: high - low }
        } else {
            Feature::Constant
        }
    };
    Ok(names.into_iter().enumerate().map(feature).collect())
}

/// Returns the attributes and the label of line `n`.
fn fields(n: usize, line: &str) -> Outcome<([&str; ATTRIBUTES.len()], &str)> {
    let mut fields = [""; ATTRIBUTES.len()];
    let mut parts = line.trim_end().split(',');
    for (field, name) in fields.iter_mut().zip(ATTRIBUTES) {
        match parts.next() {
            Some(part) if !part.is_empty() => *field = part,
            _ => return fail(format!("line {}: there is no {name}; {MEND}", n + 1)),
        }
    }
    match (parts.next(), parts.next()) {
        (Some(label), None) if label.ends_with('.') => Ok((fields, label)),
        (label, _) => fail(format!("line {}: `{}` is no label that ends the line; {MEND}", n + 1, label.unwrap_or(""))),
    }
}

fn number(n: usize, name: &str, field: &str) -> Outcome<f64> {
    match field.parse::<f64>() {
        Ok(value) if value.is_finite() => Ok(value),
        _ => fail(format!("line {}: {name} is `{field}` and no number; {MEND}", n + 1)),
    }
}

#[cfg(test)]
mod tests {
    use super::{ATTRIBUTES, attack, kind, rows};

    /// A line with these first fields, `last` as the last attribute and 0 between them.
    fn line(first: &str, last: &str, label: &str) -> String {
        let zeros = "0,".repeat(ATTRIBUTES.len() - 1 - first.split(',').count());
        format!("{first},{zeros}{last},{label}")
    }

    fn text() -> String {
        let lines = [
            line("0,tcp,http,SF,181,5450", "0.00", "normal."),
            line("4,udp,dns,SF,181,0", "0.25", "smurf."),
            line("1,tcp,dns,REJ,181,109", "1.00", "neptune."),
        ];
        lines.join("\n") + "\n"
    }

    #[test]
    fn names_become_features_and_numbers_are_scaled() {
        let text = rows(&text(), attack).expect("rows");
        let lines: Vec<&str> = text.lines().collect();
        // duration 1; tcp 2, udp 3; dns 4, http 5; REJ 6, SF 7; src_bytes is constant; dst_bytes 8;
        // the last attribute 9.
        assert_eq!(lines[0], "+1 2:1 5:1 7:1 8:1");
        assert_eq!(lines[1], "-1 1:1 3:1 4:1 7:1 9:0.25");
        assert_eq!(lines[2], "-1 1:0.25 2:1 4:1 6:1 8:0.02 9:1");
        assert_eq!(lines.len(), 3);
    }

    #[test]
    fn kinds_of_attacks() {
        let text = rows(&text(), kind).expect("rows");
        assert_eq!(text.lines().map(|line| line.split(' ').next()).collect::<Vec<_>>(), [Some("1"), Some("2"), Some("2")]);
        assert_eq!(["satan.", "phf.", "perl.", "smurfs."].map(kind), [Some("3"), Some("4"), Some("5"), None]);
    }

    #[test]
    fn what_is_wrong_with_a_line() {
        let broken = |from: &str, to: &str| rows(&text().replacen(from, to, 1), kind).unwrap_err().to_string();
        assert!(broken("181,0,", "181,x,").starts_with("line 2: dst_bytes is `x`"));
        assert!(broken("109,", "nan,").contains("line 3"));
        assert!(broken(",normal.", "").contains("line 1"));
        assert!(broken("smurf.", "smurf").contains("line 2: `smurf` is no label"));
        assert!(broken("udp", "").contains("line 2: there is no protocol_type"));
        assert!(rows("", kind).unwrap_err().to_string().contains("cargo xtask datasets"));
    }
}
