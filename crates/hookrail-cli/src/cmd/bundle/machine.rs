//! The commands of a machine: verifying, applying, status.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use hookrail_app::failure::{Failure, Result};
use hookrail_app::text::counted;
use hookrail_fleet::config::FleetConfig;
use hookrail_fleet::install::{self, ApplyEnd};
use hookrail_fleet::places::{BundleScope, FleetPlaces};
use hookrail_fleet::status::{Condition, FleetStatus, read_status};
use hookrail_fleet::{BundleError, Timestamp, publish};
use serde_json::{Value, json};

use super::{failure, file_document, label, manifest_document, refused, trial};
use crate::args::{BundleApplyArgs, BundleScopeArg, BundleScopeArgs, BundleStatusArgs, BundleVerifyArgs};
use crate::cmd::exit::Exit;
use crate::output;
use crate::render::style::{BAD, CAREFUL, GOOD, paint};

/// The variable that names the directory which stands for `/`. The engine reads it too.
const ROOT: &str = "HOOKRAIL_FLEET_ROOT";

pub(super) fn verify(args: &BundleVerifyArgs) -> Result<Exit> {
    let verified = scratch().and_then(|scratch| {
        let config = match (&args.source, args.keys.is_empty()) {
            (Some(_), false) => None,
            _ => Some(places(&args.scope)?.read_configuration().map_err(|error| failure(&error))?),
        };
        let keys = config.as_ref().filter(|_| args.keys.is_empty()).map_or(&args.keys, |config| &config.keys);
        let Some(source) = args.source.as_ref().or(config.as_ref().map(|config| &config.source)) else {
            return Err(Failure::new("no source is named").hint("name a folder or an address"));
        };
        Ok(source
            .open(scratch.path(), config.as_ref())
            .map_err(BundleError::from)
            .and_then(|mut source| publish::verify(&mut *source, keys)))
    })?;
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

pub(super) fn apply(args: &BundleApplyArgs) -> Result<Exit> {
    let places = places(&args.scope)?;
    let scratch = scratch()?;
    let applied = places.read_configuration().and_then(|config| {
        let mut source = args.source.as_ref().unwrap_or(&config.source).open(scratch.path(), Some(&config))?;
        let check = |archive: &[u8], _: &_| trial::check_content(archive, trial::Trial::OfMachine);
        install::apply(&places, &config, &mut *source, Timestamp::now(), &check)
    });
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

pub(super) fn status(args: &BundleStatusArgs) -> Result<Exit> {
    let places = places(&args.scope)?;
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
        output::text(&status_text(&places, &status))?;
    }
    Ok(match status.condition {
        Condition::Current | Condition::NotEnrolled => Exit::Fine,
        Condition::Missing | Condition::Stale | Condition::Expired => Exit::Failed,
    })
}

/// The configuration, if there is one.
fn read_configuration(places: &FleetPlaces) -> std::result::Result<Option<FleetConfig>, BundleError> {
    match places.configuration.symlink_metadata() {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        _ => places.read_configuration().map(Some),
    }
}

fn status_document(places: &FleetPlaces, config: Option<&FleetConfig>, status: &FleetStatus) -> Value {
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

fn status_text(places: &FleetPlaces, status: &FleetStatus) -> String {
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

/// The places of the enrolment that the options select.
pub(in crate::cmd) fn places(args: &BundleScopeArgs) -> Result<FleetPlaces> {
    let named = std::env::var_os(ROOT).filter(|root| !root.is_empty()).map(PathBuf::from);
    let root = match &args.root {
        Some(root) => Some(std::path::absolute(root).map_err(|error| {
            Failure::new(format!("`{}` cannot be used: {error}", root.display())).hint("give an absolute path")
        })?),
        None => named,
    };
    let by_user = if is_root() || root.is_some() { BundleScope::System } else { BundleScope::User };
    let scope = match args.scope {
        Some(BundleScopeArg::System) => BundleScope::System,
        Some(BundleScopeArg::User) => BundleScope::User,
        None => by_user,
    };
    let places = match scope {
        BundleScope::System => FleetPlaces::system(root.as_deref().unwrap_or(Path::new("/"))),
        BundleScope::User => {
            let folder = |variable: &str, inside: &str| {
                let named = std::env::var_os(variable).map(PathBuf::from).filter(|path| path.is_absolute());
                named.or_else(|| Some(hookrail_app::folders::home()?.join(inside)))
            };
            let folders = folder("XDG_CONFIG_HOME", ".config").zip(folder("XDG_STATE_HOME", ".local/state"));
            let Some((configuration, state)) = folders else {
                return Err(Failure::new("there is no place for bundles: `HOME` is not set")
                    .hint("set `HOME` to your home directory"));
            };
            FleetPlaces::user(&configuration, &state)
        }
    };
    places.map_err(|problem| failure(&problem.into()))
}

#[cfg(unix)]
fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

#[cfg(not(unix))]
fn is_root() -> bool {
    false
}

pub(in crate::cmd) fn scratch() -> Result<tempfile::TempDir> {
    tempfile::Builder::new().prefix("hookrail-bundle-").tempdir().map_err(|error| {
        Failure::new(format!("no temporary folder can be made: {error}"))
            .hint("check the space below the temporary folder")
    })
}
