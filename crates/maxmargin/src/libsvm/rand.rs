//! The numbers of the C library's `rand()` on Linux: LIBSVM shuffles by them and never seeds them.

use std::collections::VecDeque;

/// Terms of the recurrence `s_i = s_{i−3} + s_{i−31}` (mod 2³²).
const LONG: usize = 31;
const SHORT: usize = 3;
/// Numbers that are drawn and thrown away before the first.
const DISCARDED: usize = 310;

/// glibc's additive feedback generator as a program has it that never calls `srand`: its state
/// grows from seed 1 by Park and Miller's generator.
#[derive(Clone, Debug)]
pub struct Rand {
    /// The last 31 terms, oldest first.
    terms: VecDeque<u32>,
}

impl Default for Rand {
    fn default() -> Self {
        let grown = |seed: &u64| Some(seed * 16_807 % 2_147_483_647);
        let mut terms: VecDeque<u32> = std::iter::successors(Some(1_u64), grown).take(LONG).map(|term| term as u32).collect();
        // Terms 31, 32 and 33 repeat 0, 1 and 2.
        terms.rotate_left(SHORT);
        let mut rand = Self { terms };
        (0..DISCARDED).for_each(|_| {
            rand.draw();
        });
        rand
    }
}

impl Rand {
    /// All numbers from here on.
    pub fn draws(mut self) -> impl FnMut() -> usize {
        move || self.draw()
    }

    /// The next number, of 31 bits.
    pub fn draw(&mut self) -> usize {
        let next = self.terms[0].wrapping_add(self.terms[LONG - SHORT]);
        self.terms.pop_front();
        self.terms.push_back(next);
        (next >> 1) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_an_unseeded_program() {
        let mut rand = Rand::default();
        // What `rand()` returns on Linux when nobody seeded it.
        assert_eq!([rand.draw(), rand.draw(), rand.draw()], [1_804_289_383, 846_930_886, 1_681_692_777]);
        let tenth = (4..=10).map(|_| rand.draw()).last();
        assert_eq!(tenth, Some(1_189_641_421));
    }
}
