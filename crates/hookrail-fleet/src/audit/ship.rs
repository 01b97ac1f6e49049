//! Shipping a journal. One process at a time ships one journal; hooks never wait for it.

use std::time::{Duration, Instant};

use async_nats::jetstream;
use async_nats::jetstream::context::{PublishError, PublishErrorKind};
use async_nats::jetstream::message::{PublishMessage, StreamMessage};
use async_nats::jetstream::stream::DirectGetErrorKind;
use hookrail_journal::{ChainLink, Filter, Journal, JournalError, Record, Records, ShippingLock, ShippingPosition};

use super::slice::{AuditSlice, SliceLines};
use crate::config::AuditSettings;
use crate::nats::connection::REQUEST_TIMEOUT;
use crate::nats::retry::{is_wrong_sequence, pause};
use crate::nats::{AUDIT_STREAM, FleetMember, Handover, MemberKey, NatsConnection, NatsError};
use crate::time::Timestamp;

/// How long a replica may be behind before what it says counts.
const REPLICA_PATIENCE: Duration = Duration::from_secs(10);

/// Why a journal was not shipped.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ShipError {
    /// The journal cannot be read, or its position cannot be written.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// Another process ships this journal.
    #[error("another process ships this journal")]
    Busy,
    /// The servers could not be used.
    #[error(transparent)]
    Nats(#[from] NatsError),
    /// One record is larger than what the servers accept.
    #[error("record {seq} has {bytes} bytes when compressed, and the servers accept less; raise `max_payload`")]
    TooLarge {
        /// The number of the record.
        seq: u64,
        /// Its size.
        bytes: usize,
    },
    /// The position belongs to another machine or tenant.
    #[error("this journal was shipped as `{before}`, and the configuration says `{now}`")]
    OtherSubject {
        /// The subject it was shipped to.
        before: String,
        /// The subject that the configuration names.
        now: String,
    },
    /// The audit of this machine is not what it must be.
    #[error(transparent)]
    Alarm(#[from] ShippingAlarm),
}

/// What shows that the records of a machine are not one chain.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ShippingAlarm {
    /// The stream has records of this machine that its journal does not have.
    #[error(
        "the stream holds record {seq} of this machine with hash {hash}, and the journal does not: the machine was cloned, or its journal was written anew"
    )]
    Forked {
        /// The number of the last record in the stream.
        seq: u64,
        /// Its hash.
        hash: String,
    },
    /// The journal lacks a record that was shipped, or what follows does not continue it.
    #[error(
        "record {seq} was shipped with hash {hash}, and the journal does not continue it: it was cut or written anew"
    )]
    Rewritten {
        /// The number of the last record that was shipped.
        seq: u64,
        /// Its hash.
        hash: String,
    },
    /// The stream lacks messages that it had acknowledged.
    #[error(
        "the stream had acknowledged message {acknowledged} of this machine, and its last one is {found}: the stream was cut"
    )]
    StreamCut {
        /// The message that was acknowledged.
        acknowledged: u64,
        /// The last message now; 0 if there is none.
        found: u64,
    },
}

impl ShipError {
    /// Returns the stable name of the reason, for programs.
    #[must_use]
    pub fn reason(&self) -> &'static str {
        match self {
            Self::Journal(_) => "journal",
            Self::Busy => "busy",
            Self::Nats(error) => error.reason(),
            Self::TooLarge { .. } => "record-too-large",
            Self::OtherSubject { .. } => "other-subject",
            Self::Alarm(ShippingAlarm::Forked { .. }) => "forked",
            Self::Alarm(ShippingAlarm::Rewritten { .. }) => "rewritten",
            Self::Alarm(ShippingAlarm::StreamCut { .. }) => "stream-cut",
        }
    }
}

/// How much was shipped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ShippedCount {
    /// The number of records that were stored.
    pub records: u64,
    /// The number of messages that hold them.
    pub slices: u64,
    /// The number of records that were found to be stored already.
    pub known: u64,
}

/// Ships one journal.
#[derive(Debug)]
pub struct Shipper {
    member: FleetMember,
    journal: Journal,
    key: MemberKey,
    handovers: Vec<Handover>,
    connection: NatsConnection,
    context: jetstream::Context,
    position: ShippingPosition,
    slicer: Option<Slicer>,
    count: ShippedCount,
    _lock: ShippingLock,
}

/// How publishing a slice ended.
enum SliceEnd {
    Stored,
    /// The stream is further than the position, and what it has is in this journal.
    Known,
}

impl Shipper {
    /// Prepares shipping, with a connection of the member.
    ///
    /// # Errors
    /// If another process ships the journal, or its position or the key cannot be read.
    pub fn open(member: FleetMember, journal: Journal, connection: NatsConnection) -> Result<Self, ShipError> {
        let lock = ShippingLock::take(journal.directory()).map_err(|error| match error {
            JournalError::Locked { .. } => ShipError::Busy,
            other => other.into(),
        })?;
        let subject = member.subjects().audit(member.id());
        let limit = member.audit().backlog_limit;
        let start = || ShippingPosition {
            subject: subject.clone(),
            hash: ChainLink::BEGINNING.to_owned(),
            ..ShippingPosition::default()
        };
        let known = ShippingPosition::read(journal.directory())?;
        let is_new = known.is_none();
        let mut position = known.unwrap_or_else(start);
        if position.subject != subject {
            return Err(ShipError::OtherSubject { before: position.subject, now: subject });
        }
        if is_new || position.backlog_limit != limit {
            position.backlog_limit = limit;
            position.write(journal.directory())?;
        }
        let settings = member.settings();
        let key = MemberKey::read(&settings.seed).map_err(NatsError::from)?;
        let handovers = Handover::read_all(&settings.seed).map_err(NatsError::from)?;
        let context = jetstream::ContextBuilder::new()
            .timeout(REQUEST_TIMEOUT)
            .ack_timeout(REQUEST_TIMEOUT)
            .build(connection.client().clone());
        let count = ShippedCount::default();
        Ok(Self { member, journal, key, handovers, connection, context, position, slicer: None, count, _lock: lock })
    }

    /// Returns how far the journal was shipped.
    #[must_use]
    pub fn position(&self) -> &ShippingPosition {
        &self.position
    }

    /// Returns how much was shipped since this was opened.
    #[must_use]
    pub fn count(&self) -> ShippedCount {
        self.count
    }

    /// Ships everything that the journal holds now. What cannot be stored is tried again until the patience ends. A call that is
    /// dropped loses nothing: the position is that of the last acknowledgement.
    ///
    /// # Errors
    /// If the patience ends, or with an alarm.
    pub async fn ship(&mut self, patience: Duration) -> Result<(), ShipError> {
        loop {
            let (slicer, lines) = self.next_lines().await?;
            let Some(lines) = lines else {
                self.slicer = Some(slicer);
                return Ok(());
            };
            // Until the slice is stored there is no slicer: whatever happens, the next one begins at the position.
            match self.publish(&lines, patience).await? {
                SliceEnd::Stored => {
                    self.count.records += lines.records as u64;
                    self.count.slices += 1;
                    self.slicer = Some(slicer);
                }
                SliceEnd::Known => {}
            }
        }
    }

    /// Reads the next slice of the journal. Reading old segments takes a while, so it is not done on the runtime's thread.
    async fn next_lines(&mut self) -> Result<(Slicer, Option<SliceLines>), ShipError> {
        let mut slicer = match self.slicer.take() {
            Some(slicer) => slicer,
            None => Slicer::new(&self.journal, &self.position, self.member.audit())?,
        };
        let read = tokio::task::spawn_blocking(move || {
            let lines = slicer.next_slice();
            (slicer, lines)
        });
        let (slicer, lines) = read.await.map_err(|error| {
            let source = std::io::Error::other(error);
            JournalError::Io { path: self.journal.directory().to_owned(), source }
        })?;
        lines.map(|lines| (slicer, lines))
    }

    async fn publish(&mut self, lines: &SliceLines, patience: Duration) -> Result<SliceEnd, ShipError> {
        let begin = Instant::now();
        let tenant = self.member.subjects().tenant();
        let slice = AuditSlice::sign(lines, tenant, self.member.id().to_string(), &self.key, &self.handovers)
            .map_err(NatsError::from)?;
        let mut attempt: u32 = 0;
        loop {
            let error = match self.publish_once(&slice).await {
                Ok(sequence) => {
                    self.advance(lines.last, &lines.head, sequence)?;
                    return Ok(SliceEnd::Stored);
                }
                Err(error) => error,
            };
            if is_wrong_sequence(&error) {
                return self.compare_with_stream().await;
            }
            let error = match error.kind() {
                PublishErrorKind::MaxPayloadExceeded => {
                    return Err(ShipError::TooLarge { seq: lines.first, bytes: slice.payload.len() });
                }
                PublishErrorKind::TimedOut => self.connection.silence(&self.position.subject),
                PublishErrorKind::StreamNotFound => NatsError::StreamMissing(AUDIT_STREAM.to_owned()),
                _ => NatsError::request("a slice was not stored")(error),
            };
            if !error.is_temporary() || begin.elapsed() >= patience {
                return Err(error.into());
            }
            attempt = attempt.saturating_add(1);
            pause(attempt).await;
        }
    }

    async fn publish_once(&self, slice: &AuditSlice) -> Result<u64, PublishError> {
        let message = PublishMessage::build()
            .payload(slice.payload.clone().into())
            .headers(slice.headers())
            .expected_stream(AUDIT_STREAM)
            .expected_last_subject_sequence(self.position.stream_sequence);
        let ack = self.context.send_publish(self.position.subject.clone(), message).await?.await?;
        Ok(ack.sequence)
    }

    /// Keeps the position after an acknowledgement.
    fn advance(&mut self, seq: u64, hash: &str, stream_sequence: u64) -> Result<(), ShipError> {
        let next = ShippingPosition {
            seq,
            hash: hash.to_owned(),
            stream_sequence,
            at: Timestamp::now().seconds(),
            ..self.position.clone()
        };
        next.write(self.journal.directory())?;
        self.position = next;
        Ok(())
    }

    /// Finds out why the stream expects another message: the acknowledgement of a slice was lost, or the position was, or another
    /// journal was shipped as this machine.
    async fn compare_with_stream(&mut self) -> Result<SliceEnd, ShipError> {
        let begin = Instant::now();
        let mut attempt: u32 = 0;
        loop {
            let found = self.last_message().await;
            // A replica may be behind the leader that refused the slice.
            let sequence = match &found {
                Ok(message) if message.sequence > self.position.stream_sequence => {
                    return self.judge(message);
                }
                Ok(message) => Some(message.sequence),
                Err(LastMessageError::None) => Some(0),
                Err(LastMessageError::Nats(_)) => None,
            };
            if begin.elapsed() >= REPLICA_PATIENCE {
                let acknowledged = self.position.stream_sequence;
                return match (found, sequence) {
                    (Err(LastMessageError::Nats(error)), _) => Err(error.into()),
                    (_, Some(found)) if found < acknowledged => {
                        Err(ShippingAlarm::StreamCut { acknowledged, found }.into())
                    }
                    // The stream is where it should be, so the slice is sent again.
                    _ => Ok(SliceEnd::Known),
                };
            }
            attempt = attempt.saturating_add(1);
            pause(attempt).await;
        }
    }

    /// Continues behind the last message of the stream if this journal holds its last record.
    fn judge(&mut self, message: &StreamMessage) -> Result<SliceEnd, ShipError> {
        let slice = AuditSlice::read(&message.headers, &message.payload);
        let Ok(AuditSlice { checkpoint, .. }) = slice else {
            return Err(ShippingAlarm::Forked { seq: 0, hash: "unknown".to_owned() }.into());
        };
        let (seq, head) = (checkpoint.last, checkpoint.head);
        let own = self.journal.read(Filter { after: seq.checked_sub(1), ..Filter::default() })?;
        let is_own = own.flatten().take_while(|record| record.seq <= seq).any(|record| {
            let holds = ChainLink::of(&record.line).is_some_and(|link| link.holds);
            record.seq == seq && record.hash == head && holds
        });
        if !is_own {
            return Err(ShippingAlarm::Forked { seq, hash: head }.into());
        }
        self.count.known += seq.saturating_sub(self.position.seq);
        self.advance(seq, &head, message.sequence)?;
        Ok(SliceEnd::Known)
    }

    async fn last_message(&self) -> Result<StreamMessage, LastMessageError> {
        let stream = self.context.get_stream_no_info(AUDIT_STREAM).await;
        let stream = stream.map_err(NatsError::request("the stream cannot be used"))?;
        let subject = self.position.subject.clone();
        let found = stream.direct_get_last_for_subject(subject.clone()).await;
        found.map_err(|error| match error.kind() {
            DirectGetErrorKind::NotFound => LastMessageError::None,
            DirectGetErrorKind::TimedOut => LastMessageError::Nats(self.connection.silence(&subject)),
            _ => LastMessageError::Nats(NatsError::request("the last slice cannot be read")(error)),
        })
    }
}

enum LastMessageError {
    None,
    Nats(NatsError),
}

impl From<NatsError> for LastMessageError {
    fn from(error: NatsError) -> Self {
        Self::Nats(error)
    }
}

/// Cuts a journal into slices.
struct Slicer {
    records: Records,
    /// A record that did not fit into the slice before.
    next: Option<Record<'static>>,
    seq: u64,
    hash: String,
    limits: AuditSettings,
}

impl Slicer {
    fn new(journal: &Journal, position: &ShippingPosition, limits: &AuditSettings) -> Result<Self, ShipError> {
        // The last record that was shipped is read again, to see that the journal still has it.
        let records = journal.read(Filter { after: position.seq.checked_sub(1), ..Filter::default() })?;
        let mut slicer =
            Self { records, next: None, seq: position.seq, hash: position.hash.clone(), limits: limits.clone() };
        if position.seq > 0 {
            let gone = || ShippingAlarm::Rewritten { seq: position.seq, hash: position.hash.clone() };
            match slicer.next_sound() {
                Some(record) if record.seq == position.seq && record.hash == position.hash => {}
                // Its segment is old and was removed; what follows must continue it.
                Some(record) if record.seq == position.seq + 1 => slicer.next = Some(record),
                Some(_) => return Err(gone().into()),
                // Everything was shipped and removed since, or cut off. The head of the journal knows.
                None => {
                    let head = journal.head()?;
                    let fits = head.is_some_and(|head| head.seq == position.seq && head.hash == position.hash);
                    if !fits {
                        return Err(gone().into());
                    }
                }
            }
        }
        Ok(slicer)
    }

    /// The next record whose hash is that of its bytes. Lines that are damaged are no records; if one is missing, the chain shows it.
    fn next_sound(&mut self) -> Option<Record<'static>> {
        let is_sound = |record: &Record<'_>| ChainLink::of(&record.line).is_some_and(|link| link.holds);
        self.next.take().or_else(|| self.records.by_ref().flatten().find(is_sound))
    }

    fn next_slice(&mut self) -> Result<Option<SliceLines>, ShipError> {
        let mut slice: Option<SliceLines> = None;
        while let Some(record) = self.next_sound() {
            let is_first_ever = self.seq == 0 && slice.is_none();
            let continues = record.prev == self.hash && Some(record.seq) == self.seq.checked_add(1);
            // A journal that is shipped for the first time may have lost its oldest segments to age.
            if !continues && !is_first_ever {
                return Err(ShippingAlarm::Rewritten { seq: self.seq, hash: self.hash.clone() }.into());
            }
            let bytes = record.line.len() + 1;
            if let Some(slice) = &slice
                && (slice.records >= self.limits.slice_records.max(1)
                    || slice.lines.len() + bytes > self.limits.slice_bytes)
            {
                self.next = Some(record);
                break;
            }
            let slice = slice.get_or_insert_with(|| SliceLines {
                first: record.seq,
                last: record.seq,
                prev: record.prev.clone(),
                head: String::new(),
                records: 0,
                lines: Vec::with_capacity(bytes),
            });
            slice.lines.extend_from_slice(record.line.as_bytes());
            slice.lines.push(b'\n');
            slice.records += 1;
            slice.last = record.seq;
            record.hash.clone_into(&mut slice.head);
            (self.seq, self.hash) = (record.seq, record.hash);
        }
        Ok(slice)
    }
}

impl std::fmt::Debug for Slicer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Slicer").field("seq", &self.seq).finish_non_exhaustive()
    }
}
