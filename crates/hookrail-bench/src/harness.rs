//! Measures the variants of a case in turn, round by round, so that a change of the machine's speed affects all of them.

use std::time::{Duration, Instant};

use crate::BenchResult;
use crate::results::{CaseResult, MeasuredValue, VariantResult};

/// The number of rounds that are measured even if the time of the case is over.
const FEWEST_ROUNDS: usize = 7;

/// One way of doing a case's work.
pub(crate) struct Variant {
    name: String,
    /// A description of the work, for the table.
    what: String,
    /// Does the work, and returns how many nanoseconds one piece of it took.
    measure: Box<dyn FnMut() -> BenchResult<f64>>,
}

impl Variant {
    /// A variant that measures its own time.
    pub(crate) fn new(name: &str, what: &str, measure: impl FnMut() -> BenchResult<f64> + 'static) -> Self {
        Self { name: name.to_owned(), what: what.to_owned(), measure: Box::new(measure) }
    }

    /// A variant whose work is done several times in a row and timed from outside.
    pub(crate) fn timed(
        name: &str,
        what: &str,
        times: u32,
        mut work: impl FnMut() -> BenchResult<()> + 'static,
    ) -> Self {
        Self::new(name, what, move || {
            let began = Instant::now();
            for _ in 0..times {
                work()?;
            }
            Ok(nanoseconds_each(began.elapsed(), times))
        })
    }

    /// A variant that prepares something before each piece of work, outside the time.
    pub(crate) fn prepared<T>(
        name: &str,
        what: &str,
        times: u32,
        mut prepare: impl FnMut() -> T + 'static,
        mut work: impl FnMut(T) -> BenchResult<()> + 'static,
    ) -> Self {
        Self::new(name, what, move || {
            let mut took = Duration::ZERO;
            for _ in 0..times {
                let prepared = prepare();
                let began = Instant::now();
                work(prepared)?;
                took += began.elapsed();
            }
            Ok(nanoseconds_each(took, times))
        })
    }
}

/// The nanoseconds of one piece of work if this many took a time together.
pub(crate) fn nanoseconds_each(took: Duration, times: u32) -> f64 {
    took.as_secs_f64() * 1e9 / f64::from(times.max(1))
}

/// Rounds a time so that the raw data stays small: to a nanosecond, or to a thousandth of one below 1 µs.
fn rounded(nanoseconds: f64) -> f64 {
    let factor = if nanoseconds < 1e3 { 1e3 } else { 1.0 };
    (nanoseconds * factor).round() / factor
}

/// A case that is ready to be measured.
#[derive(Default)]
pub(crate) struct PreparedCase {
    variants: Vec<Variant>,
    values: Vec<MeasuredValue>,
    absent: Vec<String>,
}

impl PreparedCase {
    pub(crate) fn add(&mut self, variant: Variant) {
        self.variants.push(variant);
    }

    /// Adds a value that is not a time.
    pub(crate) fn value(&mut self, name: &str, unit: &str, value: f64) {
        self.values.push(MeasuredValue { name: name.to_owned(), unit: unit.to_owned(), value });
    }

    /// Records why something is not measured.
    pub(crate) fn absent(&mut self, why: impl Into<String>) {
        self.absent.push(why.into());
    }
}

/// The highest number of rounds of a case, and the time after which no round is started. [`FEWEST_ROUNDS`] is kept even if
/// the time is over.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CaseLimits {
    pub(crate) rounds: usize,
    pub(crate) time: Duration,
}

/// Measures one case: one round to warm up, then rounds in a rotating order. If a variant fails in a later round, the
/// measurement ends after that round.
pub(crate) fn measure(name: &str, title: &str, mut prepared: PreparedCase, limits: CaseLimits) -> CaseResult {
    let mut measured: Vec<VariantResult> = Vec::new();
    let mut failed = Vec::new();
    // The round to warm up, which also removes the variants that cannot run here.
    prepared.variants.retain_mut(|variant| match (variant.measure)() {
        Ok(_) => {
            let (name, what) = (variant.name.clone(), variant.what.clone());
            measured.push(VariantResult { name, what, nanoseconds: Vec::new() });
            true
        }
        Err(error) => {
            failed.push(format!("{}: {error}", variant.name));
            false
        }
    });
    let began = Instant::now();
    let count = prepared.variants.len();
    let mut round = 0;
    let mut can_continue = count > 0;
    while can_continue && round < limits.rounds && (round < FEWEST_ROUNDS || began.elapsed() < limits.time) {
        let mut times = vec![f64::NAN; count];
        for turn in 0..count {
            // Each round starts with another variant, so that none always runs first.
            let index = (turn + round) % count;
            let Some(variant) = prepared.variants.get_mut(index) else { continue };
            match (variant.measure)() {
                Ok(time) => times.iter_mut().skip(index).take(1).for_each(|slot| *slot = time),
                Err(error) => {
                    failed.push(format!("{}, in round {round}: {error}", variant.name));
                    can_continue = false;
                }
            }
        }
        // A round is kept whole or not at all, so that every ratio compares the same moment.
        if times.iter().all(|time| time.is_finite()) {
            measured.iter_mut().zip(times).for_each(|(variant, time)| variant.nanoseconds.push(rounded(time)));
        }
        round += 1;
    }
    let absent = prepared.absent.into_iter().chain(failed).collect();
    CaseResult { name: name.to_owned(), title: title.to_owned(), variants: measured, values: prepared.values, absent }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;
    use std::rc::Rc;

    use super::*;

    const LIMITS: CaseLimits = CaseLimits { rounds: 7, time: Duration::from_secs(60) };

    #[test]
    fn the_order_rotates_and_every_variant_has_every_round() {
        let mut case = PreparedCase::default();
        let order = Rc::new(RefCell::new(String::new()));
        for name in ["a", "b", "c"] {
            let order = Rc::clone(&order);
            case.add(Variant::new(name, "", move || {
                order.borrow_mut().push_str(name);
                Ok(1.0)
            }));
        }
        let result = measure("case", "", case, LIMITS);
        assert_eq!(*order.borrow(), format!("abc{}abc", "abcbcacab".repeat(2)), "one round to warm up, then seven");
        assert!(result.variants.iter().all(|variant| variant.nanoseconds.len() == 7));
    }

    #[test]
    fn a_variant_that_fails_is_left_out_and_named() {
        let mut case = PreparedCase::default();
        case.add(Variant::new("good", "", || Ok(2.0)));
        case.add(Variant::new("bad", "", || Err("no child".into())));
        let result = measure("case", "", case, LIMITS);
        assert_eq!(result.absent, ["bad: no child"]);
        let left: Vec<_> = result.variants.iter().map(|left| (left.name.as_str(), left.nanoseconds.len())).collect();
        assert_eq!(left, [("good", 7)]);
    }

    #[test]
    fn a_round_in_which_a_variant_fails_does_not_count() {
        let mut case = PreparedCase::default();
        let mut calls = 0;
        case.add(Variant::new("good", "", || Ok(2.0)));
        case.add(Variant::new("late", "", move || {
            calls += 1;
            if calls < 4 { Ok(4.0) } else { Err("gone".into()) }
        }));
        let result = measure("case", "", case, LIMITS);
        assert!(result.variants.iter().all(|variant| variant.nanoseconds.len() == 2), "{result:?}");
        assert_eq!(result.absent, ["late, in round 2: gone"]);
        assert_eq!(result.ratio("late", "good").map(|ratio| ratio.median), Some(2.0));
    }
}
