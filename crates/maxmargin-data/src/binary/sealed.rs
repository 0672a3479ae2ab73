//! Sealed bytes: a payload with its kind, format version, key and checksum.
//!
//! The layout is: magic (8 bytes), format version (u32), key (32 bytes), payload length (u64),
//! payload checksum (u64), all little-endian, then the payload.

use super::codec::CodecError;
use sha2::{Digest, Sha256};

const HEADER: usize = 8 + 4 + 32 + 8 + 8;

/// The header of a kind of file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seal {
    /// The first bytes.
    pub magic: [u8; 8],
    /// The format version of the payload. Any change of an encoded type must increase it.
    pub version: u32,
}

/// The reasons for which sealed bytes cannot be used. The remedy is always to create them again.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SealError {
    /// The bytes are of another kind.
    #[error("not a file of this kind")]
    Magic,
    /// The bytes have another format version.
    #[error("format {found}, but this version reads format {known}")]
    Version {
        /// The format version of the bytes.
        found: u32,
        /// The format version that this program reads.
        known: u32,
    },
    /// The bytes were made from another source or with other options.
    #[error("made from another file or with other options")]
    Key,
    /// The bytes are truncated or changed.
    #[error("damaged")]
    Damaged,
    /// The payload does not decode.
    #[error("damaged: {0}")]
    Codec(#[from] CodecError),
}

impl Seal {
    /// Adds the header to a payload.
    pub fn put(&self, payload: &[u8], key: &[u8; 32]) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(HEADER + payload.len());
        bytes.extend_from_slice(&self.magic);
        bytes.extend_from_slice(&self.version.to_le_bytes());
        bytes.extend_from_slice(key);
        bytes.extend_from_slice(&(payload.len() as u64).to_le_bytes());
        bytes.extend_from_slice(&checksum(payload).to_le_bytes());
        bytes.extend_from_slice(payload);
        bytes
    }

    /// Returns the payload that was sealed under `expected_key`.
    ///
    /// # Errors
    ///
    /// When the bytes are of another kind, were sealed under another key, or are corrupted.
    pub fn open<'b>(&self, bytes: &'b [u8], expected_key: &[u8; 32]) -> Result<&'b [u8], SealError> {
        let (magic, rest) = bytes.split_first_chunk::<8>().ok_or(SealError::Magic)?;
        if *magic != self.magic {
            return Err(SealError::Magic);
        }
        let (version, rest) = rest.split_first_chunk::<4>().ok_or(SealError::Damaged)?;
        let found = u32::from_le_bytes(*version);
        if found != self.version {
            return Err(SealError::Version { found, known: self.version });
        }
        let (key, rest) = rest.split_first_chunk::<32>().ok_or(SealError::Damaged)?;
        if key != expected_key {
            return Err(SealError::Key);
        }
        let (length, rest) = rest.split_first_chunk::<8>().ok_or(SealError::Damaged)?;
        let (sum, payload) = rest.split_first_chunk::<8>().ok_or(SealError::Damaged)?;
        if u64::from_le_bytes(*length) != payload.len() as u64 || u64::from_le_bytes(*sum) != checksum(payload) {
            return Err(SealError::Damaged);
        }
        Ok(payload)
    }
}

/// The SHA-256 of some parts and their lengths, so that different lists of parts have different
/// keys.
pub fn key_of<'p>(parts: impl IntoIterator<Item = &'p [u8]>) -> [u8; 32] {
    let mut hash = Sha256::new();
    for part in parts {
        hash.update((part.len() as u64).to_le_bytes());
        hash.update(part);
    }
    hash.finalize().into()
}

/// A checksum against accidental changes, not against deliberate ones. Every step is a bijection of
/// the state, so a change of one word always changes the sum. Four lanes keep the multipliers busy.
fn checksum(bytes: &[u8]) -> u64 {
    const ODD: u64 = 0x9E37_79B9_7F4A_7C15;
    let step = |state: u64, word: u64| (state ^ word).wrapping_mul(ODD).rotate_left(31);
    let (words, tail) = bytes.as_chunks::<8>();
    let mut lanes = [1_u64, 2, 3, 4];
    let (blocks, rest) = words.as_chunks::<4>();
    for block in blocks {
        for (lane, word) in lanes.iter_mut().zip(block) {
            *lane = step(*lane, u64::from_le_bytes(*word));
        }
    }
    let mut sum = lanes.into_iter().fold(bytes.len() as u64, step);
    for word in rest {
        sum = step(sum, u64::from_le_bytes(*word));
    }
    tail.iter().fold(sum, |sum, byte| step(sum, u64::from(*byte)))
}
