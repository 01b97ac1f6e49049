//! `hookrail bundle`: making, signing, verifying and installing bundles. What a bundle is and when it is accepted is decided
//! in `hookrail-fleet`; here is what people and programs see of it.

pub(super) mod machine;
mod publisher;
pub(super) mod trial;

use hookrail_app::failure::{Failure, Result};
use hookrail_app::text::one_line;
use hookrail_fleet::BundleError;
use hookrail_fleet::archive::PackedFile;
use hookrail_fleet::manifest::Manifest;
use serde_json::{Value, json};

use crate::args::{BundleArgs, BundleCommand};
use crate::cmd::exit::Exit;
use crate::output;

pub(crate) fn run(args: &BundleArgs) -> Result<Exit> {
    match &args.command {
        BundleCommand::Keygen(args) => publisher::keygen(args),
        BundleCommand::Build(args) => publisher::build(args),
        BundleCommand::Sign(args) => publisher::sign(args),
        BundleCommand::Publish(args) => publisher::publish(args),
        BundleCommand::Inspect(args) => publisher::inspect(args),
        BundleCommand::Diff(args) => publisher::diff(args),
        BundleCommand::Verify(args) => machine::verify(args),
        BundleCommand::Apply(args) => machine::apply(args),
        BundleCommand::Status(args) => machine::status(args),
    }
}

/// Turns an error into a failure with advice.
pub(super) fn failure(error: &BundleError) -> Failure {
    let failure = Failure::new(error.to_string());
    match error {
        BundleError::BadSignature | BundleError::WrongDigest { .. } | BundleError::WrongSize { .. } => {
            failure.hint("the bundle was changed, or is being published at this moment; nothing was put in force")
        }
        BundleError::UnknownKey(_) => failure.hint("add the public key to `keys` of the configuration if you trust it"),
        BundleError::OlderVersion { .. } | BundleError::VersionReused(_) => {
            failure.hint("publish a higher version; a rollback is one that names the old archive")
        }
        BundleError::Expired(_) => failure.hint("build and sign the bundle again"),
        BundleError::HookrailTooOld { .. } => failure.hint("install a newer hookrail on this machine"),
        BundleError::Configuration { .. } => failure.hint("`hookrail docs fleet` describes the configuration"),
        BundleError::State { .. } => failure.hint("remove the file to begin anew; until then events are denied"),
        BundleError::Content(_) | BundleError::Archive(_) => {
            failure.hint("correct the content of the bundle and build it again")
        }
        _ => failure,
    }
}

/// Reports a refusal: as a document on standard output, or as a failure.
fn refused(error: &BundleError, as_json: bool) -> Result<Exit> {
    if !as_json {
        return Err(failure(error));
    }
    output::json(&json!({"end": "refused", "reason": error.reason(), "message": error.to_string()}).into())?;
    Ok(Exit::Failed)
}

pub(super) fn manifest_document(manifest: &Manifest) -> Value {
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

fn file_document(file: &PackedFile) -> Value {
    json!({"path": file.path, "size": file.size, "executable": file.executable, "digest": file.digest})
}

/// Names a bundle in a sentence.
pub(super) fn label(manifest: &Manifest) -> String {
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
