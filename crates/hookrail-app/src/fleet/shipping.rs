//! Shipping the journal: once, and how far this machine is.

use std::time::Duration;

use hookrail_fleet::audit::{ShipError, ShippedCount, Shipper};
use hookrail_fleet::nats::{FleetMember, NatsError, ReconnectPace};
use hookrail_journal::{Journal, ShippingPosition};

use crate::failure::Result;
use crate::records::failure as unreadable_journal;
use crate::runtime::runtime;

/// How far this machine is.
pub struct ShippingStatus {
    pub position: Option<ShippingPosition>,
    pub head: u64,
    pub limit: Option<u64>,
    pub servers: ServerStatus,
}

/// Whether the servers can be reached.
pub enum ServerStatus {
    NotTried,
    Reached,
    Failed(NatsError),
}

impl ShippingStatus {
    /// Finds out how far the machine is. Without `tries_servers` no server is connected to.
    pub fn read(member: &FleetMember, journal: &Journal, tries_servers: bool) -> Result<Self> {
        let position = ShippingPosition::read(journal.directory()).map_err(|error| unreadable_journal(&error))?;
        let head = journal.head().map_err(|error| unreadable_journal(&error))?.map_or(0, |head| head.seq);
        let servers = if tries_servers {
            let connected = runtime()?.block_on(member.connect(ReconnectPace::AtOnce));
            connected.map_or_else(ServerStatus::Failed, |_| ServerStatus::Reached)
        } else {
            ServerStatus::NotTried
        };
        Ok(Self { position, head, limit: member.audit().backlog_limit, servers })
    }

    /// Returns whether the servers can be reached, as far as it was tried, and the backlog is within its limit.
    pub fn is_well(&self) -> bool {
        !matches!(self.servers, ServerStatus::Failed(_)) && !self.is_over_limit()
    }

    /// Returns the number of records that are not shipped yet.
    pub fn waiting(&self) -> u64 {
        self.head.saturating_sub(self.position.as_ref().map_or(0, |position| position.seq))
    }

    /// Returns whether more records wait than the configuration allows.
    pub fn is_over_limit(&self) -> bool {
        self.limit.is_some_and(|limit| self.waiting() > limit)
    }
}

/// Ships what is recorded now. Returns the number of the last record that is stored.
pub async fn ship_once(
    patience: Duration,
    member: &FleetMember,
    journal: &Journal,
    shipped: &mut ShippedCount,
) -> std::result::Result<u64, ShipError> {
    let connection = member.connect(ReconnectPace::AtOnce).await?;
    let mut shipper = Shipper::open(member.clone(), journal.clone(), connection)?;
    let end = shipper.ship(patience).await;
    *shipped = shipper.count();
    end.map(|()| shipper.position().seq)
}
