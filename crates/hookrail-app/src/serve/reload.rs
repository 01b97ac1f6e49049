//! The client of a running server that makes it reload its configuration.

use std::path::{Path, PathBuf};
use std::time::Duration;

use hookrail_bus::{Client, Reloaded, transport};

use crate::failure::{Failure, Result};
use crate::folders::usual_socket;

/// The time that the server may take. Reading configuration takes milliseconds; a module may take seconds to load.
const RELOAD_TIMEOUT: Duration = Duration::from_secs(60);

/// Makes the server at this socket reload, or the one at the usual place.
///
/// # Errors
///
/// No server answers there.
pub fn reload(socket: Option<&Path>) -> Result<Reloaded> {
    let path = socket.map_or_else(default_socket, |path| Ok(path.to_owned()))?;
    let runtime = crate::runtime::runtime()?;
    let answered = runtime.block_on(async { tokio::time::timeout(RELOAD_TIMEOUT, request_reload(&path)).await });
    answered.unwrap_or_else(|_| {
        let shown = path.display();
        Err(Failure::new(format!("the server at `{shown}` did not answer within {} s", RELOAD_TIMEOUT.as_secs()))
            .hint("read the server's log; restart the server if it hangs"))
    })
}

async fn request_reload(path: &Path) -> Result<Reloaded> {
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

fn default_socket() -> Result<PathBuf> {
    usual_socket().ok_or_else(|| {
        Failure::new("the server's socket is not known: `XDG_RUNTIME_DIR` is not set")
            .hint("name the server's socket with `--socket PATH`")
    })
}
