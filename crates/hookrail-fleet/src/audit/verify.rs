//! Verifying the records of every machine of a tenant from the stream alone.

use std::collections::BTreeMap;
use std::time::Duration;

use async_nats::HeaderMap;
use async_nats::jetstream;
use async_nats::jetstream::consumer::{DeliverPolicy, pull};
use async_nats::jetstream::context::GetStreamErrorKind;
use futures_util::StreamExt as _;

use super::slice::{AuditSlice, SliceError};
use crate::nats::connection::REQUEST_TIMEOUT;
use crate::nats::{AUDIT_STREAM, FleetMember, Handover, MemberPublicKey, NatsConnection, NatsError};
use crate::time::Timestamp;

/// The time in which the next message must arrive.
const MESSAGE_TIMEOUT: Duration = Duration::from_secs(30);

/// What a verification expects beyond what the stream itself says.
#[derive(Clone, Debug, Default)]
pub struct VerifyOptions {
    /// The keys of machines that are known from their enrolment, by machine. Without one, the key of the first slice counts.
    pub keys: BTreeMap<String, MemberPublicKey>,
    /// Report machines whose last checkpoint is older than this.
    pub longest_silence: Option<Duration>,
    /// Verify this machine only.
    pub machine: Option<String>,
}

/// What was found about a tenant.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FleetVerification {
    /// The machines, by name.
    pub machines: BTreeMap<String, MachineVerification>,
    /// The number of messages that were removed from the middle of the stream.
    pub deleted: u64,
    /// The number of the first message that the stream still has.
    pub first_message: u64,
}

/// What was found about a machine.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MachineVerification {
    /// The number of records that hold.
    pub records: u64,
    /// The number of messages.
    pub slices: u64,
    /// The number of the first record.
    pub first: u64,
    /// The number of the last record.
    pub last: u64,
    /// The hash of the last record.
    pub head: String,
    /// When the last checkpoint was signed.
    pub at: Option<Timestamp>,
    /// The key that signed it.
    pub key: Option<MemberPublicKey>,
    /// Everything that is wrong. Of very many only the first are kept.
    pub problems: Vec<AuditProblem>,
    /// The number of problems.
    pub problem_count: u64,
}

/// Something that is wrong with the records of a machine.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("message {message}: {kind}")]
pub struct AuditProblem {
    /// The number of the message in the stream; 0 for the machine as a whole.
    pub message: u64,
    /// What is wrong.
    pub kind: AuditProblemKind,
}

/// What is wrong with the records of a machine.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AuditProblemKind {
    /// The message is no slice, or its records or its signature do not hold.
    #[error("{0}")]
    Slice(#[from] SliceError),
    /// The checkpoint is about another machine or tenant.
    #[error("the checkpoint is of machine `{machine}`, tenant `{tenant}`")]
    OtherMachine {
        /// The machine that it names.
        machine: String,
        /// The tenant that it names.
        tenant: String,
    },
    /// Another key signed it, and no earlier key says that it may.
    #[error("key {0} signed it, and no earlier key of the machine has named that one")]
    UnknownKey(MemberPublicKey),
    /// Records are missing.
    #[error("records {from} to {to} are missing")]
    Gap {
        /// The first one that is missing.
        from: u64,
        /// The last one that is missing.
        to: u64,
    },
    /// Records are there twice, with another content or the same.
    #[error("record {first} begins another chain: the last record before it is {last}")]
    Fork {
        /// The first record of the slice.
        first: u64,
        /// The last record before it.
        last: u64,
    },
    /// The machine has shipped nothing for too long.
    #[error("nothing was shipped since {0}")]
    Silent(Timestamp),
}

impl AuditProblemKind {
    /// Returns the stable name, for programs.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::Slice(SliceError::Signature) => "bad-signature",
            Self::Slice(SliceError::Changed(_)) => "changed",
            Self::Slice(SliceError::NotContinuing(_) | SliceError::NotThose) => "broken-chain",
            Self::Slice(_) => "not-a-slice",
            Self::OtherMachine { .. } => "other-machine",
            Self::UnknownKey(_) => "unknown-key",
            Self::Gap { .. } => "gap",
            Self::Fork { .. } => "fork",
            Self::Silent(_) => "silent",
        }
    }
}

/// So many problems of a machine are kept.
const MOST_PROBLEMS: usize = 100;

impl FleetVerification {
    /// Returns whether nothing is wrong.
    #[must_use]
    pub fn is_sound(&self) -> bool {
        self.deleted == 0 && self.machines.values().all(|machine| machine.problem_count == 0)
    }
}

impl MachineVerification {
    fn problem(&mut self, message: u64, kind: AuditProblemKind) {
        self.problem_count += 1;
        if self.problems.len() < MOST_PROBLEMS {
            self.problems.push(AuditProblem { message, kind });
        }
    }

    /// Looks at the next message of the machine.
    fn look_at(
        &mut self,
        message: u64,
        name: &str,
        tenant: &str,
        headers: &HeaderMap,
        payload: &[u8],
        pinned: Option<&MemberPublicKey>,
    ) {
        self.slices += 1;
        let slice = match AuditSlice::read(headers, payload) {
            Ok(slice) => slice,
            Err(error) => return self.problem(message, error.into()),
        };
        let records = match slice.verify() {
            Ok(records) => records,
            Err(error) => return self.problem(message, error.into()),
        };
        let checkpoint = &slice.checkpoint;
        if checkpoint.machine != name || checkpoint.tenant.as_str() != tenant {
            let (machine, tenant) = (checkpoint.machine.clone(), checkpoint.tenant.to_string());
            return self.problem(message, AuditProblemKind::OtherMachine { machine, tenant });
        }
        let known = self.key.as_ref().or(pinned);
        let is_known =
            known.is_none_or(|known| *known == slice.key || Handover::lead(&slice.handovers, known, &slice.key));
        if !is_known {
            return self.problem(message, AuditProblemKind::UnknownKey(slice.key));
        }
        let continues = checkpoint.first == self.last + 1 && checkpoint.prev == self.head;
        if self.records > 0 && !continues {
            let kind = if checkpoint.first > self.last + 1 {
                AuditProblemKind::Gap { from: self.last + 1, to: checkpoint.first - 1 }
            } else {
                AuditProblemKind::Fork { first: checkpoint.first, last: self.last }
            };
            self.problem(message, kind);
        }
        if self.records == 0 {
            self.first = checkpoint.first;
        }
        self.records += records;
        self.last = checkpoint.last;
        self.head.clone_from(&checkpoint.head);
        self.at = Some(checkpoint.at);
        self.key = Some(slice.key);
    }
}

/// Verifies every machine of the member's tenant.
///
/// # Errors
/// If the stream cannot be read. What is wrong with the records is in the result.
pub async fn verify_fleet(
    member: &FleetMember,
    connection: &NatsConnection,
    options: &VerifyOptions,
) -> Result<FleetVerification, NatsError> {
    let context = jetstream::ContextBuilder::new().timeout(REQUEST_TIMEOUT).build(connection.client().clone());
    let stream = context.get_stream(AUDIT_STREAM).await.map_err(|error| match error.kind() {
        GetStreamErrorKind::JetStream(problem) if problem.error_code() == jetstream::ErrorCode::STREAM_NOT_FOUND => {
            NatsError::StreamMissing(AUDIT_STREAM.to_owned())
        }
        GetStreamErrorKind::Request => connection.silence(AUDIT_STREAM),
        _ => NatsError::request("the stream cannot be used")(error),
    })?;
    let state = &stream.cached_info().state;
    let (last, tenant) = (state.last_sequence, member.subjects().tenant().as_str());
    let mut found = FleetVerification {
        deleted: state.deleted_count.unwrap_or_default(),
        first_message: state.first_sequence,
        ..FleetVerification::default()
    };
    if state.messages > 0 {
        let config = pull::OrderedConfig { deliver_policy: DeliverPolicy::All, ..pull::OrderedConfig::default() };
        let consumer = stream.create_consumer(config).await.map_err(NatsError::request("the stream cannot be read"))?;
        let mut messages = consumer.messages().await.map_err(NatsError::request("the stream cannot be read"))?;
        loop {
            let next = tokio::time::timeout(MESSAGE_TIMEOUT, messages.next()).await;
            let Some(message) = next.map_err(|_| NatsError::TimedOut(MESSAGE_TIMEOUT))? else { break };
            let message = message.map_err(NatsError::request("the stream cannot be read"))?;
            let info = message.info().map_err(|error| NatsError::Request {
                what: "the stream cannot be read",
                problem: error.to_string(),
            })?;
            let (sequence, is_last) = (info.stream_sequence, info.stream_sequence >= last || info.pending == 0);
            let name = member.subjects().machine_of_audit(&message.subject);
            if let Some(name) = name.filter(|name| options.machine.as_deref().is_none_or(|wanted| wanted == *name)) {
                let machine = found.machines.entry(name.to_owned()).or_default();
                let headers = message.headers.clone().unwrap_or_default();
                machine.look_at(sequence, name, tenant, &headers, &message.payload, options.keys.get(name));
            }
            if is_last {
                break;
            }
        }
    }
    judge_silence(&mut found, options);
    Ok(found)
}

fn judge_silence(found: &mut FleetVerification, options: &VerifyOptions) {
    let now = Timestamp::now();
    let Some(longest) = options.longest_silence else { return };
    for machine in found.machines.values_mut() {
        if let Some(at) = machine.at.filter(|at| at.after(longest) < now) {
            machine.problem(0, AuditProblemKind::Silent(at));
        }
    }
    // A machine that is enrolled and never shipped anything is silent since the beginning.
    for name in options.keys.keys().filter(|name| options.machine.as_ref().is_none_or(|wanted| wanted == *name)) {
        if !found.machines.contains_key(name) {
            let machine = found.machines.entry(name.clone()).or_default();
            machine.problem(0, AuditProblemKind::Silent(Timestamp::from_seconds(0)));
        }
    }
}
