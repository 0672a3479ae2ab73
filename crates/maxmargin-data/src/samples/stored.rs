//! Serialisation of samples: arrays as little-endian bytes, validated on reading.

use super::{Samples, SamplesError, Storage, check_rows};
use bytemuck::Pod;
use serde::de::{self, Deserialize, Deserializer, Visitor};
use serde::ser::{Serialize, Serializer};
use sprs::CsMatI;
use std::borrow::Cow;
use std::fmt;

/// The serialised form of [`Samples`], before validation.
#[derive(serde::Serialize, serde::Deserialize)]
struct SamplesRecord<'a> {
    rows: u64,
    features: u64,
    #[serde(borrow)]
    values: Values<'a>,
}

#[derive(serde::Serialize, serde::Deserialize)]
enum Values<'a> {
    #[serde(borrow)]
    Dense32(ByteArray<'a>),
    #[serde(borrow)]
    Dense64(ByteArray<'a>),
    Sparse {
        #[serde(borrow)]
        offsets: ByteArray<'a>,
        #[serde(borrow)]
        indices: ByteArray<'a>,
        #[serde(borrow)]
        values: ByteArray<'a>,
    },
}

/// The little-endian bytes of an array.
struct ByteArray<'a>(Cow<'a, [u8]>);

impl<'a> ByteArray<'a> {
    fn new<T: Pod>(array: &'a [T]) -> Self {
        let bytes: &[u8] = bytemuck::cast_slice(array);
        if cfg!(target_endian = "little") { Self(bytes.into()) } else { Self(swapped::<T>(bytes).into()) }
    }

    fn array<T: Pod>(&self) -> Result<Vec<T>, SamplesError> {
        if !self.0.len().is_multiple_of(size_of::<T>()) {
            return Err(SamplesError::Structure("an array ends inside a number".to_owned()));
        }
        let native = if cfg!(target_endian = "little") { Cow::Borrowed(&*self.0) } else { swapped::<T>(&self.0).into() };
        Ok(bytemuck::pod_collect_to_vec(&native))
    }
}

/// The bytes with the order reversed inside each `T`.
fn swapped<T>(bytes: &[u8]) -> Vec<u8> {
    bytes.chunks(size_of::<T>()).flat_map(|number| number.iter().rev()).copied().collect()
}

impl Serialize for ByteArray<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_bytes(&self.0)
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for ByteArray<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Bytes;
        impl<'de> Visitor<'de> for Bytes {
            type Value = Cow<'de, [u8]>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("the bytes of an array")
            }

            fn visit_borrowed_bytes<E: de::Error>(self, bytes: &'de [u8]) -> Result<Self::Value, E> {
                Ok(bytes.into())
            }

            fn visit_bytes<E: de::Error>(self, bytes: &[u8]) -> Result<Self::Value, E> {
                Ok(bytes.to_vec().into())
            }

            fn visit_byte_buf<E: de::Error>(self, bytes: Vec<u8>) -> Result<Self::Value, E> {
                Ok(bytes.into())
            }

            // Text formats write bytes as a sequence of numbers.
            fn visit_seq<A: de::SeqAccess<'de>>(self, mut numbers: A) -> Result<Self::Value, A::Error> {
                let mut bytes = Vec::new();
                while let Some(byte) = numbers.next_element()? {
                    bytes.push(byte);
                }
                Ok(bytes.into())
            }
        }
        deserializer.deserialize_bytes(Bytes).map(Self)
    }
}

impl Serialize for Samples {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let offsets: Vec<u64>;
        let values = match &self.storage {
            Storage::Dense32(values) => Values::Dense32(ByteArray::new(values)),
            Storage::Dense64(values) => Values::Dense64(ByteArray::new(values)),
            Storage::Sparse(matrix) => {
                offsets = matrix.indptr().raw_storage().iter().map(|o| *o as u64).collect();
                Values::Sparse {
                    offsets: ByteArray::new(&offsets),
                    indices: ByteArray::new(matrix.indices()),
                    values: ByteArray::new(matrix.data()),
                }
            }
        };
        SamplesRecord { rows: self.rows as u64, features: self.features as u64, values }.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Samples {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        SamplesRecord::deserialize(deserializer)?.try_into().map_err(de::Error::custom)
    }
}

impl TryFrom<SamplesRecord<'_>> for Samples {
    type Error = SamplesError;

    fn try_from(stored: SamplesRecord<'_>) -> Result<Self, SamplesError> {
        let count = |n: u64| usize::try_from(n).map_err(|_| SamplesError::Structure(format!("{n} is too large a count")));
        let (rows, features) = (count(stored.rows)?, count(stored.features)?);
        let shape = |values: usize| match rows.checked_mul(features) {
            Some(expected) if expected == values => Ok(()),
            _ => Err(SamplesError::Shape { values, rows, features }),
        };
        let not_finite = |at: usize, value| SamplesError::NotFinite { row: at / features, feature: at % features, value };
        let storage = match stored.values {
            Values::Dense32(packed) => {
                let values: Vec<f32> = packed.array()?;
                shape(values.len())?;
                if let Some(at) = values.iter().position(|v| !v.is_finite()) {
                    return Err(not_finite(at, f64::from(values[at])));
                }
                Storage::Dense32(values)
            }
            Values::Dense64(packed) => {
                let values: Vec<f64> = packed.array()?;
                shape(values.len())?;
                if let Some(at) = values.iter().position(|v| !v.is_finite()) {
                    return Err(not_finite(at, values[at]));
                }
                Storage::Dense64(values)
            }
            Values::Sparse { offsets, indices, values } => {
                let offsets: Vec<usize> = offsets.array()?.into_iter().map(count).collect::<Result<_, _>>()?;
                let (indices, values) = (indices.array()?, values.array()?);
                check_rows(features, &offsets, &indices, &values)?;
                if offsets.len() - 1 != rows {
                    return Err(SamplesError::Structure(format!("{} rows where {rows} should be", offsets.len() - 1)));
                }
                let matrix = CsMatI::try_new((rows, features), offsets, indices, values);
                Storage::Sparse(matrix.map_err(|(_, _, _, e)| SamplesError::Structure(e.to_string()))?)
            }
        };
        Ok(Self { rows, features, storage })
    }
}
