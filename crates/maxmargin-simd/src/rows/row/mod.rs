//! A kernel row in memory: values, or one-byte codes with the table of their values.

use crate::dispatch::level::{Level, level};
use crate::rows::sums;

#[cfg(target_arch = "x86_64")]
pub(crate) mod avx2;
#[cfg(target_arch = "x86_64")]
pub(crate) mod avx512;

/// Entries of a row that are decoded together, and elements per chunk of a scan.
pub(crate) const CHUNK: usize = 512;

/// Number of table entries that fit in registers.
const FEW: usize = 32;

/// Number of codes that are decoded at once, on the stack.
const DECODED: usize = 512;

/// A buffer for the values of a stretch of codes, in the first-level cache. Rows of values need
/// none, so that their passes do not fill it.
#[cfg(target_arch = "x86_64")]
#[derive(Default)]
pub(crate) struct Stretch(Option<[f32; CHUNK]>);

#[cfg(target_arch = "x86_64")]
impl Stretch {
    /// Returns the buffer. Its first call fills it with zeros.
    #[inline]
    pub(crate) fn buffer(&mut self) -> &mut [f32; CHUNK] {
        self.0.get_or_insert([0.0; CHUNK])
    }
}

/// The value of each one-byte code.
#[derive(Clone, Debug, PartialEq)]
pub struct CodeTable {
    values: [f32; 256],
    /// All codes from `FEW − 1` on have the same value.
    few: bool,
    /// The bytes of the values, lowest first, for lookups by byte shuffles.
    planes: [[u8; 256]; 4],
}

impl CodeTable {
    /// The table of `value`, which maps codes to values.
    pub fn new(value: impl Fn(u8) -> f32) -> Self {
        let values = std::array::from_fn(|code| value(code as u8));
        let few = values[FEW..].iter().all(|v| v.to_bits() == values[FEW - 1].to_bits());
        let planes = std::array::from_fn(|byte| std::array::from_fn(|code| values[code].to_le_bytes()[byte]));
        Self { values, few, planes }
    }

    /// The value of `code`.
    #[inline]
    pub fn value(&self, code: u8) -> f32 {
        self.values[usize::from(code)]
    }

    /// Returns whether all values fit in registers, so that they are looked up faster than
    /// computed.
    pub fn is_few(&self) -> bool {
        self.few
    }

    /// All values.
    pub fn values(&self) -> &[f32; 256] {
        &self.values
    }

    /// Writes the values of `codes`.
    ///
    /// # Panics
    ///
    /// When the lengths differ.
    pub fn decode(&self, codes: &[u8], out: &mut [f32]) {
        assert!(codes.len() == out.len(), "{} codes for {} values", codes.len(), out.len());
        match level() {
            // SAFETY: `level` found these instructions on this machine, and the lengths are equal.
            #[cfg(target_arch = "x86_64")]
            Level::Avx512 => unsafe { avx512::decode(self, codes, out) },
            // SAFETY: as above.
            #[cfg(target_arch = "x86_64")]
            Level::Avx2 => unsafe { avx2::decode(self, codes, out) },
            _ => out.iter_mut().zip(codes).for_each(|(out, &code)| *out = self.value(code)),
        }
    }
}

/// A part of a kernel row.
#[derive(Clone, Copy, Debug)]
pub enum RowSlice<'a> {
    /// Kernel values.
    Values(&'a [f32]),
    /// Codes, and the table of their values.
    Codes(&'a [u8], &'a CodeTable),
}

impl<'a> RowSlice<'a> {
    /// Number of entries.
    #[inline]
    pub fn len(&self) -> usize {
        match self {
            Self::Values(values) => values.len(),
            Self::Codes(codes, _) => codes.len(),
        }
    }

    /// Returns whether there are no entries.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The kernel value at `k`.
    ///
    /// # Panics
    ///
    /// When there is no entry `k`.
    #[inline]
    pub fn at(&self, k: usize) -> f32 {
        match self {
            Self::Values(values) => values[k],
            Self::Codes(codes, table) => table.value(codes[k]),
        }
    }

    /// Computes `f_k += factor · row_k`.
    ///
    /// # Panics
    ///
    /// When the lengths differ.
    pub fn add_to(&self, f: &mut [f64], factor: f64) {
        match self {
            Self::Values(values) => sums::add_scaled(f, factor, values),
            Self::Codes(codes, table) => {
                assert_eq!(f.len(), codes.len(), "one length");
                let mut values = [0.0; DECODED];
                for (f, codes) in f.chunks_mut(DECODED).zip(codes.chunks(DECODED)) {
                    let values = &mut values[..codes.len()];
                    table.decode(codes, values);
                    sums::add_scaled(f, factor, values);
                }
            }
        }
    }

    /// Computes `Σ_k f_k row_k`, with the same bits in both forms.
    ///
    /// # Panics
    ///
    /// When the lengths differ.
    pub fn dot(&self, f: &[f64]) -> f64 {
        match self {
            Self::Values(values) => sums::dot(f, values),
            Self::Codes(codes, table) => {
                assert_eq!(f.len(), codes.len(), "one length");
                let (mut values, mut sums) = ([0.0; DECODED], sums::Products::default());
                for (f, codes) in f.chunks(DECODED).zip(codes.chunks(DECODED)) {
                    let values = &mut values[..codes.len()];
                    table.decode(codes, values);
                    sums.add(f, values);
                }
                sums.total()
            }
        }
    }

    /// All values.
    pub fn to_vec(&self) -> Vec<f32> {
        match self {
            Self::Values(values) => values.to_vec(),
            Self::Codes(codes, table) => {
                let mut values = vec![0.0; codes.len()];
                table.decode(codes, &mut values);
                values
            }
        }
    }

    /// The entries of `range`.
    ///
    /// # Panics
    ///
    /// When the range exceeds the row.
    #[inline]
    #[must_use]
    pub fn part(&self, range: std::ops::Range<usize>) -> RowSlice<'a> {
        match self {
            Self::Values(values) => RowSlice::Values(&values[range]),
            Self::Codes(codes, table) => RowSlice::Codes(&codes[range], table),
        }
    }

    /// The form of the row in memory.
    #[cfg(target_arch = "x86_64")]
    pub(crate) fn form(&self) -> Form {
        match self {
            Self::Values(_) => Form::Values,
            Self::Codes(_, table) if table.few => Form::Few,
            Self::Codes(..) => Form::Many,
        }
    }
}

impl<'a> From<&'a [f32]> for RowSlice<'a> {
    fn from(values: &'a [f32]) -> Self {
        Self::Values(values)
    }
}

/// The form of a row in memory, for code that is compiled for each form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// `f32`.
    Values = 0,
    /// Codes whose table fits in registers.
    Few = 1,
    /// Codes whose table is in memory.
    Many = 2,
}

/// [`Form`] as a constant of types.
pub(crate) const VALUES: u8 = Form::Values as u8;
pub(crate) const FEW_CODES: u8 = Form::Few as u8;
pub(crate) const MANY_CODES: u8 = Form::Many as u8;
