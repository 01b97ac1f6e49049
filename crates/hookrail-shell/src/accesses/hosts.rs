//! Hosts as words of a line name them.

use crate::facts::NetworkHost;
use crate::resolve::{HOLE, shown};

/// Returns the host of a URL, or of `user@host:port`.
pub(crate) fn host_of(text: &str) -> NetworkHost {
    // Clients take any number of slashes behind these.
    let known = ["http:/", "https:/", "ftp:/"].iter().find_map(|scheme| text.strip_prefix(scheme));
    let rest = match known {
        Some(rest) => rest.trim_start_matches('/'),
        None => text.split_once("://").map_or(text, |(_, rest)| rest),
    };
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    let host = match host.strip_prefix('[') {
        Some(address) => address.split(']').next().unwrap_or_default(),
        None => host.split(':').next().unwrap_or_default(),
    };
    named(host)
}

/// Returns a host by its name, as every way to write it means it.
pub(crate) fn named(host: &str) -> NetworkHost {
    match host.trim_end_matches('.') {
        "" => NetworkHost::Unknown,
        // Some clients have patterns of their own.
        host if host.contains([HOLE, '{', '[', '%']) => NetworkHost::Unknown,
        host => NetworkHost::Name(shown(host).to_lowercase()),
    }
}

/// Returns the host of `host:path` and of URLs of other machines.
pub(crate) fn remote_host(text: &str) -> Option<NetworkHost> {
    if text.contains("://") {
        return (!text.starts_with("file://")).then(|| host_of(text));
    }
    let (head, _) = text.split_once(':')?;
    (!head.contains('/') && !head.is_empty()).then(|| host_of(head))
}
