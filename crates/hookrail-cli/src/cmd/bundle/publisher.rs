//! The publisher's commands: keys, building, signing, looking at bundles.

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::Path;

use hookrail_app::failure::{Failure, Result};
use hookrail_app::text::counted;
use hookrail_app::text::one_line;
use hookrail_fleet::announce::{self, PublishError};
use hookrail_fleet::archive::{self, ArchiveLimits};
use hookrail_fleet::nats::{FleetMember, ReconnectPace};
use hookrail_fleet::publish::{self, Content, NewManifest, PackedFileChange};
use hookrail_fleet::signature::{self, Password};
use hookrail_fleet::{BundleError, Timestamp};
use serde_json::json;

use super::{failure, file_document, label, manifest_document, manifest_lines, refused, trial};
use crate::args::{
    BundleBuildArgs, BundleDiffArgs, BundleInspectArgs, BundleKeygenArgs, BundlePublishArgs, BundleSignArgs, Expiry,
};
use crate::cmd::exit::Exit;
use crate::output;
use crate::render::style::{BAD, CAREFUL, GOOD, QUIET, paint};

/// The variable with the password of a secret key, for programs.
const PASSWORD: &str = "HOOKRAIL_KEY_PASSWORD";

pub(super) fn keygen(args: &BundleKeygenArgs) -> Result<Exit> {
    let path = |ending: &str| {
        let mut name = args.name.clone().into_os_string();
        name.push(ending);
        std::path::PathBuf::from(name)
    };
    let (secret, public) = (path(".key"), path(".pub"));
    if let Some(taken) = [&secret, &public].into_iter().find(|path| path.symlink_metadata().is_ok()) {
        return Err(Failure::new(format!("`{}` exists already", taken.display())).hint("choose another name"));
    }
    let password = if args.no_password { Password::None } else { password() };
    let keys = signature::generate(password).map_err(|problem| failure(&problem.into()))?;
    write_new(&secret, &keys.secret, 0o600)?;
    write_new(&public, &keys.public, 0o644)?;
    let shown = |path: &Path| one_line(&path.display().to_string());
    output::text(&format!(
        "secret key: {}\npublic key: {}\nkeys = [\"{}\"]\n",
        shown(&secret),
        shown(&public),
        keys.key
    ))?;
    Ok(Exit::Fine)
}

fn password() -> Password {
    match std::env::var(PASSWORD) {
        Ok(text) if !text.is_empty() => Password::Text(text),
        _ => Password::Asked,
    }
}

fn write_new(path: &Path, text: &str, mode: u32) -> Result<()> {
    let mut options = std::fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, mode);
    #[cfg(not(unix))]
    let _ = mode;
    let written = options.open(path).and_then(|mut file| file.write_all(text.as_bytes()));
    written.map_err(|error| {
        Failure::new(format!("`{}` cannot be written: {error}", path.display()))
            .hint("give a name in a folder that exists and that you can write to")
    })
}

pub(super) fn build(args: &BundleBuildArgs) -> Result<Exit> {
    match build_bundle(args) {
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

fn build_bundle(
    args: &BundleBuildArgs,
) -> std::result::Result<(hookrail_fleet::manifest::Manifest, usize), BundleError> {
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
    match (&args.content, args.archive) {
        (Some(folder), _) => {
            let packed = archive::pack(folder, &ArchiveLimits::DEFAULT)?;
            trial::check_content(&packed.bytes, trial::Trial::OfPublisher(folder)).map_err(BundleError::Content)?;
            Ok((publish::write_bundle(&args.out, &Content::Packed(&packed), new)?, packed.files.len()))
        }
        (None, Some(digest)) => {
            let manifest = publish::write_bundle(&args.out, &Content::Existing(digest), new)?;
            let (_, files) = publish::inspect(&args.out)?;
            Ok((manifest, files.len()))
        }
        (None, None) => Err(archive::ArchiveError::Empty.into()),
    }
}

/// The time that reproducible builds agree on.
fn source_date() -> Option<Timestamp> {
    std::env::var("SOURCE_DATE_EPOCH").ok()?.parse().ok().map(Timestamp::from_seconds)
}

pub(super) fn sign(args: &BundleSignArgs) -> Result<Exit> {
    let secret = std::fs::read_to_string(&args.key).map_err(|error| {
        Failure::new(format!("the secret key `{}` cannot be read: {error}", args.key.display()))
            .hint("`hookrail bundle keygen NAME` makes one")
    })?;
    let manifest = publish::sign(&args.folder, &secret, password()).map_err(|error| failure(&error))?;
    output::text(&format!("signed: {}\n", label(&manifest)))?;
    Ok(Exit::Fine)
}

pub(super) fn publish(args: &BundlePublishArgs) -> Result<Exit> {
    let member = FleetMember::read(&args.member).map_err(|error| failure(&error))?;
    let published = hookrail_app::runtime::runtime()?.block_on(async {
        let connection = member.connect(ReconnectPace::AtOnce).await?;
        announce::publish_bundle(&member, &connection, &args.folder).await
    });
    let manifest = published.map_err(|error| match &error {
        PublishError::Bundle(error) => failure(error),
        PublishError::NotSigned => Failure::new(error.to_string()).hint("run `hookrail bundle sign FOLDER --key FILE`"),
        PublishError::NotHigher { newest, .. } | PublishError::Lost { stored: newest, .. } => {
            let next = newest.saturating_add(1);
            Failure::new(error.to_string()).hint(format!(
                "nothing has changed; compare with what was published, then build version {next} (`--version {next}`), sign and publish it"
            ))
        }
        PublishError::Undecided { .. } => {
            Failure::new(error.to_string()).hint("publish it again once a server answers; that says which it is")
        }
        PublishError::OldFormLeft { .. } => Failure::new(error.to_string()).hint("the next publication tries it again"),
        PublishError::Nats(error) => super::super::fleet::nats_failure(error),
        _ => Failure::new(error.to_string()),
    })?;
    if args.json {
        output::json(&json!({"end": "published", "manifest": manifest_document(&manifest)}).into())?;
    } else {
        output::text(&format!("published: {}\n", label(&manifest)))?;
    }
    Ok(Exit::Fine)
}

pub(super) fn inspect(args: &BundleInspectArgs) -> Result<Exit> {
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
    let mut text = String::new();
    for (name, value) in manifest_lines(&manifest) {
        let _ = writeln!(text, "{name:9} {value}");
    }
    let signed = if is_signed { "yes, not verified here" } else { "no" };
    let _ = writeln!(text, "{:9} {signed}\n{}:", "signed", counted(files.len(), "file"));
    for file in &files {
        let mode = if file.executable { "755" } else { "644" };
        let _ = writeln!(text, "  {} {:>8}  {}", paint(QUIET, mode), file.size, one_line(&file.path));
    }
    output::text(&text)?;
    Ok(Exit::Fine)
}

pub(super) fn diff(args: &BundleDiffArgs) -> Result<Exit> {
    let compared = publish::inspect(&args.old).and_then(|old| Ok((old, publish::inspect(&args.new)?)));
    let ((old, old_files), (new, new_files)) = match compared {
        Ok(compared) => compared,
        Err(error) => return refused(&error, args.json),
    };
    let changes = publish::compare(&old_files, &new_files);
    if args.json {
        let changes: Vec<_> = changes
            .iter()
            .map(|change| {
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
            })
            .collect();
        let document = json!({"old": manifest_document(&old), "new": manifest_document(&new), "files": changes});
        output::json(&document.into())?;
        return Ok(Exit::Fine);
    }
    let mut text = String::new();
    for ((name, old), (_, new)) in manifest_lines(&old).into_iter().zip(manifest_lines(&new)) {
        if old != new {
            let _ = writeln!(text, "{name:9} {old} -> {new}");
        }
    }
    for change in &changes {
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
    output::text(&text)?;
    Ok(Exit::Fine)
}
