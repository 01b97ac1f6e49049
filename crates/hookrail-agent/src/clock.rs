//! Times as sessions and messages have them: ISO 8601 in UTC on entries, milliseconds since 1970 in messages.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use hookrail::event::timestamp;

/// Returns the present time in milliseconds since 1970.
pub(crate) fn now() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(now.as_millis()).unwrap_or(u64::MAX)
}

/// Returns a time as ISO 8601 in UTC, with milliseconds.
pub(crate) fn iso(milliseconds: u64) -> String {
    timestamp(UNIX_EPOCH + Duration::from_millis(milliseconds))
}

/// Reads a time that [`iso`] wrote; none if it has another form.
pub(crate) fn read_iso(text: &str) -> Option<u64> {
    let number = |range: std::ops::Range<usize>| text.get(range)?.parse::<u64>().ok();
    let (year, month, day) = (number(0..4)?, number(5..7)?, number(8..10)?);
    let (year, month) = if month <= 2 { (year.checked_sub(1)?, month + 9) } else { (year, month - 3) };
    let days = 365 * year + year / 4 - year / 100 + year / 400 + (153 * month + 2) / 5 + day;
    let days = days.checked_sub(719_469)?;
    let seconds = days * 86_400 + number(11..13)? * 3600 + number(14..16)? * 60 + number(17..19)?;
    Some(seconds * 1000 + number(20..23).unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_written_and_read() {
        for (milliseconds, text) in [
            (0, "1970-01-01T00:00:00.000Z"),
            (951_782_399_999, "2000-02-28T23:59:59.999Z"),
            (951_868_799_001, "2000-02-29T23:59:59.001Z"),
            (1_739_896_200_000, "2025-02-18T16:30:00.000Z"),
        ] {
            assert_eq!(iso(milliseconds), text);
            assert_eq!(read_iso(text), Some(milliseconds));
        }
        assert_eq!(read_iso("yesterday"), None);
    }
}
