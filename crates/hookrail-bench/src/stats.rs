//! Medians, percentiles and ratios.

/// The median, and the range of the middle 80 percent.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spread {
    /// Half of all values are below it.
    pub median: f64,
    /// A tenth of all values is below it.
    pub p10: f64,
    /// A tenth of all values is above it.
    pub p90: f64,
}

/// Returns the spread of some values, or `None` if there are none.
#[must_use]
pub(crate) fn spread(values: impl IntoIterator<Item = f64>) -> Option<Spread> {
    let mut sorted: Vec<f64> = values.into_iter().filter(|value| value.is_finite()).collect();
    sorted.sort_by(f64::total_cmp);
    Some(Spread { median: percentile(&sorted, 0.5)?, p10: percentile(&sorted, 0.1)?, p90: percentile(&sorted, 0.9)? })
}

/// Returns a percentile of sorted values, interpolated between its two neighbours.
fn percentile(sorted: &[f64], share: f64) -> Option<f64> {
    let place = share * (sorted.len().checked_sub(1)? as f64);
    let (low, high) = (sorted.get(place.floor() as usize)?, sorted.get(place.ceil() as usize)?);
    Some(low + (high - low) * place.fract())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_middle_of_few_values_is_right() {
        assert_eq!(spread([3.0, 1.0, 2.0]).unwrap().median, 2.0);
        assert_eq!(spread([1.0, 2.0]).unwrap().median, 1.5);
        assert_eq!(spread([]), None);
    }

    #[test]
    fn tenths_are_between_neighbours() {
        let spread = spread((0..=10).map(f64::from)).unwrap();
        assert_eq!((spread.p10, spread.p90), (1.0, 9.0));
    }
}
