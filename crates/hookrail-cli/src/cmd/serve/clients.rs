//! The clients of a server: one on standard input and output, or those of a socket.

use hookrail_bus::{Bus, transport};

use crate::args::ServeArgs;
use crate::errors::{Failure, Result};

/// Serves until everybody is served.
pub(super) fn serve_clients(
    args: &ServeArgs,
    bus: Bus,
    longest_line: Option<usize>,
) -> Result<impl Future<Output = ()>> {
    let listener = match &args.socket {
        None => {
            debug_assert!(args.stdio, "the parser wants one of the two");
            None
        }
        #[cfg(unix)]
        Some(path) => Some(transport::Listener::bind(path).map_err(|error| cannot_bind(&error))?),
        #[cfg(not(unix))]
        Some(_) => return Err(Failure::new("sockets are not supported on this system").hint("use `--stdio`")),
    };
    Ok(async move {
        match listener {
            None => {
                let lines = transport::stdio();
                bus.serve(match longest_line {
                    Some(bytes) => lines.limit(bytes),
                    None => lines,
                })
                .await;
            }
            #[cfg(unix)]
            Some(listener) => bus.listen(listener).await,
            #[cfg(not(unix))]
            Some(()) => {}
        }
    })
}

#[cfg(unix)]
fn cannot_bind(error: &transport::BindError) -> Failure {
    let cause = std::error::Error::source(error).map_or_else(String::new, |cause| format!(": {cause}"));
    let failure = Failure::new(format!("{error}{cause}"));
    match error {
        transport::BindError::InUse(_) => failure.hint("end the other server, or choose another path"),
        transport::BindError::NotASocket(_) => failure.hint("choose another path, or remove what is there"),
        _ => {
            failure.hint("the folder must exist and be writable, and a socket's path has at most about 100 characters")
        }
    }
}
