//! Fallbacks for wrong kernel values: fewer vector instructions first, then no codes and panels.

use crate::function::{Fault, KernelError};
use maxmargin_simd::level::{Level, level, levels, restrict};
use std::fmt;
use std::sync::{Mutex, PoisonError};

/// The instructions and the data layout that compute kernel values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Backend {
    /// The highest level of vector instructions.
    pub level: Level,
    /// Uses lists of the samples' own values, even where codes or panels would be faster.
    pub plain: bool,
}

/// A backend that computed wrong kernel values, and the backend that replaces it.
#[derive(Clone, Debug, PartialEq)]
pub struct Fallback {
    /// The first wrong value.
    pub fault: Fault,
    /// The backend that computed it.
    pub from: Backend,
    /// The backend that is used instead.
    pub to: Backend,
}

impl fmt::Display for Backend {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.level.name(), if self.plain { " and plain lists" } else { "" })
    }
}

impl fmt::Display for Fallback {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { fault, from, to } = self;
        write!(f, "{fault} with {from} on this machine: {to} instead, where values are right but slower; ")?;
        write!(f, "`maxmargin doctor` tries everything that this processor does")
    }
}

static FALLBACKS: Mutex<Vec<Fallback>> = Mutex::new(Vec::new());

/// The fallbacks of this process, each pair of backends once; none on a sound machine.
pub fn fallbacks() -> Vec<Fallback> {
    FALLBACKS.lock().unwrap_or_else(PoisonError::into_inner).clone()
}

/// The backends from the fastest to the slowest.
fn backends(best: Level, plain: bool) -> impl Iterator<Item = Backend> {
    let down: Vec<Level> = levels().filter(|level| *level <= best).collect();
    let last = [best, Level::Portable];
    let few = last.into_iter().filter(move |_| plain).map(|level| Backend { level, plain: true });
    down.into_iter().rev().map(|level| Backend { level, plain: false }).chain(few)
}

/// Returns the result of `make` with the first backend for which `fault` finds no wrong value. With
/// `plain`, backends without codes and panels are tried last.
///
/// The process then uses the vector instructions of this backend.
///
/// # Errors
///
/// The errors of `make`, and [`KernelError::Wrong`] where all backends are wrong.
pub(crate) fn first_right<T>(
    plain: bool,
    make: impl FnMut(Backend) -> Result<T, KernelError>,
    fault: impl Fn(&T) -> Option<Fault>,
) -> Result<T, KernelError> {
    let best = level();
    let (made, fallback) = descend(backends(best, plain), make, fault, |to| {
        restrict(to);
    })
    .inspect_err(|_| {
        restrict(best);
    })?;
    if let Some(fallback) = fallback {
        let mut known = FALLBACKS.lock().unwrap_or_else(PoisonError::into_inner);
        if known.iter().all(|one| (one.from, one.to) != (fallback.from, fallback.to)) {
            known.push(fallback);
        }
    }
    Ok(made)
}

/// Tries backends in order. Calls `go_to` before each one after the first.
fn descend<T>(
    backends: impl Iterator<Item = Backend>,
    mut make: impl FnMut(Backend) -> Result<T, KernelError>,
    fault: impl Fn(&T) -> Option<Fault>,
    mut go_to: impl FnMut(Level),
) -> Result<(T, Option<Fallback>), KernelError> {
    let mut first: Option<(Fault, Backend)> = None;
    for backend in backends {
        if first.is_some() {
            go_to(backend.level);
        }
        let made = make(backend)?;
        match fault(&made) {
            None => return Ok((made, first.map(|(fault, from)| Fallback { fault, from, to: backend }))),
            Some(found) => first = first.or(Some((found, backend))),
        }
    }
    Err(first.map_or_else(
        || KernelError::Samples("there is no way to compute kernel values".to_owned()),
        |(fault, _)| KernelError::Wrong(fault),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fault(found: f64) -> Fault {
        Fault { form: "in a code", place: (2, 6), found, expected: 0.25 }
    }

    /// The fallback that is found when these backends are wrong, and the levels that were set.
    fn found(plain: bool, wrong: impl Fn(Backend) -> bool) -> (Result<Option<Fallback>, KernelError>, Vec<Level>) {
        let mut gone = Vec::new();
        let fault = |backend: &Backend| wrong(*backend).then(|| fault(0.5));
        let made = descend(backends(Level::Avx512, plain), Ok, fault, |to| gone.push(to));
        (made.map(|(_, fallback)| fallback), gone)
    }

    #[test]
    fn the_first_correct_backend_is_used() {
        let levels: Vec<Level> = levels().collect();
        let (none, gone) = found(true, |_| false);
        assert_eq!((none, gone), (Ok(None), vec![]));
        let best = levels[levels.len() - 1];
        let (only_portable, gone) = found(true, |backend| backend.level != Level::Portable);
        if best == Level::Portable {
            assert_eq!((only_portable, gone), (Ok(None), vec![]));
        } else {
            let fallback = only_portable.expect("one backend is right").expect("not the first");
            assert_eq!(
                (fallback.from, fallback.to),
                (Backend { level: best, plain: false }, Backend { level: Level::Portable, plain: false })
            );
            assert_eq!(gone, levels.iter().rev().skip(1).copied().collect::<Vec<_>>());
            let words = fallback.to_string();
            assert!(words.contains("a kernel value in a code is 5e-1, where plain arithmetic has 2.5e-1"), "{words}");
            assert!(words.contains(&format!("with {} on this machine: portable instead", best.name())), "{words}");
        }
        let (plain, _) = found(true, |backend| !backend.plain);
        assert_eq!(
            plain.expect("one backend is right").expect("not the first").to,
            Backend { level: Level::Avx512, plain: true }
        );
    }

    #[test]
    fn no_wrong_backend_is_used() {
        assert_eq!(found(true, |_| true).0, Err(KernelError::Wrong(fault(0.5))));
        assert_eq!(found(false, |backend| !backend.plain).0, Err(KernelError::Wrong(fault(0.5))));
        let halted =
            descend(backends(Level::Avx512, true), |_| Err::<(), _>(KernelError::Coef0(f64::INFINITY)), |()| None, |_| {});
        assert_eq!(halted.map(|found| found.1), Err(KernelError::Coef0(f64::INFINITY)));
    }
}
