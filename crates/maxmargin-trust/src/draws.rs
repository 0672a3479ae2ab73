//! Random draws from a seed: the same on every machine.

/// A stream of random numbers (`SplitMix64`, Steele, Lea and Flood 2014).
#[derive(Clone, Debug)]
pub struct Draws(u64);

impl Draws {
    /// Returns the stream of input `number` of a run.
    pub fn new(seed: u64, number: u64) -> Self {
        let mut draws = Self(seed);
        let start = draws.word().wrapping_add(number.wrapping_mul(0x9E37_79B9_7F4A_7C15));
        Self(start)
    }

    /// Returns the next 64 bits.
    pub fn word(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        bits ^ (bits >> 31)
    }

    /// Returns a number below `n`; 0 if `n` is 0.
    pub fn below(&mut self, n: usize) -> usize {
        ((u128::from(self.word()) * n as u128) >> 64) as usize
    }

    /// Returns true once in `n` times.
    pub fn once_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }

    /// Returns one of `choices`.
    ///
    /// # Panics
    ///
    /// When there is none.
    pub fn pick<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len())]
    }

    /// Returns a number of fewer than `bits` bits, with equal probability for each length.
    pub fn wide(&mut self, bits: usize) -> usize {
        let most = 1 << self.below(bits);
        self.below(most)
    }

    /// Returns a number from −1 to 1.
    pub fn unit(&mut self) -> f64 {
        (self.word() >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn draws_stay_in_their_ranges_and_repeat() {
        let all = |seed| {
            let mut draws = Draws::new(seed, 3);
            (0..1000).map(|_| draws.below(7)).collect::<Vec<_>>()
        };
        assert_eq!(all(1), all(1));
        assert_ne!(all(1), all(2));
        assert!((0..7).all(|n| all(1).contains(&n)));
        let mut draws = Draws::new(1, 1);
        assert!((0..1000).all(|_| (-1.0..=1.0).contains(&draws.unit())));
    }
}
