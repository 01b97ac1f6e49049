//! Shipping the journal, verifying all machines, and how far this one is.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::time::Duration;

use hookrail_app::failure::{Failure, Result};
use hookrail_app::text::counted;
use hookrail_app::text::one_line;
use hookrail_fleet::Timestamp;
use hookrail_fleet::audit::{FleetVerification, ShipError, ShippedCount, Shipper, VerifyOptions, verify_fleet};
use hookrail_fleet::nats::{FleetMember, MemberPublicKey, NatsError, ReconnectPace};
use hookrail_fleet::servers::Members;
use hookrail_journal::{Journal, ShippingPosition};
use serde_json::{Value, json};

use super::super::bundle::failure as bundle_failure;
use super::super::journal;
use super::{member, nats_failure};
use crate::args::{FleetShipArgs, FleetStatusArgs, FleetVerifyArgs};
use crate::cmd::exit::Exit;
use crate::output;
use crate::render::style::{BAD, GOOD, paint};
use hookrail_app::signals::Interrupts;

/// How often a program that follows the journal looks for servers that it could not reach at its start.
const START_AGAIN: Duration = Duration::from_secs(5);

/// With `--follow`, servers are tried again for ever, and each time after so long a warning says so.
const FOLLOW_PATIENCE: Duration = Duration::from_secs(60);

pub(super) fn ship(args: &FleetShipArgs) -> Result<Exit> {
    let member = member(&args.of)?;
    let journal = journal::open()?;
    let runtime = hookrail_app::runtime::runtime()?;
    runtime.block_on(async {
        let mut interrupts =
            Interrupts::listen().map_err(|error| Failure::new(format!("signals cannot be listened to: {error}")))?;
        if args.follow {
            tokio::select! {
                // A service is ended in this way, and has not failed.
                _ = interrupts.next() => Ok(Exit::Fine),
                ended = follow(args, &member, &journal) => ended,
            }
        } else {
            let mut shipped = ShippedCount::default();
            let end = tokio::select! {
                signal = interrupts.next() => return Ok(Exit::Signalled(signal.number())),
                end = ship_once(args, &member, &journal, &mut shipped) => end,
            };
            report_shipped(args.json, end, shipped)
        }
    })
}

async fn ship_once(
    args: &FleetShipArgs,
    member: &FleetMember,
    journal: &Journal,
    shipped: &mut ShippedCount,
) -> std::result::Result<u64, ShipError> {
    let connection = member.connect(ReconnectPace::AtOnce).await?;
    let mut shipper = Shipper::open(member.clone(), journal.clone(), connection)?;
    let end = shipper.ship(args.patience).await;
    *shipped = shipper.count();
    end.map(|()| shipper.position().seq)
}

/// Ships what is recorded until a signal comes or an alarm is raised. Servers that cannot be reached are waited for.
async fn follow(args: &FleetShipArgs, member: &FleetMember, journal: &Journal) -> Result<Exit> {
    let connection = loop {
        match member.connect(ReconnectPace::Spread).await {
            Ok(connection) => break connection,
            Err(error) if error.is_temporary() => {
                crate::logging::write_stderr(format!("warning: {}\n", one_line(&error.to_string())));
                tokio::time::sleep(START_AGAIN).await;
            }
            Err(error) => return Err(nats_failure(&error)),
        }
    };
    let mut shipper = match Shipper::open(member.clone(), journal.clone(), connection) {
        Ok(shipper) => shipper,
        Err(error) => return report_shipped(args.json, Err(error), ShippedCount::default()),
    };
    loop {
        match shipper.ship(FOLLOW_PATIENCE).await {
            Ok(()) => {}
            Err(ShipError::Nats(error)) if error.is_temporary() => {
                crate::logging::write_stderr(format!("warning: {}\n", one_line(&error.to_string())));
            }
            Err(error) => return report_shipped(args.json, Err(error), shipper.count()),
        }
        tokio::time::sleep(args.interval).await;
    }
}

fn report_shipped(as_json: bool, end: std::result::Result<u64, ShipError>, shipped: ShippedCount) -> Result<Exit> {
    let counts = json!({"records": shipped.records, "slices": shipped.slices, "known": shipped.known});
    match end {
        Ok(seq) if as_json => {
            output::json(&json!({"end": "shipped", "shipped": counts, "seq": seq}).into())?;
            Ok(Exit::Fine)
        }
        Ok(seq) => {
            let records = counted(usize::try_from(shipped.records).unwrap_or(usize::MAX), "record");
            output::text(&format!("shipped: {records}; the journal is stored up to record {seq}\n"))?;
            Ok(Exit::Fine)
        }
        Err(error) => {
            let exit = if matches!(error, ShipError::Alarm(_)) { Exit::Alarm } else { Exit::Failed };
            if as_json {
                let document =
                    json!({"end": "failed", "reason": error.reason(), "message": error.to_string(), "shipped": counts});
                output::json(&document.into())?;
                return Ok(exit);
            }
            output::failure(&ship_failure(&error));
            Ok(exit)
        }
    }
}

fn ship_failure(error: &ShipError) -> Failure {
    match error {
        ShipError::Nats(error) => nats_failure(error),
        ShipError::Journal(error) => journal::failure(error),
        ShipError::Alarm(alarm) => Failure::new(format!("alarm: {alarm}"))
            .hint("nothing was stored; find out which machine uses the key, then enrol this one under another name"),
        ShipError::Busy => Failure::new(error.to_string()).hint("end the other one, or let it go on"),
        _ => Failure::new(error.to_string()),
    }
}

pub(super) fn verify(args: &FleetVerifyArgs) -> Result<Exit> {
    let member = FleetMember::read(&args.member).map_err(|error| bundle_failure(&error))?;
    let mut keys: BTreeMap<String, MemberPublicKey> = BTreeMap::new();
    if let Some(folder) = &args.fleet {
        let members = Members::read(folder, member.subjects().tenant());
        let members = members.map_err(|error| Failure::new(error.to_string()))?;
        let signing =
            members.list().iter().filter_map(|known| Some((known.name.to_string(), known.signing_key.clone()?)));
        keys.extend(signing);
    }
    let options = VerifyOptions { keys, longest_silence: args.silence, machine: args.machine.clone() };
    let found = hookrail_app::runtime::runtime()?.block_on(async {
        let connection = member.connect(ReconnectPace::AtOnce).await?;
        verify_fleet(&member, &connection, &options).await
    });
    let found = found.map_err(|error| nats_failure(&error))?;
    if args.json {
        output::json(&verification_document(&found).into())?;
    } else {
        output::text(&verification_text(&found))?;
    }
    Ok(if found.is_sound() { Exit::Fine } else { Exit::Alarm })
}

fn verification_document(found: &FleetVerification) -> Value {
    let machines: Vec<Value> = found
        .machines
        .iter()
        .map(|(name, machine)| {
            let problems: Vec<Value> = machine
                .problems
                .iter()
                .map(|problem| {
                    json!({"problem": problem.kind.name(), "message": problem.message, "text": problem.kind.to_string()})
                })
                .collect();
            json!({
                "machine": name,
                "sound": machine.problem_count == 0,
                "records": machine.records,
                "slices": machine.slices,
                "first": machine.first,
                "last": machine.last,
                "head": machine.head,
                "at": machine.at,
                "key": machine.key,
                "problemCount": machine.problem_count,
                "problems": problems,
            })
        })
        .collect();
    json!({
        "sound": found.is_sound(),
        "deletedMessages": found.deleted,
        "firstMessage": found.first_message,
        "machines": machines,
    })
}

fn verification_text(found: &FleetVerification) -> String {
    let mut text = String::new();
    for (name, machine) in &found.machines {
        let verdict = if machine.problem_count == 0 { paint(GOOD, "holds") } else { paint(BAD, "wrong") };
        let records = counted(usize::try_from(machine.records).unwrap_or(usize::MAX), "record");
        let _ = write!(text, "{verdict}: {}: {records}", one_line(name));
        if machine.records > 0 {
            let _ = write!(text, ", {} to {}", machine.first, machine.last);
        }
        if let Some(at) = machine.at {
            let _ = write!(text, ", last shipped at {at}");
        }
        text.push('\n');
        for problem in &machine.problems {
            let _ = writeln!(text, "  {}: {}", problem.kind.name(), one_line(&problem.to_string()));
        }
        let more = machine.problem_count.saturating_sub(machine.problems.len() as u64);
        if more > 0 {
            let _ = writeln!(text, "  and {}", counted(usize::try_from(more).unwrap_or(usize::MAX), "further problem"));
        }
    }
    if found.deleted > 0 {
        let messages = counted(usize::try_from(found.deleted).unwrap_or(usize::MAX), "message");
        let _ = writeln!(text, "{}: {messages} removed from the stream", paint(BAD, "wrong"));
    }
    if found.machines.is_empty() {
        text.push_str("no machine has shipped anything\n");
    }
    text
}

/// How far this machine is.
struct ShippingStatus {
    position: Option<ShippingPosition>,
    head: u64,
    limit: Option<u64>,
    servers: ServerStatus,
}

enum ServerStatus {
    NotTried,
    Reached,
    Failed(NatsError),
}

impl ShippingStatus {
    fn waiting(&self) -> u64 {
        self.head.saturating_sub(self.position.as_ref().map_or(0, |position| position.seq))
    }

    fn is_over_limit(&self) -> bool {
        self.limit.is_some_and(|limit| self.waiting() > limit)
    }
}

pub(super) fn status(args: &FleetStatusArgs) -> Result<Exit> {
    let member = member(&args.of)?;
    let journal = journal::open()?;
    let position = ShippingPosition::read(journal.directory()).map_err(|error| journal::failure(&error))?;
    let head = journal.head().map_err(|error| journal::failure(&error))?.map_or(0, |head| head.seq);
    let servers = if args.offline {
        ServerStatus::NotTried
    } else {
        let connected = hookrail_app::runtime::runtime()?.block_on(member.connect(ReconnectPace::AtOnce));
        connected.map_or_else(ServerStatus::Failed, |_| ServerStatus::Reached)
    };
    let status = ShippingStatus { position, head, limit: member.audit().backlog_limit, servers };
    if args.json {
        output::json(&status_document(&member, &status).into())?;
    } else {
        output::text(&status_text(&member, &status))?;
    }
    let is_reached = !matches!(status.servers, ServerStatus::Failed(_));
    Ok(if is_reached && !status.is_over_limit() { Exit::Fine } else { Exit::Failed })
}

fn status_document(member: &FleetMember, status: &ShippingStatus) -> Value {
    let servers = match &status.servers {
        ServerStatus::NotTried => json!({"end": "not-tried"}),
        ServerStatus::Reached => json!({"end": "reached"}),
        ServerStatus::Failed(error) => {
            json!({"end": "failed", "reason": error.reason(), "message": error.to_string()})
        }
    };
    json!({
        "tenant": member.subjects().tenant(),
        "member": member.id().to_string(),
        "servers": servers,
        "journal": status.head,
        "shipped": status.position.as_ref().map(|position| position.seq),
        "shippedAt": status.position.as_ref().filter(|position| position.seq > 0).map(|position| Timestamp::from_seconds(position.at)),
        "backlog": status.waiting(),
        "backlogLimit": status.limit,
    })
}

fn status_text(member: &FleetMember, status: &ShippingStatus) -> String {
    let mut text = format!("member `{}` of tenant `{}`\n", member.id(), member.subjects().tenant());
    let servers = match &status.servers {
        ServerStatus::NotTried => "not tried".to_owned(),
        ServerStatus::Reached => paint(GOOD, "reached"),
        ServerStatus::Failed(error) => format!("{}: {}", paint(BAD, "failed"), one_line(&error.to_string())),
    };
    let _ = writeln!(text, "servers: {servers}");
    match status.position.as_ref().filter(|position| position.seq > 0) {
        Some(position) => {
            let at = Timestamp::from_seconds(position.at);
            let _ = writeln!(text, "journal: shipped up to record {} of {}, at {at}", position.seq, status.head);
        }
        None => {
            let _ = writeln!(text, "journal: nothing of {} shipped yet", counted_records(status.head));
        }
    }
    let _ = write!(text, "backlog: {}", counted_records(status.waiting()));
    match status.limit {
        Some(limit) if status.is_over_limit() => {
            let _ = writeln!(text, ", {} {limit}", paint(BAD, "over the limit of"));
        }
        Some(limit) => {
            let _ = writeln!(text, ", the limit is {limit}");
        }
        None => text.push('\n'),
    }
    text
}

fn counted_records(number: u64) -> String {
    counted(usize::try_from(number).unwrap_or(usize::MAX), "record")
}
