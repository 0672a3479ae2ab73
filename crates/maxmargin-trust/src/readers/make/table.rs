//! Almost valid tables.

use super::number;
use crate::draws::Draws;

/// Words that columns have, some of them odd.
const WORDS: [&str; 10] = ["red", "blue", "a b", "x,y", "semi;colon", "say \"so\"", "\u{e4}\u{f6}", "line\nend", "-", "1:2"];

/// The kind of values in a column.
#[derive(Clone, Copy)]
enum Kind {
    Number,
    Word,
    Truth,
    Few,
}

/// Returns rows of fields, one kind per column, with a header or without.
pub fn table(draws: &mut Draws) -> Vec<u8> {
    let delimiter = draws.pick(&[",", ",", ",", ";", "\t", "|"]);
    let kinds: Vec<Kind> =
        (0..=draws.below(5)).map(|_| draws.pick(&[Kind::Number, Kind::Number, Kind::Word, Kind::Truth, Kind::Few])).collect();
    let with_gaps = draws.once_in(3);
    let mut text = String::new();
    if draws.once_in(20) {
        text.push('\u{feff}');
    }
    if !draws.once_in(3) {
        let name = |c: usize| if c + 1 == kinds.len() { "y".to_owned() } else { format!("c{c}") };
        text += &(0..kinds.len()).map(name).collect::<Vec<_>>().join(delimiter);
        text += line_end(draws);
    }
    for _ in 0..draws.below(12) {
        let mut fields: Vec<String> = kinds.iter().map(|kind| field(*kind, with_gaps, draws)).collect();
        if draws.once_in(60) {
            fields.pop();
        }
        text += &fields.join(delimiter);
        text += line_end(draws);
    }
    text.into_bytes()
}

fn field(kind: Kind, with_gaps: bool, draws: &mut Draws) -> String {
    if with_gaps && draws.once_in(6) {
        return draws.pick(&["", "NA", "?", "null", "\"\""]).to_owned();
    }
    let odd = draws.once_in(80);
    let field = match kind {
        Kind::Number if odd => number(draws),
        Kind::Number => format!("{}", (draws.unit() * 100.0).round() / 8.0),
        Kind::Word => draws.pick(&WORDS).to_owned(),
        Kind::Truth => draws.pick(&["yes", "no", "Yes", "NO"]).to_owned(),
        Kind::Few => draws.below(2).to_string(),
    };
    let must = field.contains([',', ';', '"', '\n', '\t', '|']);
    if must == draws.once_in(40) { field } else { format!("\"{}\"", field.replace('"', "\"\"")) }
}

fn line_end(draws: &mut Draws) -> &'static str {
    if draws.once_in(15) { draws.pick(&["\r\n", " \n", "\n\n", "\r", ""]) } else { "\n" }
}
