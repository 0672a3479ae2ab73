//! Where a data file is: a given folder, `MAXMARGIN_DATA`, datasets/files.

use super::unpack::Form;
use std::env;
use std::path::{Path, PathBuf};

/// A file that was found, and how it is packed.
pub(crate) struct Found {
    pub(crate) path: PathBuf,
    pub(crate) form: Form,
}

/// The first of `folders` that holds `name`, plain or packed.
pub(crate) fn find(name: &str, folders: &[PathBuf]) -> Option<Found> {
    folders
        .iter()
        .flat_map(|folder| Form::ALL.map(|form| Found { path: folder.join(form.name(name)), form }))
        .find(|f| f.path.is_file())
}

/// The folders in which benchmarks look: `first`, then `MAXMARGIN_DATA`, then datasets/files.
pub(crate) fn folders(first: Option<&Path>) -> Vec<PathBuf> {
    let named = first.map(Path::to_path_buf);
    named.into_iter().chain(env::var_os("MAXMARGIN_DATA").map(PathBuf::from)).chain([super::folder()]).collect()
}
