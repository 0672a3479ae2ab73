//! File formats that contain columns with names and types: Parquet and Arrow. Formats that are no
//! tables of text.

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

/// A known format that is no table of text and that no feature reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ForeignFormat {
    /// A zip archive, such as a spreadsheet (.xlsx, .ods), or a file of Excel's old format (.xls).
    Spreadsheet,
    /// JSON.
    Json,
    /// Weka's format.
    Arff,
    /// A page of the web, often in the place of the file that it leads to.
    WebPage,
    /// Arrays of `NumPy` (.npy).
    Numpy,
    /// Objects of Python (pickle, joblib).
    Pickle,
    /// HDF5, also MATLAB's format since version 7.3.
    Hdf5,
    /// MATLAB's format before version 7.3.
    Matlab,
    /// Objects of R (`.rds`, `.RData`).
    R,
    /// The pointer that Git keeps in the place of a large file.
    GitPointer,
}

impl ForeignFormat {
    /// Recognises a format by its first bytes.
    pub fn of(bytes: &[u8]) -> Option<Self> {
        let begins: [(&[u8], Self); 12] = [
            (b"PK\x03\x04", Self::Spreadsheet),
            (&[0xD0, 0xCF, 0x11, 0xE0, 0xA1, 0xB1, 0x1A, 0xE1], Self::Spreadsheet),
            (b"\x93NUMPY", Self::Numpy),
            (b"\x80\x02", Self::Pickle),
            (b"\x80\x03", Self::Pickle),
            (b"\x80\x04\x95", Self::Pickle),
            (b"\x80\x05\x95", Self::Pickle),
            (b"\x89HDF\r\n", Self::Hdf5),
            (b"MATLAB 5.0 MAT-file", Self::Matlab),
            (b"X\n\0\0\0", Self::R),
            (b"RDX", Self::R),
            (b"version https://git-lfs", Self::GitPointer),
        ];
        begins.into_iter().find(|(begin, _)| bytes.starts_with(begin)).map(|found| found.1).or_else(|| Self::of_text(bytes))
    }

    /// Recognises a format of text by its first word.
    fn of_text(bytes: &[u8]) -> Option<Self> {
        let bytes = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes);
        let mut lines = bytes.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii);
        let first = lines.find(|line| !line.is_empty() && !line.starts_with(b"%"))?;
        let is = |word: &[u8]| first.len() >= word.len() && first[..word.len()].eq_ignore_ascii_case(word);
        if is(b"@relation") {
            Some(Self::Arff)
        } else if is(b"<!doctype") || is(b"<html") {
            Some(Self::WebPage)
        } else {
            (is(b"{") || is(b"[{") || is(b"[[") || first == b"[").then_some(Self::Json)
        }
    }

    /// The noun with its article.
    pub fn name(self) -> &'static str {
        match self {
            Self::Spreadsheet => "a spreadsheet (or another zip archive)",
            Self::Json => "JSON",
            Self::Arff => "a file of Weka (ARFF)",
            Self::WebPage => "a page of the web (HTML)",
            Self::Numpy => "arrays of NumPy",
            Self::Pickle => "an object of Python (pickle)",
            Self::Hdf5 => "a file of HDF5 (or MATLAB's)",
            Self::Matlab => "a file of MATLAB",
            Self::R => "an object of R",
            Self::GitPointer => "Git's pointer to a large file",
        }
    }

    /// The way to a file that can be read.
    pub fn advice(self) -> &'static str {
        match self {
            Self::Spreadsheet => "save the sheet as CSV, and read that file",
            Self::WebPage => "download the file that the page shows (of GitHub: Raw), and read that",
            Self::Numpy | Self::Pickle => {
                "use the Python package, or save it as CSV (numpy.savetxt, pandas.DataFrame.to_csv) or LIBSVM's format \
                 (sklearn.datasets.dump_svmlight_file)"
            }
            Self::R => "save it as CSV (write.csv), and read that file",
            Self::GitPointer => "fetch the file itself (git lfs pull)",
            Self::Json | Self::Arff | Self::Hdf5 | Self::Matlab => "save the table as CSV, and read that file",
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

#[cfg(test)]
mod tests {
    use super::ForeignFormat;

    #[test]
    fn foreign_formats_are_recognised_and_tables_are_not_taken_for_them() {
        let foreign: [(&[u8], ForeignFormat); 8] = [
            (b"PK\x03\x04rest", ForeignFormat::Spreadsheet),
            (b"% a comment\n\n@RELATION iris\n", ForeignFormat::Arff),
            (b"\n<!DOCTYPE html>\n", ForeignFormat::WebPage),
            (b"[{\"a\": 1}]", ForeignFormat::Json),
            (b"{\n  \"a\": 1\n}", ForeignFormat::Json),
            (b"[\n1,\n", ForeignFormat::Json),
            (b"\x80\x04\x95rest", ForeignFormat::Pickle),
            (b"version https://git-lfs.github.com/spec/v1\n", ForeignFormat::GitPointer),
        ];
        for (bytes, format) in foreign {
            assert_eq!(ForeignFormat::of(bytes), Some(format));
        }
        for table in ["a,b\n", "[a],b\n", "% of all,b\n1,2\n", "version,b\n", "1 1:2\n", "", "<0.5,1\n", "X\n1\n"] {
            assert_eq!(ForeignFormat::of(table.as_bytes()), None, "{table}");
        }
    }
}
