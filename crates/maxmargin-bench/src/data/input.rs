//! The data of a cell.

use crate::cell::job::Data;
use crate::failure::Failure;
use maxmargin::data::generate::Generator;
use maxmargin::data::libsvm::{self, ReadOptions};
use maxmargin::data::{Dataset, Par, RunControl, compress};
use std::io::{BufWriter, Write};
use tempfile::NamedTempFile;

pub(crate) fn load(data: &Data, par: Par) -> Result<Dataset, Failure> {
    match data {
        Data::File { file } => {
            let bytes = std::fs::File::open(file).and_then(|file| compress::read_all(file, u64::MAX));
            let bytes = bytes.map_err(|source| Failure::Read { path: file.clone(), source })?;
            libsvm::parse(&bytes, &ReadOptions::default(), par, &RunControl::unlimited())
                .map_err(|source| Failure::Parse { path: file.clone(), source })
        }
        Data::Generated { generator, rows, features, seed } => {
            let known = Generator::ALL.into_iter().find(|known| known.name() == generator);
            Ok(known.ok_or_else(|| Failure::Generator(generator.clone()))?.generate(*rows, *features, *seed)?)
        }
    }
}

/// Returns the data in LIBSVM format.
pub(crate) fn text(data: &Data) -> Result<String, Failure> {
    let mut bytes = Vec::new();
    libsvm::write(&load(data, Par::Seq)?, &mut bytes).map_err(Failure::Temporary)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Returns the data as a file. Generated data are written to a temporary file, which is deleted
/// when the second value is dropped.
pub(crate) fn as_file(data: &Data) -> Result<(Data, Option<NamedTempFile>), Failure> {
    if let Data::File { .. } = data {
        return Ok((data.clone(), None));
    }
    let set = load(data, Par::Seq)?;
    let file = NamedTempFile::new().map_err(Failure::Temporary)?;
    let mut out = BufWriter::with_capacity(1 << 20, &file);
    libsvm::write(&set, &mut out).and_then(|()| out.flush()).map_err(Failure::Temporary)?;
    drop(out);
    Ok((Data::File { file: file.path().into() }, Some(file)))
}
