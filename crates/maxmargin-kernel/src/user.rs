//! Kernels that the caller brings as functions of two rows, and the names they are stored under.

use crate::KernelError;
use maxmargin_data::{Asking, Halted, Row, Samples};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::collections::BTreeMap;
use std::fmt;
use std::ops::Range;
use std::sync::{Arc, PoisonError, RwLock};

type Function = dyn Fn(Row<'_>, Row<'_>) -> f64 + Send + Sync;

/// A kernel function of one's own, `k(x, z)` of two rows, with a name.
///
/// It should be symmetric, positive semidefinite for the solvers' guarantees to hold, and its
/// values must not depend on the form of the rows. [`Row::dot`] and [`Row::for_each_pair`] take
/// rows of any form. Training matrices are symmetric whatever it does: it is called once for a
/// pair, the earlier row first.
///
/// Models store the name alone, and two kernels of one name are equal: who reads such a model
/// [registers](UserKernel::register) the kernel before. Parameters belong in the name (`cauchy
/// 0.5`), since nothing else tells two kernels apart.
///
/// ```
/// use maxmargin_kernel::{Kernel, UserKernel};
///
/// let laplacian = UserKernel::new("laplacian 0.5", |x, z| {
///     let mut distance = 0.0;
///     x.for_each_pair(z, |_, x, z| distance += f64::abs(x - z));
///     f64::exp(-0.5 * distance)
/// });
/// laplacian.register();
/// assert_eq!(UserKernel::registered("laplacian 0.5")?, laplacian);
/// let kernel = Kernel::User(laplacian); // wherever a kernel is asked for
/// assert_eq!(kernel.name(), "user");
/// # Ok::<(), maxmargin_kernel::KernelError>(())
/// ```
#[derive(Clone)]
pub struct UserKernel {
    name: Arc<str>,
    function: Arc<Function>,
}

static REGISTRY: RwLock<BTreeMap<Arc<str>, UserKernel>> = RwLock::new(BTreeMap::new());

impl UserKernel {
    /// The kernel `function`, called `name`.
    pub fn new(name: impl Into<String>, function: impl Fn(Row<'_>, Row<'_>) -> f64 + Send + Sync + 'static) -> Self {
        Self { name: name.into().into(), function: Arc::new(function) }
    }

    /// The name that stands for the kernel where it is stored.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// `k(x, z)`
    pub fn value(&self, x: Row<'_>, z: Row<'_>) -> f64 {
        (self.function)(x, z)
    }

    /// Lets this process read what was stored with the kernel's name; returns the kernel that had
    /// the name before.
    pub fn register(&self) -> Option<Self> {
        REGISTRY.write().unwrap_or_else(PoisonError::into_inner).insert(Arc::clone(&self.name), self.clone())
    }

    /// The kernel registered as `name`.
    ///
    /// # Errors
    ///
    /// When there is none.
    pub fn registered(name: &str) -> Result<Self, KernelError> {
        let registry = REGISTRY.read().unwrap_or_else(PoisonError::into_inner);
        registry.get(name).cloned().ok_or_else(|| KernelError::Unregistered(name.to_owned()))
    }
}

impl fmt::Debug for UserKernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("UserKernel").field(&self.name).finish()
    }
}

impl PartialEq for UserKernel {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Serialize for UserKernel {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.name.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for UserKernel {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::registered(&String::deserialize(deserializer)?).map_err(serde::de::Error::custom)
    }
}

/// The engine: the function, one pair at a time.
#[derive(Debug)]
pub(crate) struct Pairs {
    samples: Samples,
    kernel: UserKernel,
    diagonal: Vec<f64>,
}

impl Pairs {
    pub(crate) fn new(samples: &Samples, kernel: &UserKernel, asking: &Asking) -> Result<Self, Halted> {
        let mut diagonal = Vec::with_capacity(samples.len());
        samples.each_row(asking, |_, row| diagonal.push(kernel.value(row, row)))?;
        Ok(Self { samples: samples.clone(), kernel: kernel.clone(), diagonal })
    }

    /// Bytes held.
    pub(crate) fn bytes(&self) -> usize {
        self.samples.bytes() + 8 * self.diagonal.len()
    }

    /// `K_ii`.
    pub(crate) fn diagonal(&self) -> &[f64] {
        &self.diagonal
    }

    fn at(&self, i: usize, j: usize) -> f64 {
        self.kernel.value(self.samples.row(i.min(j)), self.samples.row(i.max(j)))
    }

    /// `out[r] = K[rows[r], columns]` in `f32`.
    pub(crate) fn fill(&self, rows: &[usize], columns: &Range<usize>, out: &mut [&mut [f32]]) {
        for (out, &i) in out.iter_mut().zip(rows) {
            out.iter_mut().zip(columns.clone()).for_each(|(o, j)| *o = self.at(i, j) as f32);
        }
    }

    /// `out = K[rows, columns]` in `f64`, row-major.
    pub(crate) fn fill_exact(&self, rows: &[usize], columns: &Range<usize>, out: &mut [f64]) {
        for (out, &i) in out.chunks_exact_mut(columns.len().max(1)).zip(rows) {
            out.iter_mut().zip(columns.clone()).for_each(|(o, j)| *o = self.at(i, j));
        }
    }
}
