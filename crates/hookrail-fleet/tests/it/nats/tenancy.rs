//! What a member cannot do: a stolen key of a machine, and another tenant.

use std::time::Duration;

use async_nats::jetstream;
use futures_util::StreamExt as _;
use hookrail_fleet::audit::ShipError;
use hookrail_fleet::nats::{AUDIT_STREAM, NatsConnection, NatsError, ReconnectPace};
use hookrail_fleet::servers::{MemberRole, create_streams};

use crate::nats::support::{Cluster, append};

/// What a server has refused on a connection since it was made.
async fn refusal(connection: &NatsConnection) -> String {
    let mut state = connection.state();
    let refused = tokio::time::timeout(Duration::from_secs(20), async {
        loop {
            if let Some(refusal) = state.borrow_and_update().refusal.clone() {
                return refusal;
            }
            state.changed().await.unwrap();
        }
    });
    refused.await.unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stolen_key_reads_and_writes_nothing_of_others() {
    let Some(cluster) = Cluster::start(1).await else { return };
    let (thief, victim) = (cluster.enroll("acme", "m1").await, cluster.enroll("acme", "m2").await);
    let journal = cluster.journal("m2");
    append(&journal, 0..10);
    cluster.ship(&victim, &journal).await.unwrap();
    let publish = async |subject: &str| {
        let connection = cluster.connect(&thief).await;
        connection.client().publish(subject.to_owned(), "x".into()).await.unwrap();
        connection.client().flush().await.unwrap();
        refusal(&connection).await
    };
    for subject in [
        "hr.acme.audit.m2",
        "hr.acme.audit.m1.x",
        "hr.acme.announce.stable",
        "hr.acme.inbox.m2.x",
        "hr.globex.audit.m1",
        "$O.bundles-stable.M.x",
        "$JS.API.STREAM.PURGE.HR_AUDIT",
        "$JS.API.STREAM.DELETE.HR_AUDIT",
        "$JS.API.STREAM.UPDATE.HR_AUDIT",
        "$JS.API.STREAM.MSG.GET.HR_AUDIT",
        "$JS.API.STREAM.INFO.HR_AUDIT",
        "$JS.API.CONSUMER.CREATE.HR_AUDIT",
        "$JS.API.DIRECT.GET.HR_AUDIT",
        "$JS.API.DIRECT.GET.HR_AUDIT.hr.acme.audit.m2",
        "$JS.API.DIRECT.GET.OBJ_bundles-canary",
    ] {
        let refused = publish(subject).await;
        assert!(refused.contains("Permissions Violation for Publish"), "{subject}: {refused}");
    }
    for subject in
        ["hr.acme.audit.>", "hr.acme.>", ">", "hr.acme.inbox.m2.>", "_INBOX.>", "hr.acme.announce.canary", "$JS.>"]
    {
        let connection = cluster.connect(&thief).await;
        let _subscription = connection.client().subscribe(subject).await.unwrap();
        connection.client().flush().await.unwrap();
        let refused = refusal(&connection).await;
        assert!(refused.contains("Permissions Violation for Subscription"), "{subject}: {refused}");
    }
    let found = cluster.verify("acme").await;
    assert!(found.is_sound() && found.machines.len() == 1, "{found:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_machine_that_takes_another_name_is_refused() {
    let Some(cluster) = Cluster::start(1).await else { return };
    cluster.enroll("acme", "m1").await;
    let folder = cluster.place.path("members/acme-m1");
    let pretender = cluster.write_member(&folder, "acme", "m2");
    let journal = cluster.journal("m1");
    append(&journal, 0..10);
    let refused = cluster.ship(&pretender, &journal).await.unwrap_err();
    let is_refused = matches!(&refused, ShipError::Nats(NatsError::NotPermitted(_)));
    assert!(is_refused, "{refused}");
    assert!(cluster.verify("acme").await.machines.is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn another_tenant_sees_and_reaches_nothing() {
    let Some(cluster) = Cluster::start(1).await else { return };
    let machine = cluster.enroll("acme", "m1").await;
    let journal = cluster.journal("m1");
    append(&journal, 0..10);
    cluster.ship(&machine, &journal).await.unwrap();
    let other = cluster.connect(&cluster.member("globex", "administrator")).await;
    // An administrator of another tenant may use every subject, of its own account.
    let mut heard = other.client().subscribe("hr.acme.>").await.unwrap();
    other.client().flush().await.unwrap();
    append(&journal, 10..20);
    cluster.ship(&machine, &journal).await.unwrap();
    other.client().publish("hr.acme.audit.m1", "forged".into()).await.unwrap();
    other.client().flush().await.unwrap();
    let own = tokio::time::timeout(Duration::from_secs(20), heard.next()).await.unwrap().unwrap();
    assert_eq!(own.payload, "forged", "the first thing it hears is what it said itself");
    let context = jetstream::new(other.client().clone());
    let info = context.get_stream(AUDIT_STREAM).await.unwrap();
    assert_eq!(info.cached_info().state.messages, 0);
    let found = cluster.verify("acme").await;
    assert!(found.is_sound() && found.machines["m1"].records == 20, "{found:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_that_was_removed_or_never_admitted_does_not_connect() {
    let Some(cluster) = Cluster::start(1).await else { return };
    let machine = cluster.enroll("acme", "m1").await;
    let mut members = hookrail_fleet::servers::Members::read(&cluster.fleet(), &"acme".parse().unwrap()).unwrap();
    members.remove(&"m1".parse().unwrap()).unwrap();
    members.write().unwrap();
    cluster.servers[0].reload();
    let begin = std::time::Instant::now();
    loop {
        match machine.connect(ReconnectPace::AtOnce).await {
            Err(NatsError::Refused(_)) => break,
            other => assert!(begin.elapsed() < Duration::from_secs(60), "{other:?}"),
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn roles_do_what_they_are_for_and_no_more() {
    let Some(cluster) = Cluster::start(1).await else { return };
    let worker = cluster.enroll_as("acme", "w1", MemberRole::Worker { group: "guards".parse().unwrap() }).await;
    let machine = cluster.enroll("acme", "m1").await;
    let subject = worker.subjects().ask(&"guards".parse().unwrap());
    let (asked, asking) = (cluster.connect(&worker).await, cluster.connect(&machine).await);
    let mut questions = asked.client().queue_subscribe(subject.clone(), "guards".to_owned()).await.unwrap();
    asked.client().flush().await.unwrap();
    let client = asked.client().clone();
    tokio::spawn(async move {
        let question = questions.next().await.unwrap();
        client.publish(question.reply.unwrap(), "answer".into()).await.unwrap();
    });
    let answer = asking.client().request(subject, "question".into()).await.unwrap();
    assert_eq!(answer.payload, "answer");
    // A worker speaks only when it is asked; an auditor and a publisher create no streams.
    asked.client().publish("hr.acme.audit.w1", "x".into()).await.unwrap();
    asked.client().flush().await.unwrap();
    assert!(refusal(&asked).await.contains("Publish"));
    for role in ["auditor", "publisher"] {
        let member = cluster.member("acme", role);
        let connection = cluster.connect(&member).await;
        let created = create_streams(&member, &connection, 1, &[]).await;
        assert!(created.is_err(), "{role}");
    }
}
