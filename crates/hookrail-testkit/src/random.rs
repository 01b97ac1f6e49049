//! Pseudo-random numbers that are the same in every run.

/// A small generator (xorshift). It is for mixing test cases and for nothing else.
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// A generator with this seed.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        // From zero the generator would only produce zeros.
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    /// The next number.
    pub fn draw(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    /// A number below a limit, which is not zero.
    pub fn below(&mut self, limit: u64) -> u64 {
        self.draw() % limit.max(1)
    }

    /// One of these, by their weights.
    pub fn choose<'c, T>(&mut self, weighted: &'c [(u64, T)]) -> Option<&'c T> {
        let mut left = self.below(weighted.iter().map(|(weight, _)| weight).sum());
        weighted.iter().find_map(|(weight, one)| match left.checked_sub(*weight) {
            Some(rest) => {
                left = rest;
                None
            }
            None => Some(one),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::Random;

    #[test]
    fn weights_are_kept_and_a_seed_repeats_itself() {
        let choices = [(9, 'a'), (1, 'b'), (0, 'c')];
        let draw = |seed| {
            let mut random = Random::new(seed);
            (0..1000).filter_map(|_| random.choose(&choices).copied()).collect::<String>()
        };
        let drawn = draw(7);
        let count = |letter| drawn.matches(letter).count();
        assert_eq!((drawn.len(), count('c')), (1000, 0));
        assert!(count('a') > 800 && count('b') > 40, "{drawn}");
        assert_eq!(drawn, draw(7));
        assert_ne!(drawn, draw(8));
    }
}
