//! The numbers of the C library's `rand()` on Linux. LIBSVM shuffles with them and does not set a
//! seed.

use std::collections::VecDeque;

/// Terms of the recurrence `s_i = s_{i−3} + s_{i−31}` (mod 2³²).
const LONG: usize = 31;
const SHORT: usize = 3;
/// The number of terms that are discarded before the first number.
const DISCARDED: usize = 310;

/// glibc's additive feedback generator in a program that does not call `srand`. Its state comes
/// from seed 1 by Park and Miller's generator.
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
    /// Returns a function that draws the next numbers.
    pub fn draws(mut self) -> impl FnMut() -> usize {
        move || self.draw()
    }

    /// Draws the next number, of 31 bits.
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
        // The first results of `rand()` on Linux without a seed.
        assert_eq!([rand.draw(), rand.draw(), rand.draw()], [1_804_289_383, 846_930_886, 1_681_692_777]);
        let tenth = (4..=10).map(|_| rand.draw()).last();
        assert_eq!(tenth, Some(1_189_641_421));
    }
}
