//! Bundles and fleets, for people.

use std::fmt::Write as _;

use hookrail_app::fleet::{ServerStatus, ShippingStatus};
use hookrail_app::text::{counted, one_line};
use hookrail_fleet::Timestamp;
use hookrail_fleet::archive::PackedFile;
use hookrail_fleet::audit::FleetVerification;
use hookrail_fleet::manifest::Manifest;
use hookrail_fleet::nats::FleetMember;
use hookrail_fleet::places::FleetPlaces;
use hookrail_fleet::publish::PackedFileChange;
use hookrail_fleet::status::{Condition, FleetStatus};

use crate::render::style::{BAD, CAREFUL, GOOD, QUIET, paint};

/// Names a bundle in a sentence.
pub(crate) fn label(manifest: &Manifest) -> String {
    let shadow = if manifest.shadow { ", shadow" } else { "" };
    format!("bundle {} of channel `{}`, tenant `{}`{shadow}", manifest.version, manifest.channel, manifest.tenant)
}

/// The lines about a manifest.
fn manifest_lines(manifest: &Manifest) -> Vec<(&'static str, String)> {
    let expires = manifest.expires.map_or_else(|| "never".to_owned(), |at| at.to_string());
    vec![
        ("tenant", manifest.tenant.to_string()),
        ("channel", manifest.channel.to_string()),
        ("version", manifest.version.to_string()),
        ("digest", manifest.digest.to_string()),
        ("size", format!("{} bytes", manifest.size)),
        ("hookrail", format!("{} or later", manifest.min_hookrail)),
        ("issued", manifest.issued.to_string()),
        ("expires", expires),
        ("rollout", format!("{} %, seed {}", manifest.rollout.percent, one_line(&manifest.rollout.seed))),
        ("shadow", if manifest.shadow { "yes: its hooks have no effect".to_owned() } else { "no".to_owned() }),
    ]
}

/// Describes a bundle and its files.
pub(crate) fn bundle(manifest: &Manifest, is_signed: bool, files: &[PackedFile]) -> String {
    let mut text = String::new();
    for (name, value) in manifest_lines(manifest) {
        let _ = writeln!(text, "{name:9} {value}");
    }
    let signed = if is_signed { "yes, not verified here" } else { "no" };
    let _ = writeln!(text, "{:9} {signed}\n{}:", "signed", counted(files.len(), "file"));
    for file in files {
        let mode = if file.executable { "755" } else { "644" };
        let _ = writeln!(text, "  {} {:>8}  {}", paint(QUIET, mode), file.size, one_line(&file.path));
    }
    text
}

/// Describes what differs between two bundles.
pub(crate) fn bundle_changes(old: &Manifest, new: &Manifest, changes: &[PackedFileChange]) -> String {
    let mut text = String::new();
    for ((name, old), (_, new)) in manifest_lines(old).into_iter().zip(manifest_lines(new)) {
        if old != new {
            let _ = writeln!(text, "{name:9} {old} -> {new}");
        }
    }
    for change in changes {
        let path = one_line(change.path());
        let line = match change {
            PackedFileChange::Added(_) => paint(GOOD, format!("+ {path}")),
            PackedFileChange::Removed(_) => paint(BAD, format!("- {path}")),
            PackedFileChange::Changed { .. } => paint(CAREFUL, format!("~ {path}")),
        };
        let _ = writeln!(text, "{line}");
    }
    if changes.is_empty() {
        text.push_str("the files are the same\n");
    }
    text
}

/// Describes which bundles are in force.
pub(crate) fn bundle_status(places: &FleetPlaces, status: &FleetStatus) -> String {
    let layer = places.scope.name();
    let condition = match status.condition {
        Condition::NotEnrolled => return format!("{layer} layer: not enrolled in a fleet\n"),
        Condition::Missing => {
            let sentence = "no bundle is in force, so every event that can be denied is denied";
            return format!("{layer} layer: {}: {sentence}\n", paint(BAD, "missing"));
        }
        Condition::Current => paint(GOOD, "current"),
        Condition::Stale => paint(CAREFUL, "stale"),
        Condition::Expired => paint(BAD, "expired"),
    };
    let mut text = format!("{layer} layer: {condition}\n");
    for bundle in status.in_force.iter().flat_map(|in_force| &in_force.bundles) {
        let shadow = if bundle.shadow { ", shadow" } else { "" };
        let _ = writeln!(text, "bundle {} of channel `{}`{shadow}", bundle.version, bundle.channel);
        let _ = writeln!(text, "  digest  {}", bundle.digest);
        let _ = writeln!(text, "  applied {}", bundle.applied());
        if let Some(expires) = bundle.expires() {
            let _ = writeln!(text, "  expires {expires}");
        }
    }
    if let Some(checked) = status.checked {
        let _ = writeln!(text, "source last reached at {checked}");
    }
    text
}

/// Describes the verification of all machines.
pub(crate) fn verification(found: &FleetVerification) -> String {
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

/// Describes how far this machine is.
pub(crate) fn shipping_status(member: &FleetMember, status: &ShippingStatus) -> String {
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
