//! What the commands of a fleet say to programs.

use hookrail_fleet::Timestamp;
use hookrail_fleet::archive::PackedFile;
use hookrail_fleet::audit::FleetVerification;
use hookrail_fleet::config::FleetConfig;
use hookrail_fleet::manifest::Manifest;
use hookrail_fleet::nats::FleetMember;
use hookrail_fleet::places::FleetPlaces;
use hookrail_fleet::publish::PackedFileChange;
use hookrail_fleet::status::FleetStatus;
use serde_json::{Value, json};

use super::shipping::{ServerStatus, ShippingStatus};

/// Returns a manifest as a member of a document.
pub fn manifest_document(manifest: &Manifest) -> Value {
    json!({
        "tenant": manifest.tenant,
        "channel": manifest.channel,
        "version": manifest.version,
        "digest": manifest.digest,
        "size": manifest.size,
        "minHookrail": manifest.min_hookrail.to_string(),
        "issued": manifest.issued,
        "expires": manifest.expires,
        "rollout": {"percent": manifest.rollout.percent, "seed": manifest.rollout.seed},
        "shadow": manifest.shadow,
    })
}

/// Returns a file of a bundle as a member of a document.
pub fn file_document(file: &PackedFile) -> Value {
    json!({"path": file.path, "size": file.size, "executable": file.executable, "digest": file.digest})
}

/// Returns a change of a bundle's file as a member of a document.
pub fn change_document(change: &PackedFileChange) -> Value {
    let (old, new) = match change {
        PackedFileChange::Added(new) => (None, Some(new)),
        PackedFileChange::Removed(old) => (Some(old), None),
        PackedFileChange::Changed { old, new } => (Some(old), Some(new)),
    };
    json!({
        "change": change.name(),
        "path": change.path(),
        "old": old.map(file_document),
        "new": new.map(file_document),
    })
}

/// Returns what `bundle status --json` prints.
pub fn status_document(places: &FleetPlaces, config: Option<&FleetConfig>, status: &FleetStatus) -> Value {
    let bundles: Vec<Value> = status
        .in_force
        .iter()
        .flat_map(|in_force| &in_force.bundles)
        .map(|bundle| {
            json!({
                "channel": bundle.channel,
                "version": bundle.version,
                "digest": bundle.digest,
                "shadow": bundle.shadow,
                "applied": bundle.applied(),
                "expires": bundle.expires(),
            })
        })
        .collect();
    json!({
        "scope": places.scope.name(),
        "condition": status.condition.name(),
        "configuration": places.configuration.display().to_string(),
        "state": places.state.display().to_string(),
        "tenant": config.map(|config| &config.tenant),
        "source": config.map(|config| config.source.to_string()),
        "checked": status.checked,
        "bundles": bundles,
        "kept": status.in_force.as_ref().map(|in_force| &in_force.kept),
    })
}

/// Returns what `fleet verify --json` prints.
pub fn verification_document(found: &FleetVerification) -> Value {
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

/// Returns what `fleet status --json` prints.
pub fn shipping_document(member: &FleetMember, status: &ShippingStatus) -> Value {
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
