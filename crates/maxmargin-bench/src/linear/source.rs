//! The file that a cell is about: generated data are written to one first, so that all solvers read the same.

use crate::cell::{Data, Failure};
use crate::input;
use maxmargin::data::{Par, libsvm};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use tempfile::NamedTempFile;

/// A file in LIBSVM format.
pub(crate) enum Source {
    Given(PathBuf),
    /// Goes away with the cell.
    Made(NamedTempFile),
}

impl Source {
    pub(crate) fn of(data: &Data) -> Result<Self, Failure> {
        if let Data::File { file } = data {
            return Ok(Self::Given(file.clone()));
        }
        let set = input::load(data, Par::Seq)?;
        let file = NamedTempFile::new().map_err(Failure::Temporary)?;
        let mut out = BufWriter::with_capacity(1 << 20, &file);
        libsvm::write(&set, &mut out).and_then(|()| out.flush()).map_err(Failure::Temporary)?;
        drop(out);
        Ok(Self::Made(file))
    }

    pub(crate) fn path(&self) -> &Path {
        match self {
            Self::Given(path) => path,
            Self::Made(file) => file.path(),
        }
    }

    pub(crate) fn failure(&self, source: std::io::Error) -> Failure {
        Failure::Read { path: self.path().into(), source }
    }
}
