//! The arguments of `bundle`.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Subcommand, ValueEnum};
use hookrail_app::fleet::Enrolment;
use hookrail_fleet::manifest::Name;
use hookrail_fleet::places::BundleScope;
use hookrail_fleet::signature::PublicKey;
use hookrail_fleet::source::SourceLocation;
use hookrail_fleet::{ArchiveDigest, Timestamp};

#[derive(Debug, Args)]
pub(crate) struct BundleArgs {
    #[command(subcommand)]
    pub(crate) command: BundleCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum BundleCommand {
    /// Make a pair of keys, in the format of minisign
    ///
    /// Exit status: 0 made, 1 nothing was written.
    Keygen(BundleKeygenArgs),
    /// Pack a folder into a bundle: an archive and a manifest that is not signed yet
    ///
    /// The folder may hold settings.json, rules.toml, plugins/NAME, modules, scripts, and hooks in the formats of agents:
    /// claude/settings.json, gemini/settings.json, codex/hooks.json and codex/config.toml. The same files give the same archive.
    /// Content that the engine cannot use is refused.
    ///
    /// Exit status: 0 built, 1 nothing was built.
    Build(BundleBuildArgs),
    /// Sign the manifest of a bundle
    ///
    /// Exit status: 0 signed, 1 not.
    Sign(BundleSignArgs),
    /// Store a signed bundle on the servers of the fleet, and announce it to the machines of its channel
    ///
    /// Exit status: 0 published, 1 not.
    Publish(BundlePublishArgs),
    /// Verify a bundle as a machine would
    ///
    /// Exit status: 0 accepted, 1 refused, with the reason.
    Verify(BundleVerifyArgs),
    /// Show the manifest and the files of a bundle, signed or not
    ///
    /// Exit status: 0 shown, 1 the folder holds no whole bundle.
    Inspect(BundleInspectArgs),
    /// Show how two bundles differ
    ///
    /// Exit status: 0 compared, whether they differ or not, 1 failed.
    Diff(BundleDiffArgs),
    /// Fetch the newest bundle, verify it and put it in force
    ///
    /// For the system layer this needs root. A running server notices the switch.
    ///
    /// Exit status: 0 in force, up to date, or the rollout has not reached this machine, 1 refused or failed. What is in
    /// force stays in force then.
    Apply(BundleApplyArgs),
    /// Show which bundle is in force, and verify it once more
    ///
    /// Exit status: 0 current, or not enrolled, 1 no bundle, stale, expired or damaged.
    Status(BundleStatusArgs),
}

#[derive(Debug, Args)]
pub(crate) struct BundleKeygenArgs {
    /// Write NAME.key, which only this user can read, and NAME.pub
    #[arg(value_name = "NAME")]
    pub(crate) name: PathBuf,
    /// Store the secret key without a password, for a place that keeps secrets [default: ask for a password, or take it from
    /// HOOKRAIL_KEY_PASSWORD]
    #[arg(long)]
    pub(crate) no_password: bool,
}

#[derive(Debug, Args)]
pub(crate) struct BundleBuildArgs {
    /// The folder with the content
    #[arg(value_name = "DIR", required_unless_present = "archive", conflicts_with = "archive")]
    pub(crate) content: Option<PathBuf>,
    /// Publish an archive again that is in the folder `--out` already: a rollback
    #[arg(long, value_name = "DIGEST")]
    pub(crate) archive: Option<ArchiveDigest>,
    /// The folder that machines fetch from
    #[arg(long, value_name = "FOLDER")]
    pub(crate) out: PathBuf,
    /// The organisation whose machines the bundle is for
    #[arg(long, value_name = "NAME")]
    pub(crate) tenant: Name,
    /// The channel that machines follow
    #[arg(long, value_name = "NAME")]
    pub(crate) channel: Name,
    /// The version [default: one more than that of the manifest in the folder]
    #[arg(long, value_name = "N")]
    pub(crate) version: Option<u64>,
    /// When the bundle expires: a time such as 2027-01-01T00:00:00Z, or a duration such as 90d [default: never]
    #[arg(long, value_name = "TIME", value_parser = expiry)]
    pub(crate) expires: Option<Expiry>,
    /// The oldest hookrail that understands the content [default: this one]
    #[arg(long, value_name = "VERSION")]
    pub(crate) min_hookrail: Option<String>,
    /// The share of machines that get it, in percent
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u8).range(0..=100))]
    pub(crate) percent: u8,
    /// The text that decides which machines are the first ones [default: the digest of the archive]
    #[arg(long, value_name = "TEXT")]
    pub(crate) seed: Option<String>,
    /// Only try it out: its hooks run beside the bundle in force, are recorded, and have no effect
    #[arg(long)]
    pub(crate) shadow: bool,
    /// When the manifest was made [default: SOURCE_DATE_EPOCH, else now]
    #[arg(long, value_name = "TIME")]
    pub(crate) issued: Option<Timestamp>,
    /// Print one JSON document
    #[arg(long)]
    pub(crate) json: bool,
}

/// The moment in which a bundle expires.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Expiry {
    At(Timestamp),
    After(Duration),
}

fn expiry(text: &str) -> Result<Expiry, String> {
    if let Ok(at) = text.parse() {
        return Ok(Expiry::At(at));
    }
    let wrong = || "expected a time such as 2027-01-01T00:00:00Z, or a duration such as 90d".to_owned();
    hookrail_fleet::parse_duration(text).map(Expiry::After).ok_or_else(wrong)
}

#[derive(Debug, Args)]
pub(crate) struct BundleSignArgs {
    /// The folder of the bundle
    #[arg(value_name = "FOLDER")]
    pub(crate) folder: PathBuf,
    /// The file with the secret key; its password is asked for, or taken from HOOKRAIL_KEY_PASSWORD
    #[arg(long, value_name = "FILE")]
    pub(crate) key: PathBuf,
}

#[derive(Debug, Args)]
pub(crate) struct BundlePublishArgs {
    /// The folder of the bundle
    #[arg(value_name = "FOLDER")]
    pub(crate) folder: PathBuf,
    /// The file of the tenant's publisher
    #[arg(long, value_name = "FILE")]
    pub(crate) member: PathBuf,
    /// Print one JSON document
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct BundleVerifyArgs {
    /// The folder, https://HOST/PATH, or git+https://HOST/REPOSITORY#REF:FOLDER [default: the configured source]
    #[arg(value_name = "SOURCE", value_parser = source)]
    pub(crate) source: Option<SourceLocation>,
    /// Accept this public key, or the one in this file (repeatable) [default: the configured keys]
    #[arg(long = "key", value_name = "KEY|FILE", value_parser = public_key)]
    pub(crate) keys: Vec<PublicKey>,
    #[command(flatten)]
    pub(crate) scope: BundleScopeArgs,
    /// Print one JSON document
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct BundleInspectArgs {
    /// The folder of the bundle
    #[arg(value_name = "FOLDER")]
    pub(crate) folder: PathBuf,
    /// Print one JSON document
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct BundleDiffArgs {
    /// The folder of the old bundle
    #[arg(value_name = "OLD")]
    pub(crate) old: PathBuf,
    /// The folder of the new bundle
    #[arg(value_name = "NEW")]
    pub(crate) new: PathBuf,
    /// Print one JSON document
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct BundleApplyArgs {
    /// The folder, https://HOST/PATH, or git+https://HOST/REPOSITORY#REF:FOLDER [default: the configured source]
    #[arg(value_name = "SOURCE", value_parser = source)]
    pub(crate) source: Option<SourceLocation>,
    #[command(flatten)]
    pub(crate) scope: BundleScopeArgs,
    /// Print one JSON document
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct BundleStatusArgs {
    #[command(flatten)]
    pub(crate) scope: BundleScopeArgs,
    /// Print one JSON document
    #[arg(long)]
    pub(crate) json: bool,
}

/// The options that select an enrolment.
#[derive(Debug, Args)]
pub(crate) struct BundleScopeArgs {
    /// Whose layer the bundle is a source of [default: system for root, else user]
    #[arg(long, value_enum)]
    pub(crate) scope: Option<BundleScopeArg>,
    /// The directory that stands for `/` in /etc/hookrail and /var/lib/hookrail, for images and tests
    /// [default: HOOKRAIL_FLEET_ROOT]
    #[arg(long, value_name = "DIR")]
    pub(crate) root: Option<PathBuf>,
}

impl BundleScopeArgs {
    /// Returns the enrolment that the options select.
    pub(crate) fn enrolment(&self) -> Enrolment<'_> {
        Enrolment { scope: self.scope.map(BundleScope::from), root: self.root.as_deref() }
    }
}

/// The layers that a bundle can be a source of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum BundleScopeArg {
    /// The system layer, configured in /etc/hookrail/fleet.toml
    System,
    /// The layer of this user, configured in ~/.config/hookrail/fleet.toml
    User,
}

impl From<BundleScopeArg> for BundleScope {
    fn from(scope: BundleScopeArg) -> Self {
        match scope {
            BundleScopeArg::System => Self::System,
            BundleScopeArg::User => Self::User,
        }
    }
}

fn source(text: &str) -> Result<SourceLocation, String> {
    let parsed = text.parse::<SourceLocation>();
    match parsed {
        Err(_) if !text.contains("://") => {
            let folder = std::path::absolute(text).map_err(|error| error.to_string())?;
            Ok(SourceLocation::Folder(folder))
        }
        parsed => parsed.map_err(|error| error.to_string()),
    }
}

fn public_key(text: &str) -> Result<PublicKey, String> {
    match text.parse() {
        Ok(key) => Ok(key),
        Err(problem) => match std::fs::read_to_string(text) {
            Ok(text) => text.parse().map_err(|error: hookrail_fleet::signature::KeyProblem| error.to_string()),
            Err(error) => Err(format!("{problem}, and the file `{text}` cannot be read: {error}")),
        },
    }
}
