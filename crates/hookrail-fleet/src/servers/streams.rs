//! The streams and buckets of a tenant.

use async_nats::jetstream;
use async_nats::jetstream::object_store;
use async_nats::jetstream::stream::{Config, DiscardPolicy, StorageType};

use crate::name::Name;
use crate::nats::connection::REQUEST_TIMEOUT;
use crate::nats::{AUDIT_STREAM, FleetMember, NatsConnection, NatsError, Subjects};

/// Creates the stream for records and a bucket for each channel, or brings them to this form. Needs an administrator.
///
/// # Errors
/// If the servers cannot be used, or do not permit it.
pub async fn create_streams(
    member: &FleetMember,
    connection: &NatsConnection,
    replicas: usize,
    channels: &[Name],
) -> Result<Vec<String>, NatsError> {
    let context = jetstream::ContextBuilder::new().timeout(REQUEST_TIMEOUT).build(connection.client().clone());
    let audit = Config {
        name: AUDIT_STREAM.to_owned(),
        description: Some("the journals of all machines".to_owned()),
        subjects: vec![member.subjects().every_audit()],
        storage: StorageType::File,
        num_replicas: replicas,
        // A stream that is full refuses what is new, and machines keep it: nothing that was stored is lost.
        discard: DiscardPolicy::New,
        deny_delete: true,
        deny_purge: true,
        allow_direct: true,
        ..Config::default()
    };
    const FAILED: &str = "a stream cannot be created";
    let created = context.create_or_update_stream(audit).await;
    created.map_err(|error| connection.refusal_or(NatsError::request(FAILED)(error)))?;
    let mut created = vec![AUDIT_STREAM.to_owned()];
    for channel in channels {
        let bucket = Subjects::bucket(channel);
        let config = object_store::Config {
            bucket: bucket.clone(),
            description: Some(format!("the bundles of channel {channel}")),
            storage: StorageType::File,
            num_replicas: replicas,
            ..object_store::Config::default()
        };
        let bucket_made = context.create_object_store(config).await;
        bucket_made.map_err(|error| connection.refusal_or(NatsError::request(FAILED)(error)))?;
        created.push(format!("OBJ_{bucket}"));
    }
    Ok(created)
}
