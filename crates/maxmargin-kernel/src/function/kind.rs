//! The table of built-in kernels: names, LIBSVM's names and numbers, parameters, help.

use super::kernel::Kernel;

/// One row of the table of built-in kernels.
///
/// ```
/// use maxmargin_kernel::{Kernel, KernelKind};
///
/// let kind = KernelKind::with_libsvm_name("polynomial").expect("a kernel of LIBSVM");
/// assert_eq!((kind.name, kind.libsvm_number), ("poly", Some(1)));
/// assert_eq!(kind.kernel(0.5, 1.0, 3), Kernel::poly(0.5, 1.0, 3));
/// ```
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct KernelKind {
    /// The name on the command line, in Python and in reports.
    pub name: &'static str,
    /// The name in LIBSVM's model files, if LIBSVM has the kernel.
    pub libsvm_name: Option<&'static str>,
    /// The number of LIBSVM's option `-t`, if it has the kernel.
    pub libsvm_number: Option<i32>,
    /// The names of the kernel's parameters: `gamma`, `coef0`, `degree`.
    pub parameters: &'static [&'static str],
    /// One line of help: the formula.
    pub help: &'static str,
    build: fn(f64, f64, u32) -> Kernel,
}

impl KernelKind {
    /// All built-in kernels, in the order of LIBSVM's numbers.
    pub const ALL: [Self; 5] = [
        Self {
            name: "linear",
            libsvm_name: Some("linear"),
            libsvm_number: Some(0),
            parameters: &[],
            help: "xᵀz",
            build: |_, _, _| Kernel::Linear,
        },
        Self {
            name: "poly",
            libsvm_name: Some("polynomial"),
            libsvm_number: Some(1),
            parameters: &["gamma", "coef0", "degree"],
            help: "(gamma xᵀz + coef0)^degree",
            build: Kernel::poly,
        },
        Self {
            name: "rbf",
            libsvm_name: Some("rbf"),
            libsvm_number: Some(2),
            parameters: &["gamma"],
            help: "exp(-gamma ‖x - z‖²)",
            build: |gamma, _, _| Kernel::rbf(gamma),
        },
        Self {
            name: "sigmoid",
            libsvm_name: Some("sigmoid"),
            libsvm_number: Some(3),
            parameters: &["gamma", "coef0"],
            help: "tanh(gamma xᵀz + coef0)",
            build: |gamma, coef0, _| Kernel::sigmoid(gamma, coef0),
        },
        Self {
            name: "precomputed",
            libsvm_name: Some("precomputed"),
            libsvm_number: Some(4),
            parameters: &[],
            help: "the data hold kernel values: 0:serial 1:K(x,x1) 2:K(x,x2) ...",
            build: |_, _, _| Kernel::Precomputed,
        },
    ];

    /// The kernel with this [`KernelKind::name`].
    pub fn named(name: &str) -> Option<&'static Self> {
        ALL.iter().find(|kind| kind.name == name)
    }

    /// The kernel with this [`KernelKind::libsvm_name`].
    pub fn with_libsvm_name(name: &str) -> Option<&'static Self> {
        ALL.iter().find(|kind| kind.libsvm_name == Some(name))
    }

    /// The kernel with this [`KernelKind::libsvm_number`].
    pub fn with_libsvm_number(number: i32) -> Option<&'static Self> {
        ALL.iter().find(|kind| kind.libsvm_number == Some(number))
    }

    /// Returns whether the kernel has the parameter `name`.
    pub fn has(&self, name: &str) -> bool {
        self.parameters.contains(&name)
    }

    /// The kernel with these parameters; those that it does not have are ignored.
    pub fn kernel(&self, gamma: f64, coef0: f64, degree: u32) -> Kernel {
        (self.build)(gamma, coef0, degree)
    }
}

/// The table at one address, for references to its rows.
static ALL: [KernelKind; 5] = KernelKind::ALL;

impl Kernel {
    /// The row of [`KernelKind::ALL`] for this kernel; none for a user kernel.
    pub fn kind(&self) -> Option<&'static KernelKind> {
        let name = match self {
            Kernel::Linear => "linear",
            Kernel::Poly { .. } => "poly",
            Kernel::Rbf { .. } => "rbf",
            Kernel::Sigmoid { .. } => "sigmoid",
            Kernel::Precomputed => "precomputed",
            Kernel::User(_) => return None,
        };
        KernelKind::named(name)
    }

    /// The name of the kernel's kind: `user` for every user kernel.
    pub fn name(&self) -> &'static str {
        self.kind().map_or("user", |kind| kind.name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kernel_is_the_one_of_its_row() {
        for (number, kind) in KernelKind::ALL.iter().enumerate() {
            let kernel = kind.kernel(0.5, 1.0, 3);
            assert_eq!((kernel.name(), kind.libsvm_number.unwrap_or(number as i32)), (kind.name, number as i32));
            let parameters: Vec<&str> = kernel.parameters().map(|parameter| parameter.0).collect();
            assert_eq!(parameters, kind.parameters);
            let by_name = kind.libsvm_name.map(KernelKind::with_libsvm_name);
            let by_number = kind.libsvm_number.map(KernelKind::with_libsvm_number);
            for same in [Some(KernelKind::named(kind.name)), by_name, by_number].into_iter().flatten() {
                assert_eq!(same.map(|same| same.name), Some(kind.name));
            }
            assert!(kind.parameters.iter().all(|name| kind.has(name)));
        }
        assert!(Kernel::user("one", |_, _| 1.0).kind().is_none());
    }
}
