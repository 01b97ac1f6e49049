//! `hookrail bundle`: making, signing, verifying and installing bundles.

use std::path::Path;

use hookrail_app::failure::{Failure, Result};
use hookrail_app::fleet::{
    BundleContent, apply_bundle, build_bundle, bundle_failure, change_document, file_document, manifest_document,
    places, publish_failure, read_configuration, status_document, verify_bundle, write_keys,
};
use hookrail_app::runtime::runtime;
use hookrail_app::text::{counted, one_line};
use hookrail_fleet::announce;
use hookrail_fleet::archive::ArchiveError;
use hookrail_fleet::install::ApplyEnd;
use hookrail_fleet::manifest::Manifest;
use hookrail_fleet::nats::{FleetMember, ReconnectPace};
use hookrail_fleet::publish::{self, NewManifest};
use hookrail_fleet::signature::{self, Password};
use hookrail_fleet::status::{Condition, read_status};
use hookrail_fleet::{BundleError, Timestamp};
use serde_json::json;

use crate::args::{
    BundleApplyArgs, BundleArgs, BundleBuildArgs, BundleCommand, BundleDiffArgs, BundleInspectArgs, BundleKeygenArgs,
    BundlePublishArgs, BundleSignArgs, BundleStatusArgs, BundleVerifyArgs, Expiry,
};
use crate::cmd::exit::Exit;
use crate::output;
use crate::render::fleet::{bundle, bundle_changes, bundle_status, label};
use crate::render::style::{GOOD, paint};

/// The variable with the password of a secret key, for programs.
const PASSWORD: &str = "HOOKRAIL_KEY_PASSWORD";

pub(crate) fn run(args: &BundleArgs) -> Result<Exit> {
    match &args.command {
        BundleCommand::Keygen(args) => keygen(args),
        BundleCommand::Build(args) => build(args),
        BundleCommand::Sign(args) => sign(args),
        BundleCommand::Publish(args) => publish(args),
        BundleCommand::Inspect(args) => inspect(args),
        BundleCommand::Diff(args) => diff(args),
        BundleCommand::Verify(args) => verify(args),
        BundleCommand::Apply(args) => apply(args),
        BundleCommand::Status(args) => status(args),
    }
}

/// Reports a refusal: as a document on standard output, or as a failure.
fn refused(error: &BundleError, as_json: bool) -> Result<Exit> {
    if !as_json {
        return Err(bundle_failure(error));
    }
    output::json(&json!({"end": "refused", "reason": error.reason(), "message": error.to_string()}).into())?;
    Ok(Exit::Failed)
}

fn keygen(args: &BundleKeygenArgs) -> Result<Exit> {
    let password = if args.no_password { Password::None } else { password() };
    let keys = write_keys(&args.name, password)?;
    let shown = |path: &Path| one_line(&path.display().to_string());
    let (secret, public) = (shown(&keys.secret), shown(&keys.public));
    output::text(&format!("secret key: {secret}\npublic key: {public}\nkeys = [\"{}\"]\n", keys.key))?;
    Ok(Exit::Fine)
}

fn password() -> Password {
    match std::env::var(PASSWORD) {
        Ok(text) if !text.is_empty() => Password::Text(text),
        _ => Password::Asked,
    }
}

fn build(args: &BundleBuildArgs) -> Result<Exit> {
    match new_bundle(args) {
        Ok((manifest, files)) => {
            if args.json {
                let document = json!({"end": "built", "manifest": manifest_document(&manifest), "files": files});
                output::json(&document.into())?;
            } else {
                let out = one_line(&args.out.display().to_string());
                output::text(&format!(
                    "built: {}\ndigest: {}\nnext: hookrail bundle sign {out} --key FILE\n",
                    label(&manifest),
                    manifest.digest
                ))?;
            }
            Ok(Exit::Fine)
        }
        Err(error) => refused(&error, args.json),
    }
}

fn new_bundle(args: &BundleBuildArgs) -> std::result::Result<(Manifest, usize), BundleError> {
    let issued = args.issued.or_else(source_date).unwrap_or_else(Timestamp::now);
    let expires = args.expires.map(|expiry| match expiry {
        Expiry::At(at) => at,
        Expiry::After(duration) => issued.after(duration),
    });
    let oldest = args.min_hookrail.as_deref().unwrap_or(env!("CARGO_PKG_VERSION"));
    let new = NewManifest {
        tenant: args.tenant.clone(),
        channel: args.channel.clone(),
        version: args.version,
        min_hookrail: hookrail_fleet::parse_version(oldest)?,
        issued,
        expires,
        percent: args.percent,
        seed: args.seed.clone(),
        shadow: args.shadow,
    };
    let content = match (&args.content, args.archive) {
        (Some(folder), _) => BundleContent::Folder(folder),
        (None, Some(digest)) => BundleContent::Archive(digest),
        (None, None) => return Err(ArchiveError::Empty.into()),
    };
    build_bundle(&args.out, &content, new)
}

/// The time that reproducible builds agree on.
fn source_date() -> Option<Timestamp> {
    std::env::var("SOURCE_DATE_EPOCH").ok()?.parse().ok().map(Timestamp::from_seconds)
}

fn sign(args: &BundleSignArgs) -> Result<Exit> {
    let secret = std::fs::read_to_string(&args.key).map_err(|error| {
        Failure::new(format!("the secret key `{}` cannot be read: {error}", args.key.display()))
            .hint("`hookrail bundle keygen NAME` makes one")
    })?;
    let manifest = publish::sign(&args.folder, &secret, password()).map_err(|error| bundle_failure(&error))?;
    output::text(&format!("signed: {}\n", label(&manifest)))?;
    Ok(Exit::Fine)
}

fn publish(args: &BundlePublishArgs) -> Result<Exit> {
    let member = FleetMember::read(&args.member).map_err(|error| bundle_failure(&error))?;
    let published = runtime()?.block_on(async {
        let connection = member.connect(ReconnectPace::AtOnce).await?;
        announce::publish_bundle(&member, &connection, &args.folder).await
    });
    let manifest = published.map_err(|error| publish_failure(&error))?;
    if args.json {
        output::json(&json!({"end": "published", "manifest": manifest_document(&manifest)}).into())?;
    } else {
        output::text(&format!("published: {}\n", label(&manifest)))?;
    }
    Ok(Exit::Fine)
}

fn inspect(args: &BundleInspectArgs) -> Result<Exit> {
    let (manifest, files) = match publish::inspect(&args.folder) {
        Ok(found) => found,
        Err(error) => return refused(&error, args.json),
    };
    let is_signed = signature::signature_path(&args.folder.join(hookrail_fleet::source::MANIFEST)).exists();
    if args.json {
        let files: Vec<_> = files.iter().map(file_document).collect();
        let document = json!({"manifest": manifest_document(&manifest), "signed": is_signed, "files": files});
        output::json(&document.into())?;
        return Ok(Exit::Fine);
    }
    output::text(&bundle(&manifest, is_signed, &files))?;
    Ok(Exit::Fine)
}

fn diff(args: &BundleDiffArgs) -> Result<Exit> {
    let compared = publish::inspect(&args.old).and_then(|old| Ok((old, publish::inspect(&args.new)?)));
    let ((old, old_files), (new, new_files)) = match compared {
        Ok(compared) => compared,
        Err(error) => return refused(&error, args.json),
    };
    let changes = publish::compare(&old_files, &new_files);
    if args.json {
        let changes: Vec<_> = changes.iter().map(change_document).collect();
        let document = json!({"old": manifest_document(&old), "new": manifest_document(&new), "files": changes});
        output::json(&document.into())?;
        return Ok(Exit::Fine);
    }
    output::text(&bundle_changes(&old, &new, &changes))?;
    Ok(Exit::Fine)
}

fn verify(args: &BundleVerifyArgs) -> Result<Exit> {
    let verified = verify_bundle(args.source.as_ref(), &args.keys, args.scope.enrolment())?;
    let (manifest, files) = match verified {
        Ok(verified) => verified,
        Err(error) => return refused(&error, args.json),
    };
    if args.json {
        let files: Vec<_> = files.iter().map(file_document).collect();
        let document = json!({"end": "accepted", "manifest": manifest_document(&manifest), "files": files});
        output::json(&document.into())?;
    } else {
        let count = counted(files.len(), "file");
        output::text(&format!("{}: {}, {count}\n", paint(GOOD, "accepted"), label(&manifest)))?;
    }
    Ok(Exit::Fine)
}

fn apply(args: &BundleApplyArgs) -> Result<Exit> {
    let places = places(args.scope.enrolment())?;
    let applied = apply_bundle(&places, args.source.as_ref());
    let end = match applied {
        Ok(end) => end,
        Err(error) => return refused(&error, args.json),
    };
    let (name, manifest, sentence) = match &end {
        ApplyEnd::Switched { from, to } => {
            let before = from.map_or_else(|| "no bundle".to_owned(), |from| format!("version {from}"));
            ("switched", to, format!("{}: {}; before: {before}", paint(GOOD, "in force"), label(to)))
        }
        ApplyEnd::UpToDate(manifest) => ("up-to-date", manifest, format!("up to date: {}", label(manifest))),
        ApplyEnd::NotReached(manifest) => {
            let percent = manifest.rollout.percent;
            ("not-reached", manifest, format!("not yet: {} is for {percent} % of the machines", label(manifest)))
        }
    };
    if args.json {
        let from = if let ApplyEnd::Switched { from, .. } = &end { *from } else { None };
        let document = json!({"end": name, "from": from, "manifest": manifest_document(manifest)});
        output::json(&document.into())?;
    } else {
        output::text(&format!("{sentence}\n"))?;
    }
    Ok(Exit::Fine)
}

fn status(args: &BundleStatusArgs) -> Result<Exit> {
    let places = places(args.scope.enrolment())?;
    let status = read_configuration(&places).and_then(|config| {
        let status = read_status(&places, config.as_ref(), Timestamp::now())?;
        Ok((config, status))
    });
    let (config, status) = match status {
        Ok(status) => status,
        Err(error) => return refused(&error, args.json),
    };
    if args.json {
        output::json(&status_document(&places, config.as_ref(), &status).into())?;
    } else {
        output::text(&bundle_status(&places, &status))?;
    }
    Ok(match status.condition {
        Condition::Current | Condition::NotEnrolled => Exit::Fine,
        Condition::Missing | Condition::Stale | Condition::Expired => Exit::Failed,
    })
}
