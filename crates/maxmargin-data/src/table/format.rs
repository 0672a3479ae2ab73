//! File formats that contain columns with names and types: Parquet and Arrow. Spreadsheets.

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

/// Returns whether this is a spreadsheet, which no feature reads: a zip archive (.xlsx, .ods) or a
/// file of Excel's old format (.xls).
pub fn is_spreadsheet(bytes: &[u8]) -> bool {
    let begins: [&[u8]; 2] = [b"PK\x03\x04", &[0xD0, 0xCF, 0x11, 0xE0, 0xA1, 0xB1, 0x1A, 0xE1]];
    begins.iter().any(|begin| bytes.starts_with(begin))
}

impl fmt::Display for Columnar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Parquet => "Parquet",
            Self::Arrow => "Arrow",
        })
    }
}
