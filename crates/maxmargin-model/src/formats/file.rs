//! The native model file: one line of text with format, length and checksum, then the model in
//! bincode.
//!
//! ```text
//! maxmargin-model 11 BYTES SHA256\n
//! (BYTES bytes of bincode; SHA256 covers the format number and these bytes,
//! in 64 lower-case hexadecimal digits)
//! ```
//!
//! The bytes are checked before they are decoded, and the decoded parts are checked before they
//! become a model: a damaged or hostile file gives an error. Numbers are stored exactly, so that a
//! model that is written and read back predicts the same bits.

use super::libsvm;
pub use crate::error::MAGIC;
use crate::error::ModelError;
use crate::model::Model;
use crate::parts::Parts;
use maxmargin_data::codec;
use sha2::{Digest, Sha256};
use std::fmt::Write;

/// The format that [`encode`] writes.
pub const FORMAT: u32 = 11;

/// The greatest length of the first line: magic, format, length, checksum, blanks and line end.
const HEADER_LIMIT: usize = 128;

/// Returns the model as the bytes of a native file.
///
/// # Errors
///
/// When the encoder fails, which it does for no model of this crate.
pub fn encode(model: &Model) -> Result<Vec<u8>, ModelError> {
    let payload = codec::encode(model.parts()).map_err(|e| ModelError::Content(e.to_string()))?;
    Ok(sealed(FORMAT, &payload))
}

/// Returns a file of any format and content with a matching first line, for tests of the decoder.
#[doc(hidden)]
pub fn sealed(format: u32, payload: &[u8]) -> Vec<u8> {
    let mut file = header(format, payload).into_bytes();
    file.extend_from_slice(payload);
    file
}

fn header(format: u32, payload: &[u8]) -> String {
    let mut line = format!("{MAGIC} {format} {} ", payload.len());
    let mut digest = Sha256::new();
    // The checksum covers the format: a damaged digit of it is an error of its own.
    digest.update(format.to_le_bytes());
    digest.update(payload);
    for byte in digest.finalize() {
        // Writing to a string cannot fail.
        let _ = write!(line, "{byte:02x}");
    }
    line.push('\n');
    line
}

/// Reads a native model file.
///
/// # Errors
///
/// When the bytes are not one intact native model file of a format that this version knows.
pub fn decode(bytes: &[u8]) -> Result<Model, ModelError> {
    let Some(rest) = bytes.strip_prefix(MAGIC.as_bytes()) else {
        return Err(if is_cut_magic(bytes) { ModelError::Header } else { ModelError::NotAModel });
    };
    let line_end = rest.iter().take(HEADER_LIMIT).position(|b| *b == b'\n').ok_or(ModelError::Header)?;
    let line = std::str::from_utf8(&rest[..line_end]).map_err(|_| ModelError::Header)?;
    let payload = &rest[line_end + 1..];
    let mut words = line.split(' ').skip(1);
    let format: u32 = words.next().and_then(|w| w.parse().ok()).ok_or(ModelError::Header)?;
    match format {
        0 => return Err(ModelError::Header),
        1..FORMAT => return Err(ModelError::Past { found: format }),
        FORMAT => {}
        _ => return Err(ModelError::Future { found: format, newest: FORMAT }),
    }
    let expected: u64 = words.next().and_then(|w| w.parse().ok()).ok_or(ModelError::Header)?;
    let found = payload.len() as u64;
    if found < expected {
        return Err(ModelError::Truncated { expected, found });
    }
    if found > expected {
        return Err(ModelError::Trailing(found - expected));
    }
    // The comparison is textual: any difference from the line that `encode` writes is damage.
    let expected_line = header(format, payload);
    let first_line = &bytes[..=MAGIC.len() + line_end];
    if first_line.len() != expected_line.len() {
        return Err(ModelError::Header);
    }
    if first_line != expected_line.as_bytes() {
        return Err(ModelError::Checksum);
    }
    Model::new(content(payload)?)
}

fn content(payload: &[u8]) -> Result<Parts, ModelError> {
    codec::decode(payload, payload.len()).map_err(|e| ModelError::Content(e.to_string()))
}

/// Returns true if the bytes are a non-empty beginning of the first word and nothing more.
fn is_cut_magic(bytes: &[u8]) -> bool {
    !bytes.is_empty() && MAGIC.as_bytes().starts_with(bytes)
}

/// Reads a native model file or LIBSVM's text. The first word selects the format.
///
/// # Errors
///
/// As [`decode`] and [`libsvm::read_model`].
pub fn read(bytes: &[u8]) -> Result<Model, ModelError> {
    if libsvm::looks_like_model(bytes) { libsvm::read_model(bytes) } else { decode(bytes) }
}
