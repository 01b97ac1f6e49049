//! The client of remote hooks, in programs with the feature `fleet`.

use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use hookrail::Builder;
use hookrail_fleet::ask::{AskClient, MemberPlaces, find_member};
use hookrail_spawn::UserFolders;

/// The variable that names one more directory which stands for `/`.
const ROOT: &str = "HOOKRAIL_FLEET_ROOT";

/// Registers the client if the machine or the user has configured servers. All hook systems of a process share one, and with it
/// one connection.
pub fn with_client(builder: Builder) -> Builder {
    static CLIENT: OnceLock<Option<Arc<AskClient>>> = OnceLock::new();
    let client = CLIENT.get_or_init(|| match find_member(&places()) {
        Ok(member) => member.map(|member| Arc::new(AskClient::new(member))),
        Err(problem) => Some(Arc::new(AskClient::unusable(problem))),
    });
    match client {
        Some(client) => builder.remote_client(Arc::clone(client)),
        None => builder,
    }
}

/// Returns where the configuration of a member may be: on the machine, and in the user's folder.
pub fn places() -> MemberPlaces {
    // A relative path would depend on the current directory, which may be a project.
    let folder = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|folder| folder.is_absolute());
    let UserFolders { configuration, state, .. } = UserFolders::of_process();
    MemberPlaces {
        roots: [PathBuf::from("/")].into_iter().chain(folder(ROOT)).collect(),
        user: configuration.zip(state),
    }
}
