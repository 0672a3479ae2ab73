//! A parsed data set in binary form, so that a large file is parsed once.
//!
//! The bytes are encoded by [`crate::codec`] and sealed ([`crate::sealed`]) under a key of the
//! source.

use super::codec::{self, CodecError};
use super::sealed::{Seal, SealError};
use crate::dataset::Dataset;
use crate::libsvm::ReadOptions;
use sha2::{Digest, Sha256};

const SEAL: Seal = Seal { magic: *b"mmdata\r\n", version: 1 };

/// The key of the data set that results from reading `source` (as stored, compressed or not) with
/// `options`.
pub fn key(source: &[u8], options: &ReadOptions) -> [u8; 32] {
    let ReadOptions { index_base, sort, skip_hash } = options;
    let mut hash = Sha256::new();
    hash.update(source);
    hash.update([*index_base as u8, u8::from(*sort), u8::from(*skip_hash)]);
    hash.finalize().into()
}

/// Encodes `data` under `key`.
///
/// # Errors
///
/// The errors of [`codec::encode`]; none for a [`Dataset`] of this version.
pub fn encode_dataset(data: &Dataset, key: &[u8; 32]) -> Result<Vec<u8>, CodecError> {
    Ok(sealed(&codec::encode(data)?, key))
}

/// Adds a valid header to any payload, for tests of the decoder.
#[doc(hidden)]
pub fn sealed(payload: &[u8], key: &[u8; 32]) -> Vec<u8> {
    SEAL.put(payload, key)
}

/// Decodes a data set that [`encode_dataset`] encoded under `expected_key`.
///
/// # Errors
///
/// When the bytes are not such a data set, were stored under another key, or are corrupted.
pub fn decode_dataset(bytes: &[u8], expected_key: &[u8; 32]) -> Result<Dataset, SealError> {
    let payload = SEAL.open(bytes, expected_key)?;
    Ok(codec::decode(payload, payload.len())?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::libsvm::parse;
    use crate::run::RunControl;
    use crate::run::par::Par;
    use proptest::prelude::*;

    fn stored(text: &str) -> (Dataset, [u8; 32], Vec<u8>) {
        let options = ReadOptions::default();
        let data = parse(text.as_bytes(), &options, Par::Seq, &RunControl::unlimited()).expect("valid text");
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
        assert_eq!(decode_dataset(&bytes, &key(b"1 1:1\n", &sorted)), Err(SealError::Key));
        assert_eq!(decode_dataset(&bytes, &key(b"1 1:2\n", &ReadOptions::default())), Err(SealError::Key));
        assert_eq!(decode_dataset(b"1 1:1\n", &key_before), Err(SealError::Magic));
        bytes[8] = 99;
        assert_eq!(decode_dataset(&bytes, &key_before), Err(SealError::Version { found: 99, known: 1 }));
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
