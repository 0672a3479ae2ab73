//! A kernel row as it lies in memory: values, or codes of one byte and the table of what they stand
//! for.

use crate::dispatch::level::{Level, level};
use crate::rows::sums;

#[cfg(target_arch = "x86_64")]
pub(crate) mod avx2;
#[cfg(target_arch = "x86_64")]
pub(crate) mod avx512;

/// Entries of a row that are decoded together, and elements per chunk of a scan.
pub(crate) const CHUNK: usize = 512;

/// Entries that are looked up in registers.
const FEW: usize = 32;

/// Codes that are turned into values at once, on the stack.
const DECODED: usize = 512;

/// What each code of one byte stands for.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    values: [f32; 256],
    /// Whether all codes from `FEW − 1` on stand for the same value.
    few: bool,
    /// The values by bytes, the lowest first: what shuffles of bytes look up.
    planes: [[u8; 256]; 4],
}

impl Table {
    /// The table of `value`, which maps codes to values.
    pub fn new(value: impl Fn(u8) -> f32) -> Self {
        let values = std::array::from_fn(|code| value(code as u8));
        let few = values[FEW..].iter().all(|v| v.to_bits() == values[FEW - 1].to_bits());
        let planes = std::array::from_fn(|byte| std::array::from_fn(|code| values[code].to_le_bytes()[byte]));
        Self { values, few, planes }
    }

    /// What `code` stands for.
    #[inline]
    pub fn value(&self, code: u8) -> f32 {
        self.values[usize::from(code)]
    }

    /// All values.
    pub fn values(&self) -> &[f32; 256] {
        &self.values
    }

    /// Writes what `codes` stand for.
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
pub enum Row<'a> {
    /// Kernel values.
    Values(&'a [f32]),
    /// Codes, and what they stand for.
    Codes(&'a [u8], &'a Table),
}

impl<'a> Row<'a> {
    /// Number of entries.
    #[inline]
    pub fn len(&self) -> usize {
        match self {
            Self::Values(values) => values.len(),
            Self::Codes(codes, _) => codes.len(),
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The kernel value at `k`.
    ///
    /// # Panics
    ///
    /// When the row ends before it.
    #[inline]
    pub fn at(&self, k: usize) -> f32 {
        match self {
            Self::Values(values) => values[k],
            Self::Codes(codes, table) => table.value(codes[k]),
        }
    }

    /// `f_k += factor · row_k`.
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

    /// `Σ_k f_k row_k`, with the same bits in either form.
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
    /// When the row ends before it does.
    #[inline]
    #[must_use]
    pub fn part(&self, range: std::ops::Range<usize>) -> Row<'a> {
        match self {
            Self::Values(values) => Row::Values(&values[range]),
            Self::Codes(codes, table) => Row::Codes(&codes[range], table),
        }
    }

    /// How it lies in memory.
    #[cfg(target_arch = "x86_64")]
    pub(crate) fn form(&self) -> Form {
        match self {
            Self::Values(_) => Form::Values,
            Self::Codes(_, table) if table.few => Form::Few,
            Self::Codes(..) => Form::Many,
        }
    }
}

impl<'a> From<&'a [f32]> for Row<'a> {
    fn from(values: &'a [f32]) -> Self {
        Self::Values(values)
    }
}

/// How a row lies in memory, for what is compiled for each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// `f32`.
    Values = 0,
    /// Codes that a table in registers holds.
    Few = 1,
    /// Codes whose table is in memory.
    Many = 2,
}

/// [`Form`] as a constant of types.
pub(crate) const VALUES: u8 = Form::Values as u8;
pub(crate) const FEW_CODES: u8 = Form::Few as u8;
pub(crate) const MANY_CODES: u8 = Form::Many as u8;
