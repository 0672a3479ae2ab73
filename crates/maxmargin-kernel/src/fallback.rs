//! What is done where kernel values turn out wrong: fewer vector instructions, then no codes and
//! panels.

use crate::KernelError;
use crate::probes::Fault;
use maxmargin_simd::level::{Level, level, levels, restrict};
use std::fmt;
use std::sync::{Mutex, PoisonError};

/// A way to compute kernel values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Way {
    /// The highest level of vector instructions.
    pub level: Level,
    /// From lists of the samples' own values, whatever else would be faster.
    pub plain: bool,
}

/// Kernel values that were wrong when they were first tried, and the way in which they are computed
/// instead.
#[derive(Clone, Debug, PartialEq)]
pub struct Fallback {
    /// What was wrong.
    pub fault: Fault,
    /// How that was computed.
    pub from: Way,
    /// How it is computed now.
    pub to: Way,
}

impl fmt::Display for Way {
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

/// The fallbacks of this process, each way once: none where the machine and the program are sound.
pub fn fallbacks() -> Vec<Fallback> {
    FALLBACKS.lock().unwrap_or_else(PoisonError::into_inner).clone()
}

/// The ways from the best one down.
fn ways(best: Level, plain: bool) -> impl Iterator<Item = Way> {
    let down: Vec<Level> = levels().filter(|level| *level <= best).collect();
    let last = [best, Level::Portable];
    let few = last.into_iter().filter(move |_| plain).map(|level| Way { level, plain: true });
    down.into_iter().rev().map(|level| Way { level, plain: false }).chain(few)
}

/// What `make` makes in the first way in which it is not wrong; with `plain`, without codes and
/// panels in the end.
///
/// The level of the process is that of this way afterwards.
///
/// # Errors
///
/// Those of `make`; [`KernelError::Wrong`] where all ways are.
pub(crate) fn first_right<T>(
    plain: bool,
    make: impl FnMut(Way) -> Result<T, KernelError>,
    fault: impl Fn(&T) -> Option<Fault>,
) -> Result<T, KernelError> {
    let best = level();
    let (made, fallback) = descend(ways(best, plain), make, fault, |to| {
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

fn descend<T>(
    ways: impl Iterator<Item = Way>,
    mut make: impl FnMut(Way) -> Result<T, KernelError>,
    fault: impl Fn(&T) -> Option<Fault>,
    mut go_to: impl FnMut(Level),
) -> Result<(T, Option<Fallback>), KernelError> {
    let mut first: Option<(Fault, Way)> = None;
    for way in ways {
        if first.is_some() {
            go_to(way.level);
        }
        let made = make(way)?;
        match fault(&made) {
            None => return Ok((made, first.map(|(fault, from)| Fallback { fault, from, to: way }))),
            Some(found) => first = first.or(Some((found, way))),
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

    /// What is found when these ways are wrong, and the levels gone to.
    fn found(plain: bool, wrong: impl Fn(Way) -> bool) -> (Result<Option<Fallback>, KernelError>, Vec<Level>) {
        let mut gone = Vec::new();
        let fault = |way: &Way| wrong(*way).then(|| fault(0.5));
        let made = descend(ways(Level::Avx512, plain), Ok, fault, |to| gone.push(to));
        (made.map(|(_, fallback)| fallback), gone)
    }

    #[test]
    fn the_first_way_that_is_right_is_taken() {
        let levels: Vec<Level> = levels().collect();
        let (none, gone) = found(true, |_| false);
        assert_eq!((none, gone), (Ok(None), vec![]));
        let best = levels[levels.len() - 1];
        let (only_portable, gone) = found(true, |way| way.level != Level::Portable);
        if best == Level::Portable {
            assert_eq!((only_portable, gone), (Ok(None), vec![]));
        } else {
            let fallback = only_portable.expect("one way is right").expect("not the first");
            assert_eq!(
                (fallback.from, fallback.to),
                (Way { level: best, plain: false }, Way { level: Level::Portable, plain: false })
            );
            assert_eq!(gone, levels.iter().rev().skip(1).copied().collect::<Vec<_>>());
            let words = fallback.to_string();
            assert!(words.contains("a kernel value in a code is 5e-1, where plain arithmetic has 2.5e-1"), "{words}");
            assert!(words.contains(&format!("with {} on this machine: portable instead", best.name())), "{words}");
        }
        let (plain, _) = found(true, |way| !way.plain);
        assert_eq!(plain.expect("one way is right").expect("not the first").to, Way { level: Level::Avx512, plain: true });
    }

    #[test]
    fn nothing_wrong_is_used() {
        assert_eq!(found(true, |_| true).0, Err(KernelError::Wrong(fault(0.5))));
        assert_eq!(found(false, |way| !way.plain).0, Err(KernelError::Wrong(fault(0.5))));
        let halted = descend(ways(Level::Avx512, true), |_| Err::<(), _>(KernelError::Coef0(f64::INFINITY)), |()| None, |_| {});
        assert_eq!(halted.map(|found| found.1), Err(KernelError::Coef0(f64::INFINITY)));
    }
}
