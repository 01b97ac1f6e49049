//! Which records a command looks at.

use std::time::{Duration, SystemTime};

use hookrail::event::timestamp;
use hookrail::{DialectId, EventKind};
use hookrail_journal::Filter;

use crate::failure::{Failure, Result};

/// Which records are wanted, in the words of a user.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RecordSelection<'s> {
    /// An age such as `2h`, or a time in UTC.
    pub since: Option<&'s str>,
    pub session: Option<&'s str>,
    /// The name or the id of a hook.
    pub hook: Option<&'s str>,
    pub decision: Option<&'s str>,
    /// An event, by any of its names.
    pub event: Option<&'s str>,
}

impl RecordSelection<'_> {
    /// Returns the filter for the journal.
    ///
    /// # Errors
    ///
    /// The time or the event cannot be read.
    pub fn filter(&self) -> Result<Filter> {
        Ok(Filter {
            since: self.since.map(|text| since(text, SystemTime::now())).transpose()?,
            session: self.session.map(str::to_owned),
            hook: self.hook.map(str::to_owned),
            decision: self.decision.map(str::to_owned),
            event: self.event.map(event).transpose()?.map(str::to_owned),
            ..Filter::default()
        })
    }
}

/// Returns the neutral name of an event.
fn event(name: &str) -> Result<&'static str> {
    let is_named = |kind: &EventKind| {
        let columns = DialectId::ORDER.into_iter().filter_map(|dialect| kind.spec().column(dialect));
        kind.name() == name || columns.into_iter().any(|column| column.name == name)
    };
    let unknown = || {
        let near = hookrail::sources::nearest(name, EventKind::all().map(EventKind::name));
        let failure = Failure::new(format!("`{name}` is not an event"));
        match near {
            Some(near) => failure.hint(format!("did you mean `{near}`?")),
            None => failure.hint("`hookrail reference events` lists them"),
        }
    };
    EventKind::all().find(is_named).map(EventKind::name).ok_or_else(unknown)
}

/// Returns a time as records have it: an age such as `2h`, or a date with or without a time of day, in UTC.
fn since(text: &str, now: SystemTime) -> Result<String> {
    age(text).and_then(|age| now.checked_sub(age)).map(timestamp).or_else(|| instant(text)).ok_or_else(|| {
        Failure::new(format!("`--since {text}` is not a time")).hint(
            "write an age such as `30m`, `2h` or `1d`, or a time such as `2026-11-16` or `2026-11-16T08:00`, in UTC",
        )
    })
}

fn age(text: &str) -> Option<Duration> {
    let unit = text.chars().last()?;
    let seconds: u64 = match unit {
        's' => 1,
        'm' => 60,
        'h' => 3600,
        'd' => 24 * 3600,
        'w' => 7 * 24 * 3600,
        _ => return None,
    };
    let number: u64 = text.strip_suffix(unit)?.parse().ok()?;
    Some(Duration::from_secs(number.checked_mul(seconds)?))
}

/// Completes a time that is cut anywhere behind its day.
fn instant(text: &str) -> Option<String> {
    const MODEL: &str = "0000-00-00T00:00:00.000Z";
    let fits = text.len() >= 10
        && text.len() <= MODEL.len()
        && text.bytes().zip(MODEL.bytes()).all(|(byte, model)| match model {
            b'0' => byte.is_ascii_digit(),
            _ => byte == model || (model == b'T' && byte == b' '),
        });
    let rest = MODEL.get(text.len()..)?;
    fits.then(|| format!("{}{rest}", text.replace(' ', "T")))
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a failure here is a failed test")]
mod tests {
    use super::*;

    #[test]
    fn times_are_ages_or_instants() {
        let now = SystemTime::UNIX_EPOCH + Duration::from_secs(86_400 * 365);
        assert_eq!(since("1d", now).unwrap(), "1970-12-31T00:00:00.000Z");
        assert_eq!(since("90m", now).unwrap(), "1970-12-31T22:30:00.000Z");
        assert_eq!(since("2026-11-16", now).unwrap(), "2026-11-16T00:00:00.000Z");
        assert_eq!(since("2026-11-16 08:30", now).unwrap(), "2026-11-16T08:30:00.000Z");
        for wrong in ["", "d", "1y", "yesterday", "2026-11", "2026-11-16X08", "99999999999999999999d", "ä"] {
            assert!(since(wrong, now).is_err(), "{wrong}");
        }
    }

    #[test]
    fn an_event_has_all_its_names() {
        assert_eq!(event("PreToolUse").unwrap(), "before-tool");
        assert_eq!(event("before-tool").unwrap(), "before-tool");
        assert!(event("elephant").is_err());
    }
}
