//! Metrics at the address that the user configured.

use std::net::SocketAddr;

use hookrail_bus::{Bus, MetricsServer};
use hookrail_journal::Journal;

use crate::failure::{Failure, Result};

/// Serves metrics, and returns where: a script may have asked for any free port.
pub(super) async fn serve_metrics(bus: &Bus, address: SocketAddr, journal: Option<Journal>) -> Result<SocketAddr> {
    let server = MetricsServer::bind(address).await.map_err(|error| {
        Failure::new(format!("metrics cannot be served at `{address}`: {error}"))
            .hint("choose another address, such as 127.0.0.1:0")
    })?;
    let address = server.address().unwrap_or(address);
    let metrics = bus.metrics();
    if let Some(journal) = journal {
        let help = "Records of the journal that no server has acknowledged";
        // A journal that was never shipped has none, and one that cannot be read is reported by what writes it.
        let waiting = move || Some(journal.waiting_records().ok()?? as f64);
        metrics.add_gauge("journal_waiting_records", help, waiting);
    }
    tokio::spawn(server.serve(metrics));
    Ok(address)
}
