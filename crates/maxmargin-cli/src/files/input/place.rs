//! The place of a data file: as it is named, in the folder of `MAXMARGIN_DATA`, or in
//! `datasets/files`.

use crate::console::notes::Notes;
use maxmargin::data::{Generator, compress};
use std::env;
use std::path::{Path, PathBuf};

/// The folder of the project's own data sets.
const FOLDER: &str = "datasets/files";

/// Returns the path of a data file, which may lie in a folder for data sets and be packed there. A
/// file of this name, a generator and a path with folders are taken as they are.
pub(super) fn find(source: &str, notes: &Notes) -> String {
    let is_name = Path::new(source).components().count() == 1 && source != "-";
    let is_known = Path::new(source).exists() || source.parse::<Generator>().is_ok() || source == super::generated::PENGUINS;
    if !is_name || is_known {
        return source.to_owned();
    }
    let folders = [env::var_os("MAXMARGIN_DATA").map(PathBuf::from), Some(PathBuf::from(FOLDER))];
    let places = folders
        .into_iter()
        .flatten()
        .flat_map(|folder| std::iter::once("").chain(compress::ENDINGS).map(move |end| folder.join(format!("{source}{end}"))));
    let found = places.into_iter().find(|place| place.is_file());
    match found.as_ref().and_then(|place| place.to_str()) {
        Some(place) => {
            notes.note(&format!("{source}: reading {place}"));
            place.to_owned()
        }
        None => source.to_owned(),
    }
}
