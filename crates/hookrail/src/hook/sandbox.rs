//! What the processes of a hook may do: the profile that its entry asks for, and the floors that others impose.
//!
//! Nothing here knows how a profile is written down, or how the system enforces one.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use hookrail_spawn::{Network, Readable, SandboxRules};
use serde_json::Value;

use crate::config::source::Authority;

/// What the processes of a hook may do. Paths are kept as they were written: relative ones are relative to the project, and `~/`
/// from the user's home directory.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct SandboxProfile {
    /// What they may read and execute.
    pub read: Readable,
    /// What they may write beside their private temporary folder.
    pub write: Vec<PathBuf>,
    /// Whether they may open sockets.
    pub network: Network,
}

impl SandboxProfile {
    /// The name of [`SandboxProfile::guard`].
    pub const GUARD: &str = "guard";

    /// The profile of a hook that looks and answers: it reads everything, writes its private temporary folder only, and has
    /// no network.
    #[must_use]
    pub fn guard() -> Self {
        Self { read: Readable::Everything, write: Vec::new(), network: Network::Denied }
    }

    /// The profile as it is written in JSON; two profiles that differ are written differently.
    #[must_use]
    pub fn to_json(&self) -> Value {
        if *self == Self::guard() {
            return Self::GUARD.into();
        }
        let texts = |paths: &[PathBuf]| paths.iter().map(|path| path.to_string_lossy().into()).collect();
        let read: Value = match &self.read {
            Readable::Everything => "all".into(),
            Readable::Only(paths) => Value::Array(texts(paths)),
        };
        let write = Value::Array(texts(&self.write));
        serde_json::json!({ "read": read, "write": write, "network": self.network == Network::Allowed })
    }

    /// Reads a profile as it is written in JSON; none for `"none"`.
    ///
    /// # Errors
    /// If it is not a profile. The caller decides what is used in its place, which must not allow more than `guard`.
    pub fn from_json(written: &Value) -> Result<Option<Self>, SandboxProblem> {
        let members = match written {
            Value::String(name) if name == "none" => return Ok(None),
            Value::String(name) if name == Self::GUARD => return Ok(Some(Self::guard())),
            Value::Object(members) => members,
            Value::String(other) => return Err(SandboxProblem::whole(format!("\"{other}\" is not a sandbox profile"))),
            _ => return Err(SandboxProblem::whole("a sandbox is \"none\", \"guard\" or an object".to_owned())),
        };
        let mut profile = Self::guard();
        for (key, value) in members {
            let problem = |message: &str| SandboxProblem { key: Some(key.clone()), message: message.to_owned() };
            match (key.as_str(), value) {
                ("read", Value::String(word)) if word == "all" => profile.read = Readable::Everything,
                ("read", list) => {
                    let paths = paths(list).ok_or_else(|| problem("`read` must be \"all\" or a list of paths"))?;
                    profile.read = Readable::Only(paths);
                }
                ("write", list) => {
                    profile.write = paths(list).ok_or_else(|| problem("`write` must be a list of paths"))?;
                }
                ("network", Value::Bool(true)) => profile.network = Network::Allowed,
                ("network", Value::Bool(false)) => profile.network = Network::Denied,
                ("network", _) => return Err(problem("`network` must be true or false")),
                (other, _) => return Err(problem(&format!("`{other}` is not a key of a sandbox"))),
            }
        }
        Ok(Some(profile))
    }

    /// The rules with real paths of this moment. A path that does not exist gives no right, and neither does a relative one
    /// that leads out of the project: a link in the project must not widen what was granted.
    pub(crate) fn rules(&self, project: &Path, home: Option<&Path>) -> SandboxRules {
        let real = |paths: &[PathBuf]| paths.iter().filter_map(|path| real_path(path, project, home)).collect();
        let read = match &self.read {
            Readable::Everything => Readable::Everything,
            Readable::Only(paths) => Readable::Only(real(paths)),
        };
        SandboxRules { read, write: real(&self.write), network: self.network }
    }
}

impl fmt::Display for SandboxProfile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if *self == Self::guard() {
            return f.write_str("guard (reads everything, writes a private temporary folder, no network)");
        }
        let listed =
            |paths: &[PathBuf]| paths.iter().map(|path| path.display().to_string()).collect::<Vec<_>>().join(", ");
        match &self.read {
            Readable::Everything => f.write_str("reads everything")?,
            Readable::Only(paths) if paths.is_empty() => f.write_str("reads the system's folders")?,
            Readable::Only(paths) => write!(f, "reads the system's folders and {}", listed(paths))?,
        }
        f.write_str(", writes a private temporary folder")?;
        if !self.write.is_empty() {
            write!(f, " and {}", listed(&self.write))?;
        }
        f.write_str(match self.network {
            Network::Denied => ", no network",
            Network::Allowed => ", network",
        })
    }
}

/// Why something is not a profile.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
#[non_exhaustive]
pub struct SandboxProblem {
    /// The key that is wrong; none if it is the whole value.
    pub key: Option<String>,
    /// What is wrong.
    pub message: String,
}

impl SandboxProblem {
    fn whole(message: String) -> Self {
        Self { key: None, message }
    }
}

/// Paths of a list: strings that a system could know.
fn paths(list: &Value) -> Option<Vec<PathBuf>> {
    let path =
        |value: &Value| value.as_str().filter(|text| !text.is_empty() && !text.contains('\0')).map(PathBuf::from);
    list.as_array()?.iter().map(path).collect()
}

/// What happens to a hook whose sandbox cannot be enforced in full.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SandboxRequirement {
    /// It runs with what can be enforced, and a diagnostic says what is missing.
    #[default]
    Reported,
    /// It is not started, which is a failure of the hook.
    Required,
}

/// Profiles that hooks of less authority cannot leave, whatever their entries say.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SandboxFloors {
    /// What the system layer imposes on hooks of the user and of projects.
    pub system: Vec<Arc<SandboxProfile>>,
    /// What the user imposes on hooks of projects.
    pub user: Vec<Arc<SandboxProfile>>,
}

impl SandboxFloors {
    /// The floors of hooks with that authority.
    pub(crate) fn floors_for(&self, authority: Authority) -> Arc<[Arc<SandboxProfile>]> {
        let system = self.system.iter().filter(|_| authority < Authority::System);
        let user = self.user.iter().filter(|_| authority < Authority::User);
        system.chain(user).cloned().collect()
    }
}

/// What both rules allow.
pub(crate) fn intersection(one: &SandboxRules, other: &SandboxRules) -> SandboxRules {
    let read = match (&one.read, &other.read) {
        (Readable::Everything, read) | (read, Readable::Everything) => read.clone(),
        (Readable::Only(one), Readable::Only(other)) => Readable::Only(common(one, other)),
    };
    let network = match (one.network, other.network) {
        (Network::Allowed, Network::Allowed) => Network::Allowed,
        (Network::Denied, _) | (_, Network::Denied) => Network::Denied,
    };
    SandboxRules { read, write: common(&one.write, &other.write), network }
}

/// The paths that lie in both lists: those of each that are beneath one of the other.
fn common(one: &[PathBuf], other: &[PathBuf]) -> Vec<PathBuf> {
    let beneath = |path: &&PathBuf, above: &[PathBuf]| above.iter().any(|above| path.starts_with(above));
    let mut paths: Vec<PathBuf> = one.iter().filter(|path| beneath(path, other)).cloned().collect();
    for path in other.iter().filter(|path| beneath(path, one)) {
        if !paths.contains(path) {
            paths.push(path.clone());
        }
    }
    paths
}

fn real_path(written: &Path, project: &Path, home: Option<&Path>) -> Option<PathBuf> {
    if let Ok(below) = written.strip_prefix("~") {
        return home?.join(below).canonicalize().ok();
    }
    if written.is_absolute() {
        return written.canonicalize().ok();
    }
    let (real, project) = (project.join(written).canonicalize().ok()?, project.canonicalize().ok()?);
    real.starts_with(project).then_some(real)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules(read: Readable, write: &[&str], network: Network) -> SandboxRules {
        SandboxRules { read, write: write.iter().map(PathBuf::from).collect(), network }
    }

    #[test]
    fn an_intersection_allows_what_both_allow() {
        let only = |paths: &[&str]| Readable::Only(paths.iter().map(PathBuf::from).collect());
        let wide = rules(only(&["/a", "/b/c"]), &["/p/out", "/q"], Network::Allowed);
        let narrow = rules(only(&["/a/x", "/b"]), &["/p", "/q/deep", "/quiet"], Network::Denied);
        let both = intersection(&wide, &narrow);
        assert_eq!(both, rules(only(&["/b/c", "/a/x"]), &["/p/out", "/q/deep"], Network::Denied));
        let everything = rules(Readable::Everything, &[], Network::Allowed);
        assert_eq!(intersection(&everything, &wide).read, wide.read);
        assert_eq!(intersection(&wide, &everything).write, Vec::<PathBuf>::new());
        assert_eq!(intersection(&everything, &everything).network, Network::Allowed);
    }

    #[cfg(unix)]
    #[test]
    fn relative_paths_stay_in_the_project_and_missing_ones_give_no_right() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        let (project, home) = (root.join("project"), root.join("home"));
        std::fs::create_dir_all(project.join("out")).unwrap();
        std::fs::create_dir_all(home.join("cache")).unwrap();
        std::os::unix::fs::symlink(&home, project.join("link")).unwrap();
        let of = |path: &str| {
            let profile = SandboxProfile { write: vec![path.into()], ..SandboxProfile::guard() };
            profile.rules(&project, Some(&home)).write
        };
        assert_eq!(of("out"), [project.join("out")]);
        assert_eq!(of("."), std::slice::from_ref(&project));
        assert_eq!(of("~/cache"), [home.join("cache")]);
        assert_eq!(of(&home.to_string_lossy()), std::slice::from_ref(&home));
        for nothing in ["missing", "link", "..", "link/cache", "~/missing", "/missing"] {
            assert!(of(nothing).is_empty(), "{nothing}");
        }
    }

    #[test]
    fn a_floor_reaches_hooks_of_less_authority() {
        let guard = Arc::new(SandboxProfile::guard());
        let floors = SandboxFloors { system: vec![Arc::clone(&guard)], user: vec![guard] };
        let count = |authority| floors.floors_for(authority).len();
        assert_eq!((count(Authority::System), count(Authority::User), count(Authority::Project)), (0, 1, 2));
    }
}
