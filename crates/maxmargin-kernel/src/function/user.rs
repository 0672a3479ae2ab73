//! User kernels: functions of two rows, and the registry of the names under which they are stored.

use super::error::KernelError;
use maxmargin_data::Row;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, PoisonError, RwLock};

type Function = dyn Fn(Row<'_>, Row<'_>) -> f64 + Send + Sync;

/// A kernel function `k(x, z)` of two rows that the caller implements, with a name.
///
/// It should be symmetric. The solvers' guarantees need a positive semidefinite function. Its
/// values must not depend on the form of the rows: [`Row::dot`] and [`Row::for_each_pair`] take
/// rows of any form. Training matrices are symmetric in any case, because the function is called
/// once for each pair, with the earlier row first.
///
/// Models store the name alone, and two kernels with the same name are equal. A program
/// [registers](UserKernel::register) the kernel before it reads such a model. Parameters belong in
/// the name (`cauchy 0.5`), since only the name distinguishes two kernels.
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
/// let kernel = Kernel::User(laplacian); // usable like every other kernel
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

    /// The name under which models store the kernel.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// `k(x, z)`
    pub fn value(&self, x: Row<'_>, z: Row<'_>) -> f64 {
        (self.function)(x, z)
    }

    /// Registers the kernel, so that this process can read models that store its name. Returns the
    /// kernel that was registered under the name before.
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
