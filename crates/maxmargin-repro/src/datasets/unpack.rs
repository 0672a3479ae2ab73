//! Compressed forms, hashes, and the installation of verified files.

use super::manifest::ManifestEntry;
use crate::workspace::failure::{Context, Outcome, fail};
use sha2::{Digest, Sha256};
use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::{BufReader, Read, Write};
use std::path::Path;
use tempfile::NamedTempFile;

/// The way in which a file is packed, which the ending of its name tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// Not packed.
    Plain,
    /// `.xz`.
    Xz,
    /// `.bz2`.
    Bzip2,
    /// `.gz`.
    Gzip,
}

impl Form {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Plain, Self::Xz, Self::Bzip2, Self::Gzip];

    fn ending(self) -> &'static str {
        match self {
            Self::Plain => "",
            Self::Xz => ".xz",
            Self::Bzip2 => ".bz2",
            Self::Gzip => ".gz",
        }
    }

    /// Returns the name of the file when packed this way.
    pub fn name(self, plain: &str) -> String {
        format!("{plain}{}", self.ending())
    }

    /// Returns the file's name in every form.
    pub fn names(plain: &str) -> Vec<String> {
        Self::ALL.iter().map(|form| form.name(plain)).collect()
    }

    /// Returns the form that an address or a file name promises.
    pub fn of(name: &str) -> Self {
        Self::ALL.into_iter().skip(1).find(|form| name.ends_with(form.ending())).unwrap_or(Self::Plain)
    }

    fn unpacked<'a>(self, packed: impl Read + 'a) -> Box<dyn Read + 'a> {
        match self {
            Self::Plain => Box::new(packed),
            Self::Xz => Box::new(lzma_rust2::XzReader::new(packed, true)),
            Self::Bzip2 => Box::new(bzip2::read::MultiBzDecoder::new(packed)),
            Self::Gzip => Box::new(flate2::read::MultiGzDecoder::new(packed)),
        }
    }
}

/// Unpacks `source` beside `target`, checks length and hash against the manifest, and only then
/// moves it into place.
///
/// # Errors
///
/// If a file cannot be read or written, or the content is another one.
pub fn install(set: &ManifestEntry, source: &Path, form: Form, target: &Path) -> Outcome<()> {
    let folder = target.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(folder).context(folder.display())?;
    let packed = BufReader::new(File::open(source).context(source.display())?);
    let mut file = NamedTempFile::new_in(folder).context(folder.display())?;
    // One byte more than expected shows that the content is another one: no archive can fill the
    // disk.
    let (length, sha256) = copy(form.unpacked(packed).take(set.bytes + 1), &mut file).context(source.display())?;
    if length != set.bytes {
        let relation = if length > set.bytes { "more" } else { "fewer" };
        return fail(refusal(set, source, &format!("holds {relation} than the {} bytes of the manifest", set.bytes)));
    }
    if sha256 != set.sha256 {
        return fail(refusal(set, source, &format!("has sha256 {sha256}, the manifest says {}", set.sha256)));
    }
    file.flush().context(target.display())?;
    file.persist(target).context(target.display())?;
    Ok(())
}

fn refusal(set: &ManifestEntry, source: &Path, why: &str) -> String {
    let note = set.note.as_deref().map_or(String::new(), |note| format!(" (note: {note})"));
    format!("{} unpacked {why}; nothing was installed{note}", source.display())
}

/// Returns the sha256 of a file in lower-case hexadecimal.
///
/// # Errors
///
/// If it cannot be read.
pub fn digest(path: &Path) -> Outcome<String> {
    let file = File::open(path).context(path.display())?;
    let (_, sha256) = copy(file, &mut std::io::sink()).context(path.display())?;
    Ok(sha256)
}

fn copy(mut from: impl Read, to: &mut impl Write) -> std::io::Result<(u64, String)> {
    let mut hash = Sha256::new();
    let mut buffer = vec![0; 1 << 16];
    let mut length = 0;
    loop {
        let n = from.read(&mut buffer)?;
        if n == 0 {
            break;
        }
        hash.update(&buffer[..n]);
        to.write_all(&buffer[..n])?;
        length += n as u64;
    }
    let mut text = String::with_capacity(64);
    for byte in hash.finalize() {
        let _ = write!(text, "{byte:02x}");
    }
    Ok((length, text))
}

#[cfg(test)]
#[path = "unpack_tests.rs"]
mod tests;
