//! File formats that contain columns with names and types: Parquet and Arrow.

use std::fmt;

/// A columnar file format, which contains names and types of columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Columnar {
    /// Apache Parquet.
    Parquet,
    /// Apache Arrow: a file (Feather) or a stream (IPC).
    Arrow,
}

impl Columnar {
    /// Recognises a format by its first bytes.
    pub fn of(bytes: &[u8]) -> Option<Self> {
        // A file, a stream, and the old Feather format.
        let arrow: [&[u8]; 3] = [b"ARROW1", &[0xff; 4], b"FEA1"];
        if bytes.starts_with(b"PAR1") {
            Some(Self::Parquet)
        } else {
            arrow.iter().any(|begin| bytes.starts_with(begin)).then_some(Self::Arrow)
        }
    }

    /// The Cargo feature that reads the format.
    pub fn feature(self) -> &'static str {
        match self {
            Self::Parquet => "parquet",
            Self::Arrow => "arrow",
        }
    }
}

impl fmt::Display for Columnar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Parquet => "Parquet",
            Self::Arrow => "Arrow",
        })
    }
}
