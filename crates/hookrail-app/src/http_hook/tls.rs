//! One request with encryption, in programs that have a client for it.

use ureq::Agent;
use ureq::tls::{RootCerts, TlsConfig};

use super::{LONGEST_BODY, Request, ServerReply};
use crate::failure::{Failure, Result};

/// Sends the request.
pub(super) fn send(request: &Request<'_>) -> Result<ServerReply> {
    let config = Agent::config_builder()
        .tls_config(TlsConfig::builder().root_certs(RootCerts::PlatformVerifier).build())
        .https_only(true)
        // A redirection could send the event and its headers to another host.
        .max_redirects(0)
        .max_redirects_will_error(false)
        .http_status_as_error(false)
        .user_agent(concat!("hookrail/", env!("CARGO_PKG_VERSION")))
        .build();
    let agent: Agent = config.into();
    let failed = |error: ureq::Error| Failure::new(format!("no reply from {}: {error}", request.url));
    let post = agent.post(request.url);
    let post = request.headers.iter().fold(post, |post, (name, value)| post.header(name, value));
    let mut reply = post.send(request.body).map_err(failed)?;
    let status = reply.status().as_u16();
    let body = reply.body_mut().with_config().limit(LONGEST_BODY).read_to_vec().map_err(failed)?;
    Ok(ServerReply { status, body })
}
