//! The reader of tables, and the treatment of their gaps.

use super::{Outcome, refused};
use crate::readers::memory::{BASE, in_proportion};
use maxmargin::data::table::{LabelRule, TableError, TableOptions, describe, look, read, read_like};
use maxmargin::data::{Impute, Preparing, RunControl, scale::ScaleMethod};

/// Returns true if an error concerns one place of the file.
fn has_place(error: &TableError) -> bool {
    use TableError::{Encoding, Ragged, Twice, TwoEncodings, Unclosed, Value, ZeroByte};
    matches!(
        error,
        Encoding { .. } | TwoEncodings { .. } | ZeroByte { .. } | Ragged { .. } | Twice { .. } | Unclosed { .. } | Value { .. }
    )
}

/// Reads a table with gaps, and the same without.
pub(super) fn table(input: &[u8]) -> Outcome {
    let _ = look(input);
    let options = TableOptions { missing: true, ..TableOptions::default() };
    let strict = in_proportion(input, BASE, || read(input, &TableOptions::default(), &RunControl::unlimited()));
    let table = match in_proportion(input, BASE, || read(input, &options, &RunControl::unlimited())) {
        Ok(table) => table,
        Err(error) => {
            assert!(strict.is_err(), "what is refused with gaps is refused without");
            return refused(&error, has_place(&error));
        }
    };
    let data = &table.data;
    let columns = data.columns.as_ref().expect("a table has columns");
    let (width, count) = (columns.width(), columns.features().len());
    let has_gaps = data.samples.features() > width;
    assert_eq!(data.samples.features(), if has_gaps { width + count } else { width });
    assert_eq!((data.labels.len(), table.lines.len()), (data.samples.len(), data.samples.len()));
    assert!(data.labels.iter().all(|label| label.is_finite()) && table.lines.is_sorted_by(|a, b| a < b));
    match strict {
        Ok(strict) => assert!(!has_gaps && strict.data == *data, "without gaps both are the same"),
        Err(error) => {
            assert!(has_gaps, "only gaps are a difference: {error}");
            refused(&error, has_place(&error));
        }
    }
    let same = TableOptions { header: Some(table.has_header), labels: LabelRule::Known, ..options };
    let again = in_proportion(input, BASE, || read_like(input, columns, &same, &RunControl::unlimited()));
    let again = again.unwrap_or_else(|error| panic!("a table is refused by its own columns: {error}"));
    assert_eq!(again.data, *data, "a table reads the same by its own columns");
    assert!(again.unknown.is_empty(), "its own words are known");
    assert_eq!(describe(data).len(), count);
    for (impute, scale) in [(Impute::Median, None), (Impute::Mean, Some(ScaleMethod::Standard)), (Impute::MostFrequent, None)] {
        let preparing = Preparing { impute: Some(impute), scale };
        match preparing.fit(data).and_then(|found| found.apply(&data.samples).map(std::borrow::Cow::into_owned)) {
            Ok(samples) => assert_eq!(samples.features(), width, "gaps are filled, and no feature tells of them"),
            Err(error) => assert!(scale.is_some(), "only scaling overflows: {error}"),
        }
    }
    Outcome::Accepted
}
