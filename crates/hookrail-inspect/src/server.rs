//! The server: what is answered to which request.

use std::convert::Infallible;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::{Path, Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use axum::middleware::{self, Next};
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse as _, Response};
use axum::routing::{get, post};
use bytes::Bytes;
use futures_util::stream;
use serde::Deserialize;
use serde_json::json;
use tokio::net::TcpListener;

use crate::access::{Access, Refusal};
use crate::feed::{Feed, SearchResult};
use crate::{PageTitle, TesterMode, Trial, Workbench, assets};

/// The highest number of rows in one answer: the browser reads them without a pause that the user would notice.
const MOST_ROWS: usize = 4_000;

/// The longest body of a request.
const LONGEST_BODY: usize = 4 << 20;

/// The highest number of pages that are kept up to date at once.
const MOST_LIVE: usize = 32;

/// The highest number of trials at once.
const MOST_TRIALS: usize = 4;

/// What is said about a record that is older than those that are kept.
const NOT_KEPT: &str = "this record is not kept any more";

/// What the page may do. Nothing is loaded from elsewhere, nothing is executed but the page's own files, no text becomes
/// markup, and no page can show this one inside of it.
pub(crate) const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; \
    base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'";

/// What the server works with.
pub(crate) struct Served {
    pub(crate) access: Arc<Access>,
    pub(crate) feed: Arc<Feed>,
    pub(crate) workbench: Arc<dyn Workbench>,
    pub(crate) tester: TesterMode,
    pub(crate) title: PageTitle,
}

#[derive(Clone)]
struct Shared {
    served: Arc<Served>,
    live: Places,
    trials: Places,
}

pub(crate) async fn serve(listener: TcpListener, served: Served) -> io::Result<()> {
    let shared = Shared { served: Arc::new(served), live: Places::new(MOST_LIVE), trials: Places::new(MOST_TRIALS) };
    let records = Router::new()
        .route("/about", get(about))
        .route("/rows/{from}", get(rows))
        .route("/live/{from}", get(live))
        .route("/record/{number}", get(record))
        .route("/search", post(search))
        .route("/hooks", get(hooks))
        .route("/explain", post(explain))
        .route("/fire", post(fire))
        .route_layer(middleware::from_fn_with_state(shared.clone(), require_session));
    let router = Router::new()
        .route("/session", post(exchange))
        .nest("/api/{folder}", records)
        .fallback(asset)
        .layer(middleware::from_fn_with_state(shared.clone(), check))
        .with_state(shared);
    axum::serve(listener, router).await
}

/// Checks every request, and adds the headers that every answer has.
async fn check(State(shared): State<Shared>, request: Request, next: Next) -> Response {
    let checked = shared.served.access.check_origin(request.method(), request.uri(), request.headers());
    let mut response = match checked {
        Ok(()) => next.run(request).await,
        Err(refusal) => refused(refusal),
    };
    let headers = response.headers_mut();
    let mut set = |name: &'static str, value: &'static str| {
        headers.insert(HeaderName::from_static(name), HeaderValue::from_static(value));
    };
    set("content-security-policy", POLICY);
    set("x-frame-options", "DENY");
    set("x-content-type-options", "nosniff");
    set("referrer-policy", "no-referrer");
    set("cross-origin-opener-policy", "same-origin");
    set("cross-origin-resource-policy", "same-origin");
    set("cross-origin-embedder-policy", "require-corp");
    set("permissions-policy", "camera=(), microphone=(), geolocation=()");
    set("cache-control", "no-store");
    response
}

#[derive(Deserialize)]
struct Folder {
    folder: String,
}

async fn require_session(
    State(shared): State<Shared>,
    Path(Folder { folder }): Path<Folder>,
    headers: HeaderMap,
    request: Request,
    next: Next,
) -> Response {
    match shared.served.access.check_session(&folder, &headers) {
        Ok(()) => next.run(request).await,
        Err(refusal) => refused(refusal),
    }
}

fn refused(refusal: Refusal) -> Response {
    (refusal.status(), refusal.message()).into_response()
}

fn document(text: String) -> Response {
    ([(header::CONTENT_TYPE, HeaderValue::from_static("application/json"))], text).into_response()
}

fn failed(status: StatusCode, message: &str) -> Response {
    let mut response = document(json!({ "error": message }).to_string());
    *response.status_mut() = status;
    response
}

/// The files of the page. They hold no records, so they need no session.
async fn asset(request: Request) -> Response {
    match assets::find(request.uri().path()) {
        Some(asset) if request.method() == axum::http::Method::GET => {
            ([(header::CONTENT_TYPE, asset.media_type)], asset.text).into_response()
        }
        Some(_) => StatusCode::METHOD_NOT_ALLOWED.into_response(),
        // What is below a folder of records that does not exist looks like one for which the session is missing.
        None if request.uri().path().starts_with("/api/") => refused(Refusal::NoSession),
        None => StatusCode::NOT_FOUND.into_response(),
    }
}

#[derive(Deserialize)]
struct TokenBody {
    token: String,
}

async fn exchange(State(shared): State<Shared>, body: Body) -> Response {
    let body: TokenBody = match read_json(body).await {
        Ok(body) => body,
        Err(response) => return response,
    };
    match shared.served.access.exchange(&body.token) {
        Ok(grant) => {
            let mut response = document(json!({ "api": grant.folder }).to_string());
            if let Ok(cookie) = HeaderValue::from_str(&grant.cookie) {
                response.headers_mut().insert(header::SET_COOKIE, cookie);
            }
            response
        }
        Err(refusal) => refused(refusal),
    }
}

async fn read_json<T: serde::de::DeserializeOwned>(body: Body) -> Result<T, Response> {
    let bytes: Bytes = to_bytes(body, LONGEST_BODY)
        .await
        .map_err(|_| failed(StatusCode::PAYLOAD_TOO_LARGE, "the request is too long"))?;
    serde_json::from_slice(&bytes).map_err(|error| failed(StatusCode::BAD_REQUEST, &error.to_string()))
}

async fn about(State(shared): State<Shared>) -> Response {
    let Served { title: PageTitle { version, project, events }, tester, feed, .. } = &*shared.served;
    let about = json!({ "version": version, "project": project, "events": events, "tester": tester.name(), "last": feed.last() });
    document(about.to_string())
}

#[derive(Deserialize)]
struct FirstRow {
    from: u64,
}

async fn rows(State(shared): State<Shared>, Path(FirstRow { from }): Path<FirstRow>) -> Response {
    let page = shared.served.feed.rows(from, MOST_ROWS);
    document(format!(r#"{{"first":{},"next":{},"end":{},"rows":{}}}"#, page.first, page.next, page.end, page.rows))
}

/// Sends rows as they come. A browser that reconnects says how far it had come.
async fn live(State(shared): State<Shared>, Path(FirstRow { from }): Path<FirstRow>, headers: HeaderMap) -> Response {
    let Some(place) = shared.live.take() else {
        return failed(StatusCode::SERVICE_UNAVAILABLE, "too many pages are open");
    };
    let last = headers.get("last-event-id").and_then(|id| id.to_str().ok()).and_then(|id| id.parse().ok());
    let feed = Arc::clone(&shared.served.feed);
    let changes = feed.changes();
    let events =
        stream::unfold((feed, changes, last.unwrap_or(from), place), |(feed, mut changes, from, place)| async move {
            // Fails when the feed is gone, and then the stream ends.
            changes.wait_for(|&count| count > from).await.ok()?;
            let page = feed.rows(from, MOST_ROWS);
            let event = Event::default().id(page.next.to_string()).data(page.rows);
            Some((Ok::<_, Infallible>(event), (feed, changes, page.next, place)))
        });
    Sse::new(events).keep_alive(KeepAlive::default()).into_response()
}

#[derive(Deserialize)]
struct Number {
    number: u64,
}

async fn record(State(shared): State<Shared>, Path(Number { number }): Path<Number>) -> Response {
    let feed = Arc::clone(&shared.served.feed);
    // A search may hold the records for a moment.
    match tokio::task::spawn_blocking(move || feed.line(number)).await {
        Ok(Ok(Some(line))) => document(line),
        Ok(Ok(None)) => failed(StatusCode::NOT_FOUND, NOT_KEPT),
        Ok(Err(error)) => failed(StatusCode::INTERNAL_SERVER_ERROR, &error.to_string()),
        Err(_) => failed(StatusCode::INTERNAL_SERVER_ERROR, "the record cannot be read"),
    }
}

#[derive(Deserialize)]
struct SearchBody {
    text: String,
    /// The number of the first record to look at.
    #[serde(default)]
    from: u64,
}

async fn search(State(shared): State<Shared>, body: Body) -> Response {
    let SearchBody { text, from } = match read_json(body).await {
        Ok(body) => body,
        Err(response) => return response,
    };
    let feed = Arc::clone(&shared.served.feed);
    in_background(move || {
        let SearchResult { found, end } = feed.search(&text, from).map_err(|error| error.to_string())?;
        Ok(json!({ "found": found, "end": end }).to_string())
    })
    .await
}

async fn hooks(State(shared): State<Shared>) -> Response {
    tried(shared, |served| served.workbench.hooks()).await
}

#[derive(Deserialize)]
struct TrialBody {
    event: String,
    payload: serde_json::Map<String, serde_json::Value>,
    /// The number of the record that it was taken from.
    record: Option<u64>,
}

impl TrialBody {
    fn into_trial(self, feed: &Feed) -> Result<Trial, String> {
        let line = |number| match feed.line(number) {
            Ok(Some(line)) => Ok(line),
            Ok(None) => Err(NOT_KEPT.to_owned()),
            Err(error) => Err(error.to_string()),
        };
        let Self { event, payload, record } = self;
        let payload = serde_json::Value::Object(payload).to_string();
        Ok(Trial { event, payload, record: record.map(line).transpose()? })
    }
}

async fn explain(State(shared): State<Shared>, body: Body) -> Response {
    match read_json::<TrialBody>(body).await {
        Ok(body) => tried(shared, move |served| served.workbench.explain(&body.into_trial(&served.feed)?)).await,
        Err(response) => response,
    }
}

async fn fire(State(shared): State<Shared>, body: Body) -> Response {
    match shared.served.tester {
        TesterMode::Explain => failed(StatusCode::FORBIDDEN, "start `hookrail inspect --allow-run` to fire events"),
        TesterMode::Fire => match read_json::<TrialBody>(body).await {
            Ok(body) => tried(shared, move |served| served.workbench.fire(&body.into_trial(&served.feed)?)).await,
            Err(response) => response,
        },
    }
}

/// Asks the workbench, for a few requests at once.
async fn tried(shared: Shared, work: impl FnOnce(&Served) -> Result<String, String> + Send + 'static) -> Response {
    let Some(place) = shared.trials.take() else {
        return failed(StatusCode::SERVICE_UNAVAILABLE, "other trials are still running");
    };
    let served = Arc::clone(&shared.served);
    in_background(move || {
        let _place = place;
        work(&served)
    })
    .await
}

async fn in_background(work: impl FnOnce() -> Result<String, String> + Send + 'static) -> Response {
    match tokio::task::spawn_blocking(work).await {
        Ok(Ok(text)) => document(text),
        Ok(Err(message)) => failed(StatusCode::UNPROCESSABLE_ENTITY, &message),
        Err(_) => failed(StatusCode::INTERNAL_SERVER_ERROR, "the request failed; see the terminal"),
    }
}

/// A limited number of places.
#[derive(Clone)]
struct Places(Arc<AtomicUsize>);

impl Places {
    fn new(most: usize) -> Self {
        Self(Arc::new(AtomicUsize::new(most)))
    }

    /// Takes a place; none if all are taken.
    fn take(&self) -> Option<TakenPlace> {
        let taken = self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1));
        taken.ok().map(|_| TakenPlace(Arc::clone(&self.0)))
    }
}

struct TakenPlace(Arc<AtomicUsize>);

impl Drop for TakenPlace {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}
