//! The folds of `svm-train -v`, so that a comparison with LIBSVM is on the very same trainings.
//!
//! LIBSVM shuffles each class with the C library's `rand()`, never seeded, and cuts each class into
//! k runs. With glibc the numbers are an additive feedback generator whose state grows from seed 1.

use crate::workspace::failure::{Context, Outcome};

/// glibc's `rand()` as a program that never calls `srand` sees it.
struct Rand {
    state: Vec<u32>,
    at: usize,
}

/// Terms of the recurrence `s_i = s_{i−3} + s_{i−31}` (mod 2³²).
const LONG: usize = 31;
const SHORT: usize = 3;
/// Numbers that glibc draws and throws away before the first.
const DISCARDED: usize = 310;

impl Rand {
    fn unseeded() -> Self {
        // Park and Miller's generator fills the state.
        let mut state = vec![1_u32];
        for i in 1..LONG {
            state.push((u64::from(state[i - 1]) * 16_807 % 2_147_483_647) as u32);
        }
        let mut rand = Self { state, at: SHORT };
        for _ in 0..DISCARDED {
            rand.step();
        }
        rand
    }

    fn step(&mut self) -> u32 {
        let tap = (self.at + LONG - SHORT) % LONG;
        let sum = self.state[self.at].wrapping_add(self.state[tap]);
        self.state[self.at] = sum;
        self.at = (self.at + 1) % LONG;
        sum
    }

    fn next(&mut self) -> usize {
        (self.step() >> 1) as usize
    }
}

/// The fold in which `svm-train -v k` tests each sample of a classification.
fn libsvm(labels: &[f64], k: usize) -> Vec<usize> {
    let mut classes: Vec<f64> = Vec::new();
    for label in labels {
        if !classes.contains(label) {
            classes.push(*label);
        }
    }
    // With labels −1 and +1 LIBSVM takes +1 for the first class.
    if classes == [-1.0, 1.0] {
        classes.reverse();
    }
    cut(classes.iter().map(|class| (0..labels.len()).filter(|&i| labels[i] == *class).collect()), labels.len(), k)
}

/// Each of `parts` of so many samples, shuffled and cut into `k` folds.
fn cut(parts: impl Iterator<Item = Vec<usize>>, samples: usize, k: usize) -> Vec<usize> {
    let mut rand = Rand::unseeded();
    let mut fold_of = vec![0; samples];
    for mut members in parts {
        let n = members.len();
        for i in 0..n {
            members.swap(i, i + rand.next() % (n - i));
        }
        for fold in 0..k {
            members[fold * n / k..(fold + 1) * n / k].iter().for_each(|&i| fold_of[i] = fold);
        }
    }
    fold_of
}

/// The folds of data in LIBSVM format, one number a line; those of values are cut from all samples
/// together, without regard to `classes`.
pub(crate) fn lines(data: &str, k: usize, classes: bool) -> Outcome<String> {
    let label = |(n, line): (usize, &str)| {
        let word = line.split_whitespace().next().unwrap_or_default();
        word.parse::<f64>().context(format_args!("line {}: label `{word}`", n + 1))
    };
    let labels: Vec<f64> = data.lines().enumerate().map(label).collect::<Outcome<_>>()?;
    let all = || std::iter::once((0..labels.len()).collect());
    let folds = if classes { libsvm(&labels, k) } else { cut(all(), labels.len(), k) };
    let folds: Vec<String> = folds.iter().map(ToString::to_string).collect();
    Ok(folds.join("\n") + "\n")
}

#[cfg(test)]
mod tests {
    use super::{Rand, libsvm};

    #[test]
    fn numbers_of_an_unseeded_program() {
        let mut rand = Rand::unseeded();
        // What `rand()` returns on Linux when nobody seeded it.
        assert_eq!([rand.next(), rand.next(), rand.next()], [1_804_289_383, 846_930_886, 1_681_692_777]);
    }

    #[test]
    fn folds_are_even_in_every_class() {
        let labels: Vec<f64> = (0..103).map(|i| if i % 4 == 0 { 1.0 } else { -1.0 }).collect();
        let folds = libsvm(&labels, 5);
        for class in [1.0, -1.0] {
            let count = |fold| (0..103).filter(|&i| folds[i] == fold && labels[i] == class).count();
            let counts: Vec<usize> = (0..5).map(count).collect();
            assert!(counts.iter().max().expect("folds") - counts.iter().min().expect("folds") <= 1, "{counts:?}");
        }
    }
}
