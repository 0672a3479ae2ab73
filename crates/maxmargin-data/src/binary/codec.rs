//! Binary encoding of the project's types. Only this module knows which crate provides the format.
//!
//! The format is little-endian with integers of fixed width. It contains no type information: add a
//! magic number, a version and a checksum (as [`crate::cache`] does).

use bincode::config::{Configuration, Fixint, Limit, LittleEndian, standard};
use bincode::serde::{borrow_decode_from_slice, encode_to_vec};
use serde::Serialize;
use serde::de::DeserializeOwned;

/// The errors of encoding and decoding.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CodecError {
    /// There are more bytes than the caller allows.
    #[error("{bytes} bytes are more than the limit of {limit}")]
    TooLarge {
        /// Bytes given.
        bytes: usize,
        /// Bytes allowed.
        limit: usize,
    },
    /// The bytes are not a valid encoding.
    #[error("not a valid encoding: {0}")]
    Invalid(String),
    /// Bytes remain after the value.
    #[error("{extra} bytes follow the encoded value")]
    Trailing {
        /// Number of remaining bytes.
        extra: usize,
    },
}

/// The most bytes that [`decode`] accepts for any limit of the caller: 256 GiB.
const MOST_BYTES: usize = 1 << 38;

/// Encodes `value`.
///
/// # Errors
///
/// When its serialiser fails, or when it needs type information, such as sequences of unknown
/// length.
pub fn encode<T: Serialize + ?Sized>(value: &T) -> Result<Vec<u8>, CodecError> {
    encode_to_vec(value, standard().with_fixed_int_encoding()).map_err(|e| CodecError::Invalid(e.to_string()))
}

/// Decodes a value that takes all of `bytes`.
///
/// Corrupted bytes give an error, not a panic. Lengths in the bytes are trusted only within limits:
/// no allocation exceeds 64 times the length of the bytes (or a mebibyte per level of nested
/// sequences, if that is more). `T` must not contain sequences of zero-sized elements, whose
/// lengths have no limit.
///
/// # Errors
///
/// When there are more than `limit_bytes` bytes, when they do not encode a `T`, or when bytes
/// remain.
pub fn decode<T: DeserializeOwned>(bytes: &[u8], limit_bytes: usize) -> Result<T, CodecError> {
    if bytes.len() > limit_bytes {
        return Err(CodecError::TooLarge { bytes: bytes.len(), limit: limit_bytes });
    }
    // The format crate has its limit as a type parameter: the smallest available one that is not
    // below the length.
    match bytes.len() {
        ..=0x1000 => decode_within::<T, 0x1000>(bytes),
        0x1001..=0x4_0000 => decode_within::<T, 0x4_0000>(bytes),
        0x4_0001..=0x100_0000 => decode_within::<T, 0x100_0000>(bytes),
        0x100_0001..=0x4000_0000 => decode_within::<T, 0x4000_0000>(bytes),
        0x4000_0001..=0x1_0000_0000 => decode_within::<T, 0x1_0000_0000>(bytes),
        0x1_0000_0001..=0x4_0000_0000 => decode_within::<T, 0x4_0000_0000>(bytes),
        0x4_0000_0001..=MOST_BYTES => decode_within::<T, MOST_BYTES>(bytes),
        _ => Err(CodecError::TooLarge { bytes: bytes.len(), limit: MOST_BYTES }),
    }
}

fn decode_within<T: DeserializeOwned, const LIMIT: usize>(bytes: &[u8]) -> Result<T, CodecError> {
    let config: Configuration<LittleEndian, Fixint, Limit<LIMIT>> = standard().with_fixed_int_encoding().with_limit::<LIMIT>();
    let (value, used) = borrow_decode_from_slice(bytes, config).map_err(|e| CodecError::Invalid(e.to_string()))?;
    if used < bytes.len() { Err(CodecError::Trailing { extra: bytes.len() - used }) } else { Ok(value) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde::Deserialize;

    #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
    enum Shape {
        Point,
        Named { name: String, values: Vec<f64>, flags: Option<Vec<bool>> },
    }

    #[test]
    fn values_of_every_size_read_back() {
        for length in [0, 1, 500, 600, 40_000, 3_000_000] {
            let value = Shape::Named { name: "é".repeat(length), values: vec![-0.5; length / 2], flags: Some(vec![true; 3]) };
            let bytes = encode(&value).expect("encodable");
            assert_eq!(decode::<Shape>(&bytes, usize::MAX).as_ref(), Ok(&value));
        }
        assert_eq!(decode::<Shape>(&encode(&Shape::Point).expect("encodable"), 4), Ok(Shape::Point));
    }

    #[test]
    fn wrong_lengths_are_errors() {
        let bytes = encode(&vec![1.0_f64, 2.0]).expect("encodable");
        assert_eq!(decode::<Vec<f64>>(&bytes, 10), Err(CodecError::TooLarge { bytes: 24, limit: 10 }));
        assert!(matches!(decode::<Vec<f64>>(&bytes[..20], 100), Err(CodecError::Invalid(_))));
        assert_eq!(decode::<Vec<f64>>(&[&bytes[..], &[0]].concat(), 100), Err(CodecError::Trailing { extra: 1 }));
        // A text of 2^60 bytes and a sequence of 2^63 numbers are refused before an allocation.
        assert!(matches!(decode::<String>(&(1_u64 << 60).to_le_bytes(), 100), Err(CodecError::Invalid(_))));
        assert!(matches!(decode::<Vec<f64>>(&(1_u64 << 63).to_le_bytes(), 100), Err(CodecError::Invalid(_))));
    }

    proptest! {
        #[test]
        fn arbitrary_bytes_never_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            let _ = decode::<Shape>(&bytes, usize::MAX);
            let _ = decode::<crate::Dataset>(&bytes, usize::MAX);
        }

        #[test]
        fn one_damaged_byte_never_panics(at in 0_usize..200, flip in 1_u8..) {
            let value = Shape::Named { name: "name".into(), values: vec![1.5; 20], flags: None };
            let mut bytes = encode(&value).expect("encodable");
            let at = at % bytes.len();
            bytes[at] ^= flip;
            let _ = decode::<Shape>(&bytes, usize::MAX);
        }
    }
}
