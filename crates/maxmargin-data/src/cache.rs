//! A parsed data set in binary form, so that a large file is parsed once.
//!
//! The bytes are: 8 bytes of magic, format version (u32), key (32 bytes), payload length (u64), payload checksum (u64), all
//! little-endian, then the payload of [`crate::codec`]. A change of any type inside must raise the version.

use crate::codec::{self, CodecError};
use crate::dataset::Dataset;
use crate::libsvm::ReadOptions;
use sha2::{Digest, Sha256};

const MAGIC: [u8; 8] = *b"mmdata\r\n";
const VERSION: u32 = 1;
const HEADER: usize = 8 + 4 + 32 + 8 + 8;

/// Why cached bytes cannot be used. In every case: read the source again and write the cache anew.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum CacheError {
    /// These are not cached data.
    #[error("not a maxmargin data cache")]
    Magic,
    /// Written by another version.
    #[error("cache format {found}, but this version reads format {VERSION}")]
    Version {
        /// The format of the bytes.
        found: u32,
    },
    /// Made from other source bytes or with other options.
    #[error("the cache was made from another file or with other options")]
    Key,
    /// Truncated or changed.
    #[error("the cache is damaged")]
    Damaged,
    /// The payload does not decode.
    #[error("the cache is damaged: {0}")]
    Codec(#[from] CodecError),
}

/// The key of the data set that `source` (as stored, compressed or not) gives when read with `options`.
pub fn key(source: &[u8], options: &ReadOptions) -> [u8; 32] {
    let ReadOptions { index_base, sort, skip_hash } = options;
    let mut hash = Sha256::new();
    hash.update(source);
    hash.update([*index_base as u8, u8::from(*sort), u8::from(*skip_hash)]);
    hash.finalize().into()
}

/// The bytes to store for `data` under `key`.
///
/// # Errors
///
/// Those of [`codec::encode`]; none for a [`Dataset`] as this version knows it.
pub fn encode_dataset(data: &Dataset, key: &[u8; 32]) -> Result<Vec<u8>, CodecError> {
    Ok(sealed(&codec::encode(data)?, key))
}

/// Any payload with the head that fits it: what tests of the decoder need.
#[doc(hidden)]
pub fn sealed(payload: &[u8], key: &[u8; 32]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(HEADER + payload.len());
    bytes.extend_from_slice(&MAGIC);
    bytes.extend_from_slice(&VERSION.to_le_bytes());
    bytes.extend_from_slice(key);
    bytes.extend_from_slice(&(payload.len() as u64).to_le_bytes());
    bytes.extend_from_slice(&checksum(payload).to_le_bytes());
    bytes.extend_from_slice(payload);
    bytes
}

/// The data set that [`encode_dataset`] stored under `expected_key`.
///
/// # Errors
///
/// When the bytes are not such a data set, were stored under another key, or are damaged.
pub fn decode_dataset(bytes: &[u8], expected_key: &[u8; 32]) -> Result<Dataset, CacheError> {
    let (magic, rest) = bytes.split_first_chunk::<8>().ok_or(CacheError::Magic)?;
    if *magic != MAGIC {
        return Err(CacheError::Magic);
    }
    let (version, rest) = rest.split_first_chunk::<4>().ok_or(CacheError::Damaged)?;
    let found = u32::from_le_bytes(*version);
    if found != VERSION {
        return Err(CacheError::Version { found });
    }
    let (key, rest) = rest.split_first_chunk::<32>().ok_or(CacheError::Damaged)?;
    if key != expected_key {
        return Err(CacheError::Key);
    }
    let (length, rest) = rest.split_first_chunk::<8>().ok_or(CacheError::Damaged)?;
    let (sum, payload) = rest.split_first_chunk::<8>().ok_or(CacheError::Damaged)?;
    if u64::from_le_bytes(*length) != payload.len() as u64 || u64::from_le_bytes(*sum) != checksum(payload) {
        return Err(CacheError::Damaged);
    }
    Ok(codec::decode(payload, payload.len())?)
}

/// A checksum against accidents (not against intent): every step is a bijection of the state, so that one changed word always
/// changes the sum; four lanes keep the multipliers busy.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::libsvm::parse;
    use crate::par::Par;
    use proptest::prelude::*;

    fn stored(text: &str) -> (Dataset, [u8; 32], Vec<u8>) {
        let options = ReadOptions::default();
        let data = parse(text.as_bytes(), &options, Par::Seq).expect("valid text");
        let key = key(text.as_bytes(), &options);
        let bytes = encode_dataset(&data, &key).expect("encodable");
        (data, key, bytes)
    }

    #[test]
    fn all_forms_read_back() {
        for text in ["1 1:0.5 2:3\n-1 1:2 2:1\n", "1 1:0.1 2:3\n-1 1:2 2:1\n", "1 qid:4 900:0.1\n-1 qid:5\n", "1 0:2\n"] {
            let (data, key, bytes) = stored(text);
            assert_eq!(decode_dataset(&bytes, &key), Ok(data));
        }
    }

    #[test]
    fn other_sources_options_and_versions_are_refused() {
        let (_, key_before, mut bytes) = stored("1 1:1\n");
        let sorted = ReadOptions { sort: true, ..ReadOptions::default() };
        assert_eq!(decode_dataset(&bytes, &key(b"1 1:1\n", &sorted)), Err(CacheError::Key));
        assert_eq!(decode_dataset(&bytes, &key(b"1 1:2\n", &ReadOptions::default())), Err(CacheError::Key));
        assert_eq!(decode_dataset(b"1 1:1\n", &key_before), Err(CacheError::Magic));
        bytes[8] = 99;
        assert_eq!(decode_dataset(&bytes, &key_before), Err(CacheError::Version { found: 99 }));
    }

    #[test]
    fn rows_that_do_not_match_labels_are_refused() {
        let (mut data, key, _) = stored("1 1:1\n2 1:2\n");
        data.labels.pop();
        let bytes = encode_dataset(&data, &key).expect("encodable");
        let found = decode_dataset(&bytes, &key).expect_err("a row without a label").to_string();
        assert!(found.contains("1 labels for 2 rows"), "{found}");
    }

    proptest! {
        #[test]
        fn every_change_and_every_cut_is_found(at in 0_usize..10_000, flip in 1_u8..) {
            let (_, key, bytes) = stored("1 1:0.25 9:4\n-1 3:7\n1 2:0.1\n");
            let at = at % bytes.len();
            let mut damaged = bytes.clone();
            damaged[at] ^= flip;
            prop_assert!(decode_dataset(&damaged, &key).is_err());
            prop_assert!(decode_dataset(&bytes[..at], &key).is_err());
        }
    }
}
