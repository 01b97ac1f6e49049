//! W3C trace contexts, new identifiers, and which events get spans.

use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher as _, Hasher as _};

pub(crate) type TraceId = [u8; 16];
pub(crate) type SpanId = [u8; 8];

/// Whether the spans of a trace are exported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sampling {
    Sampled,
    NotSampled,
}

/// The span of the host under which an event was fired.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ParentSpan {
    pub(crate) trace: TraceId,
    pub(crate) span: SpanId,
    pub(crate) sampling: Sampling,
}

impl ParentSpan {
    /// Parses the value of a `traceparent` header.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let mut parts = text.trim().split('-');
        let version: [u8; 1] = from_hex(parts.next()?)?;
        let (trace, span) = (from_hex(parts.next()?)?, from_hex(parts.next()?)?);
        let [flags]: [u8; 1] = from_hex(parts.next()?)?;
        // Later versions may append parts; the first version and the forbidden one must not have any.
        let is_known = version == [0] && parts.next().is_none();
        if version == [0xff] || !(is_known || version > [0]) || trace == [0; 16] || span == [0; 8] {
            return None;
        }
        let sampling = if flags & 1 == 1 { Sampling::Sampled } else { Sampling::NotSampled };
        Some(Self { trace, span, sampling })
    }
}

/// Parses lower-case hexadecimal of exactly that many bytes.
fn from_hex<const N: usize>(text: &str) -> Option<[u8; N]> {
    let digit = |byte: u8| match byte {
        b'0'..=b'9' => Some(byte - b'0'),
        b'a'..=b'f' => Some(byte - b'a' + 10),
        _ => None,
    };
    if text.len() != 2 * N {
        return None;
    }
    let mut bytes = [0; N];
    for (byte, pair) in bytes.iter_mut().zip(text.as_bytes().chunks_exact(2)) {
        let [high, low] = pair else { return None };
        *byte = digit(*high)? << 4 | digit(*low)?;
    }
    Some(bytes)
}

/// Returns a number that no other process or call has. Identifiers need no more than that.
fn random() -> u64 {
    // Zero means that there is no identifier.
    RandomState::new().build_hasher().finish().max(1)
}

pub(crate) fn new_trace_id() -> TraceId {
    (u128::from(random()) << 64 | u128::from(random())).to_be_bytes()
}

pub(crate) fn new_span_id() -> SpanId {
    random().to_be_bytes()
}

/// Decides whether a trace that begins here is exported. The decision follows from the identifier, so that every process
/// with the same percentage decides the same.
pub(crate) fn sample(trace: &TraceId, percent: u8) -> Sampling {
    let [.., a, b, c, d, e, f, g, h] = *trace;
    let place = u64::from_be_bytes([a, b, c, d, e, f, g, h]) >> 1;
    let limit = u128::from(percent.min(100)) << 63;
    if u128::from(place) * 100 < limit { Sampling::Sampled } else { Sampling::NotSampled }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

    #[test]
    fn a_trace_context_is_read_as_the_standard_says() {
        let parent = ParentSpan::parse(GOOD).unwrap();
        assert_eq!((parent.trace[0], parent.span[7], parent.sampling), (0x4b, 0xb7, Sampling::Sampled));
        let unsampled = ParentSpan::parse(&GOOD.replace("-01", "-00")).unwrap();
        assert_eq!(unsampled.sampling, Sampling::NotSampled);
        assert!(ParentSpan::parse("cc-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-more").is_some());
        for bad in [
            "",
            "00",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-more",
            "ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
            "00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01",
            "00-00000000000000000000000000000000-00f067aa0ba902b7-01",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01",
            "00-4bf92f3577b34da6a3ce929d0e0e473-00f067aa0ba902b7-01",
        ] {
            assert_eq!(ParentSpan::parse(bad), None, "{bad}");
        }
    }

    #[test]
    fn the_percentage_of_traces_is_kept() {
        let sampled = |percent| (0..4000).filter(|_| sample(&new_trace_id(), percent) == Sampling::Sampled).count();
        assert_eq!((sampled(0), sampled(100)), (0, 4000));
        let some = sampled(25);
        assert!((700..1300).contains(&some), "{some} of 4000");
    }

    #[test]
    fn identifiers_differ() {
        let made: std::collections::BTreeSet<SpanId> = (0..10_000).map(|_| new_span_id()).collect();
        assert_eq!(made.len(), 10_000);
    }
}
