//! Search for data files: in a given folder, in `MAXMARGIN_DATA`, in datasets/files.

use super::unpack::Form;
use crate::workspace::tools::root;
use std::env;
use std::path::{Path, PathBuf};

/// Returns the folder of unpacked data, which git ignores.
pub fn folder() -> PathBuf {
    root().join("datasets/files")
}

/// A data file on this machine.
pub struct DataFile {
    /// The path.
    pub path: PathBuf,
    /// The way in which it is packed.
    pub form: Form,
}

/// Returns the first file called `name`, plain or packed, in the order of the folders.
pub fn find(name: &str, folders: &[PathBuf]) -> Option<DataFile> {
    folders
        .iter()
        .flat_map(|folder| Form::ALL.map(|form| DataFile { path: folder.join(form.name(name)), form }))
        .find(|f| f.path.is_file())
}

/// Returns the folders in which benchmarks look: `first`, then `MAXMARGIN_DATA`, then datasets/files.
pub fn folders(first: Option<&Path>) -> Vec<PathBuf> {
    let named = first.map(Path::to_path_buf);
    named.into_iter().chain(env::var_os("MAXMARGIN_DATA").map(PathBuf::from)).chain([folder()]).collect()
}
