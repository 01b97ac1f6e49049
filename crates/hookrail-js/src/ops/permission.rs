//! Checks what a module may do, before anything is done. Paths are checked after all links are resolved.

use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};

use hookrail::module::{CapabilityScope, ModuleContext};

use super::OpError;
use crate::shared::Shared;

/// The most links that are followed, as in the Linux kernel.
const MAX_LINKS: usize = 40;

/// The most refusals that one call reports.
const MOST_REFUSALS: usize = 16;

/// The most files in hook directories that are compared with a file that has several names.
const MAX_COMPARED_FILES: usize = 20_000;

/// What an operation does if the last part of a path is a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FinalLink {
    /// It acts on what the link leads to.
    Followed,
    /// It acts on the link itself.
    Name,
}

/// How much an operation changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ChangeExtent {
    /// The content of one file, or one new directory.
    One,
    /// Everything below the path, which is moved, replaced, removed or made accessible.
    Tree,
}

/// Refuses to start a process if the module does not have the capability.
pub(super) fn require_run(shared: &Shared, program: &str) -> Result<(), OpError> {
    if shared.world().capabilities.run {
        return Ok(());
    }
    Err(missing(shared, &format!("running `{program}`"), "run"))
}

/// Refuses to read what the module may not read. Returns the resolved path.
pub(crate) fn require_read(shared: &Shared, path: &Path, last: FinalLink) -> Result<PathBuf, OpError> {
    let what = || format!("reading `{}`", path.display());
    let world = shared.world();
    match &world.capabilities.read {
        CapabilityScope::Everything => return Ok(path.to_owned()),
        CapabilityScope::Nothing => return Err(missing(shared, &what(), "read")),
        CapabilityScope::Within(_) => {}
    }
    let real = real(path, last).map_err(|error| OpError::io(&error, "open", path))?;
    if allows(&world, &world.capabilities.read, &real) {
        return Ok(real);
    }
    Err(outside(shared, &what(), "read"))
}

/// Refuses to change what the module may not change, and always to change hooks and their configuration. Returns the
/// resolved path.
pub(super) fn require_write(
    shared: &Shared,
    path: &Path,
    last: FinalLink,
    change: ChangeExtent,
) -> Result<PathBuf, OpError> {
    let what = || format!("changing `{}`", path.display());
    let world = shared.world();
    if !world.capabilities.write.is_given() {
        return Err(missing(shared, &what(), "write"));
    }
    let real = real(path, last).map_err(|error| OpError::io(&error, "open", path))?;
    if is_protected(&world, &real, change) {
        let message = format!("{} is refused: it decides which hooks run, and no module changes that", what());
        return Err(refused(shared, message));
    }
    if allows(&world, &world.capabilities.write, &real) {
        return Ok(real);
    }
    Err(outside(shared, &what(), "write"))
}

/// Refuses requests to hosts that the module may not reach. Returns whether `curl` may follow redirections by itself.
pub(super) fn require_network(shared: &Shared, url: &str) -> Result<RedirectPolicy, OpError> {
    let what = || format!("fetch(\"{url}\")");
    let network = shared.world().capabilities.network.clone();
    match &network {
        CapabilityScope::Everything => return Ok(RedirectPolicy::Free),
        CapabilityScope::Nothing => return Err(missing(shared, &what(), "network")),
        CapabilityScope::Within(_) => {}
    }
    let (host, port) = host_of(url).ok_or_else(|| outside(shared, &what(), "network"))?;
    if network.allows_host(host, port) {
        return Ok(RedirectPolicy::Refused);
    }
    Err(outside(shared, &what(), "network"))
}

/// Whether redirections of a request are followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RedirectPolicy {
    /// They may lead to any host.
    Free,
    /// They could lead to a host that was not granted, so they are not followed.
    Refused,
}

/// The host and port of a URL, if every URL parser reads it in the same way: without a user, without escapes, in ASCII
/// only. A URL that parsers disagree about could pass this check and lead `curl` elsewhere.
fn host_of(url: &str) -> Option<(&str, u16)> {
    let (rest, usual) = match (url.strip_prefix("https://"), url.strip_prefix("http://")) {
        (Some(rest), _) => (rest, 443),
        (None, Some(rest)) => (rest, 80),
        (None, None) => return None,
    };
    let authority = rest.split(['/', '?', '#']).next()?;
    let (host, port) = match authority.strip_prefix('[') {
        Some(address) => {
            let end = address.find(']')? + 2;
            (authority.get(..end)?, authority.get(end..)?.strip_prefix(':'))
        }
        None => authority.split_once(':').map_or((authority, None), |(host, port)| (host, Some(port))),
    };
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b".-_[]:".contains(&byte);
    let port = port.map_or(Some(usual), |port| port.parse().ok())?;
    (!host.is_empty() && authority.bytes().all(is_plain)).then_some((host, port))
}

fn missing(shared: &Shared, what: &str, name: &str) -> OpError {
    refused(shared, format!("{what} is refused: the module has no `{name}` capability here"))
}

fn outside(shared: &Shared, what: &str, name: &str) -> OpError {
    refused(shared, format!("{what} is refused: the module's `{name}` capability does not cover it"))
}

fn refused(shared: &Shared, message: String) -> OpError {
    let refusals = &mut shared.state().refusals;
    if refusals.len() < MOST_REFUSALS {
        refusals.push(message.clone());
    }
    OpError::new(message).code("EACCES")
}

fn allows(world: &ModuleContext, scope: &CapabilityScope, real: &Path) -> bool {
    let home = world.environment.get("HOME").map(Path::new).filter(|home| home.is_absolute());
    scope.allows_path(real, &world.project, home)
}

/// Resolves a path as the kernel does. Its last part need not exist: a dangling link is followed, because writing to it
/// creates the file that it names.
fn real(path: &Path, last: FinalLink) -> io::Result<PathBuf> {
    let ends_in_name = matches!(path.components().next_back(), Some(Component::Normal(_)));
    match (last, path.parent(), path.file_name()) {
        (FinalLink::Name, Some(folder), Some(name)) if ends_in_name => Ok(followed(folder, MAX_LINKS)?.join(name)),
        _ => followed(path, MAX_LINKS),
    }
}

fn followed(path: &Path, links: usize) -> io::Result<PathBuf> {
    match path.canonicalize() {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        known => return known,
    }
    let absent = || io::Error::from(io::ErrorKind::NotFound);
    let (Some(folder), Some(Component::Normal(name))) = (path.parent(), path.components().next_back()) else {
        // `..` after a directory that does not exist cannot be resolved.
        return Err(absent());
    };
    let folder = followed(folder, links)?;
    match fs::read_link(folder.join(name)) {
        Ok(target) => followed(&folder.join(target), links.checked_sub(1).ok_or_else(absent)?),
        Err(_) => Ok(folder.join(name)),
    }
}

/// Whether a change would reach what decides which hooks run.
fn is_protected(world: &ModuleContext, real: &Path, change: ChangeExtent) -> bool {
    let places = &world.protected;
    places.protects(real) || (change == ChangeExtent::Tree && places.protects_below(real)) || is_other_name(world, real)
}

/// Whether the file is also a file of a hook directory, by a hard link. A file with one name is not.
#[cfg(unix)]
fn is_other_name(world: &ModuleContext, real: &Path) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    let Ok(about) = fs::symlink_metadata(real) else { return false };
    if !about.is_file() || about.nlink() < 2 {
        return false;
    }
    let is_same = |other: &fs::Metadata| (other.dev(), other.ino()) == (about.dev(), about.ino());
    let mut waiting: Vec<PathBuf> = world.protected.paths();
    let mut compared = 0;
    while let Some(place) = waiting.pop() {
        compared += 1;
        if compared > MAX_COMPARED_FILES {
            // There are too many files to compare, so the file may be a hook and is not written.
            return true;
        }
        match fs::symlink_metadata(&place) {
            Ok(found) if found.is_dir() => {
                waiting.extend(fs::read_dir(&place).into_iter().flatten().flatten().map(|entry| entry.path()));
            }
            Ok(found) if is_same(&found) => return true,
            _ => {}
        }
    }
    false
}

#[cfg(not(unix))]
fn is_other_name(_world: &ModuleContext, _real: &Path) -> bool {
    false
}

#[cfg(test)]
mod tests {
    use super::host_of;

    #[test]
    fn only_plain_addresses_have_a_host() {
        assert_eq!(host_of("https://api.example.com/x?y#z"), Some(("api.example.com", 443)));
        assert_eq!(host_of("http://localhost:8080"), Some(("localhost", 8080)));
        assert_eq!(host_of("http://[::1]:81/"), Some(("[::1]", 81)));
        assert_eq!(host_of("http://[::1]/"), Some(("[::1]", 80)));
        for url in [
            "http://good@evil/",
            "http://good\\@evil/",
            "http://good%2eevil/",
            "http:///x",
            "http://a:b/",
            "http://good\tevil/",
            "ftp://x/",
            "http://b\u{fc}cher/",
            "http://[::1/",
        ] {
            assert_eq!(host_of(url), None, "{url}");
        }
    }
}
