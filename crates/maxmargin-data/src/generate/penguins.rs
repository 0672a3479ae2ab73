//! A small table like those that people have: names, words, numbers and missing values.

use super::draw::Draw;
use std::fmt::Write as _;

/// Default number of rows of [`penguins`].
pub const PENGUIN_ROWS: usize = 300;

/// A species: its name, the means of bill length, bill depth, flipper length and body mass, and the
/// islands on which it lives.
struct Species {
    name: &'static str,
    means: [f64; 4],
    islands: &'static [&'static str],
}

/// Round numbers near those of three species of penguins. No row is a measurement.
const SPECIES: [Species; 3] = [
    Species { name: "Adelie", means: [38.8, 18.3, 190.0, 3700.0], islands: &["Torgersen", "Biscoe", "Dream"] },
    Species { name: "Chinstrap", means: [48.8, 18.4, 196.0, 3730.0], islands: &["Dream"] },
    Species { name: "Gentoo", means: [47.5, 15.0, 217.0, 5080.0], islands: &["Biscoe"] },
];

/// Standard deviations within a species and a sex, wider than in nature so that classes overlap,
/// and the distance of both sexes.
const DEVIATIONS: [f64; 4] = [3.2, 1.3, 9.0, 420.0];
const SEXES: [f64; 4] = [3.0, 1.3, 7.0, 650.0];

/// A value is missing in one of so many cells.
const GAPS: u64 = 40;

/// Returns a table as CSV text: island, four numbers, sex and species, with gaps. The values are
/// generated, and resemble the measurements of penguins that many textbooks use. The same seed
/// gives the same text on every platform.
///
/// ```
/// use maxmargin_data::generate::penguins;
///
/// let text = penguins(3, 1);
/// assert_eq!(text.lines().count(), 4);
/// assert!(text.starts_with("island,bill_length_mm,bill_depth_mm,flipper_length_mm,body_mass_g,sex,species\n"));
/// ```
pub fn penguins(rows: usize, seed: u64) -> String {
    let mut draw = Draw::new(seed);
    let mut text = String::from("island,bill_length_mm,bill_depth_mm,flipper_length_mm,body_mass_g,sex,species\n");
    for _ in 0..rows {
        // Of five rows two are of the first species, one is of the second, two are of the third.
        let Species { name, means, islands } = &SPECIES[[0, 0, 1, 2, 2][draw.below(5) as usize]];
        let is_male = draw.below(2) == 1;
        let side = if is_male { 0.5 } else { -0.5 };
        text.push_str(islands[draw.below(islands.len() as u64) as usize]);
        for k in 0..4 {
            let value = means[k] + side * SEXES[k] + DEVIATIONS[k] * draw.normal();
            let is_missing = draw.below(GAPS) == 0;
            // Writing to memory cannot fail.
            let _ = match k {
                _ if is_missing => write!(text, ",NA"),
                0 | 1 => write!(text, ",{value:.1}"),
                2 => write!(text, ",{value:.0}"),
                _ => write!(text, ",{:.0}", (value / 25.0).round() * 25.0),
            };
        }
        let sex = if draw.below(GAPS) == 0 { "" } else { ["female", "male"][usize::from(is_male)] };
        let _ = writeln!(text, ",{sex},{name}");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::RunControl;
    use crate::table::{self, TableOptions};

    #[test]
    fn the_table_has_names_words_and_gaps() {
        let text = penguins(PENGUIN_ROWS, 1);
        let options = TableOptions { missing: true, ..TableOptions::default() };
        let table = table::read(text.as_bytes(), &options, &RunControl::unlimited()).expect("a table");
        let columns = table.data.columns.as_ref().expect("of a table");
        assert_eq!(columns.labels(), ["Adelie", "Chinstrap", "Gentoo"]);
        let kinds: Vec<&str> = columns.features().iter().map(|column| column.kind.name()).collect();
        assert_eq!(kinds, ["category", "number", "number", "number", "number", "category"]);
        assert!(table.data.samples.features() > columns.width(), "values are missing");
        let strict = table::read(text.as_bytes(), &TableOptions::default(), &RunControl::unlimited());
        assert!(strict.is_err(), "they need imputation");
        assert_eq!((penguins(20, 7), penguins(20, 7) == penguins(20, 8)), (text_of(20, 7), false));
    }

    /// The rows of a smaller table are the first rows of a larger one.
    fn text_of(rows: usize, seed: u64) -> String {
        penguins(rows + 10, seed).split_inclusive('\n').take(rows + 1).collect()
    }
}
