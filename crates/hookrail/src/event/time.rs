//! ISO 8601 time stamps with milliseconds, in UTC.
//!
//! The engine needs this one format only, and hosts should not have to link a calendar library for it.

use std::sync::OnceLock;
use std::time::{SystemTime, UNIX_EPOCH};

/// When an event happened. The text is formatted on first use, because no hook takes part in most events.
#[derive(Clone, Debug)]
pub(super) struct EventTime {
    at: SystemTime,
    text: OnceLock<String>,
}

impl EventTime {
    pub(super) fn now() -> Self {
        Self { at: SystemTime::now(), text: OnceLock::new() }
    }

    /// A time that the host gave as text. The text is never parsed, so `at` has no meaning.
    pub(super) fn from_text(text: String) -> Self {
        Self { at: UNIX_EPOCH, text: OnceLock::from(text) }
    }

    pub(super) fn text(&self) -> &str {
        self.text.get_or_init(|| timestamp(self.at))
    }
}

/// A time as events and records have it, such as `2025-02-18T16:30:00.000Z`.
#[must_use]
pub fn timestamp(at: SystemTime) -> String {
    let since = at.duration_since(UNIX_EPOCH).unwrap_or_default();
    let (seconds, millis) = (since.as_secs(), since.subsec_millis());
    let (year, month, day) = civil_from_days(seconds / 86_400);
    let (hour, minute, second) = (seconds / 3_600 % 24, seconds / 60 % 60, seconds % 60);
    let mut text = String::with_capacity("2025-02-18T16:30:00.000Z".len());
    let numbers = [(year, 4), (month, 2), (day, 2), (hour, 2), (minute, 2), (second, 2), (u64::from(millis), 3)];
    for ((number, digits), after) in numbers.into_iter().zip(['-', '-', 'T', ':', ':', '.', 'Z']) {
        push_digits(&mut text, number, digits);
        text.push(after);
    }
    text
}

/// Appends a number with at least so many digits. Every event with a hook has a time, and `format!` takes ten times as
/// long for it.
fn push_digits(text: &mut String, number: u64, digits: u32) {
    if digits > 1 || number > 9 {
        push_digits(text, number / 10, digits.saturating_sub(1));
    }
    text.extend(char::from_digit((number % 10) as u32, 10));
}

/// Returns the Gregorian year, month and day of a day counted from 1970-01-01. An era has 400 years, and its years begin in
/// March, so that the leap day is the last day of a year.
fn civil_from_days(days: u64) -> (u64, u64, u64) {
    let shifted = days + 719_468;
    let era = shifted / 146_097;
    let day_of_era = shifted % 146_097;
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = if shifted_month < 10 { shifted_month + 3 } else { shifted_month - 9 };
    (year_of_era + era * 400 + u64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn known_instants() {
        let check = |millis: u64, text: &str| {
            assert_eq!(timestamp(UNIX_EPOCH + Duration::from_millis(millis)), text);
        };
        check(0, "1970-01-01T00:00:00.000Z");
        check(1_739_896_200_000, "2025-02-18T16:30:00.000Z");
        check(951_782_399_999, "2000-02-28T23:59:59.999Z");
        check(951_782_400_000, "2000-02-29T00:00:00.000Z");
        check(4_107_542_400_001, "2100-03-01T00:00:00.001Z");
    }
}
