//! `hookrail reload`: makes a running server reload its configuration.

use std::path::PathBuf;
use std::time::Duration;

use hookrail_app::failure::{Excerpt, Failure, Result};
use hookrail_app::text::counted;
use hookrail_bus::{Client, Reloaded, transport};

use crate::args::ReloadArgs;
use crate::exit::Exit;
use crate::output;

/// The time that the server may take. Reading configuration takes milliseconds; a module may take seconds to load.
const RELOAD_TIMEOUT: Duration = Duration::from_secs(60);

pub(crate) fn run(args: &ReloadArgs) -> Result<Exit> {
    let path = match &args.socket {
        Some(path) => path.clone(),
        None => default_socket()?,
    };
    let runtime = hookrail_app::runtime::runtime()?;
    let answered = runtime.block_on(async { tokio::time::timeout(RELOAD_TIMEOUT, request_reload(&path)).await });
    let reloaded = answered.unwrap_or_else(|_| {
        let shown = path.display();
        Err(Failure::new(format!("the server at `{shown}` did not answer within {} s", RELOAD_TIMEOUT.as_secs()))
            .hint("read the server's log; restart the server if it hangs"))
    })?;
    if reloaded.success {
        output::text(&format!("reloaded: {}\n", summary(&reloaded)))?;
        return Ok(Exit::Fine);
    }
    let mut failure = Failure::new(format!("a part of the configuration cannot be used ({})", summary(&reloaded)));
    failure = failure.excerpt(Excerpt::Sentences(reloaded.problems));
    Err(failure.hint("fix the problems above, then reload again"))
}

async fn request_reload(path: &std::path::Path) -> Result<Reloaded> {
    let shown = path.display();
    let connection = transport::connect(path).await.map_err(|error| {
        Failure::new(format!("no server can be reached at `{shown}`: {error}"))
            .hint("start one with `hookrail serve --socket PATH`, or name its socket with `--socket PATH`")
    })?;
    Client::new(connection).reload().await.map_err(|error| {
        Failure::new(format!("the server at `{shown}` did not reload: {error}"))
            .hint("the server may be older than this program, or shutting down")
    })
}

fn summary(reloaded: &Reloaded) -> String {
    let projects = counted(usize::try_from(reloaded.projects).unwrap_or(usize::MAX), "project");
    let revision = reloaded.revision.map_or_else(String::new, |revision| format!(", revision {revision}"));
    format!("{projects}{revision}")
}

/// Returns the path of the socket in the packaged systemd units, if the user has a folder for sockets.
pub(super) fn usual_socket() -> Option<PathBuf> {
    let folder = std::env::var_os("XDG_RUNTIME_DIR").filter(|folder| !folder.is_empty());
    folder.map(|folder| PathBuf::from(folder).join("hookrail.sock"))
}

fn default_socket() -> Result<PathBuf> {
    usual_socket().ok_or_else(|| {
        Failure::new("the server's socket is not known: `XDG_RUNTIME_DIR` is not set")
            .hint("name the server's socket with `--socket PATH`")
    })
}
