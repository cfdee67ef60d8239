//! Server of the page: the page, its scripts and style, and one answer per request for a frame.
//!
//! On the socket `/live` the page sends `frame SHOWN FIELD INDEX SEEN RANGE EVERY PICKED`, each a word or `-`: the view, the field for the color, the
//! frame index from 0, the number of the frame seen last, the ends of the color scale as `LOW:HIGH`, n if one of n balls and rods is wanted, and the
//! particle whose position is wanted, as `grain:ID` or `particle:ID`. Or it sends `details PICKED` for the details of such a particle, or of
//! `ball:INDEX`, a ball of the frame that was sent last.
//!
//! Each request has one answer:
//! - a frame ([`super::frame_encoder`]);
//! - `details PICKED` and lines of name and value with a tab between them;
//! - `nothing FRAMES` and the progress of a running simulation, if there is nothing new;
//! - `error FRAMES CAUSE`.
//!
//! A page requests the next frame after it has drawn the last one. So a slow or idle page does not delay others.

use std::{hint::black_box, sync::Arc, time::Duration};

use axum::{
    Router,
    body::Bytes,
    extract::{
        Request, State,
        ws::{Message, WebSocket, WebSocketUpgrade},
    },
    http::{
        HeaderMap, HeaderName, HeaderValue, Method, StatusCode,
        header::{self, CONTENT_TYPE},
    },
    middleware::{Next, from_fn_with_state},
    response::{Html, IntoResponse, Response},
    routing::get,
};
use tokio::{
    sync::{OwnedSemaphorePermit, Semaphore},
    task::spawn_blocking,
    time::timeout,
};

use super::{
    frame_encoder::{FrameContext, encode, place_of_ball},
    frame_request::{self, FrameRequest, PageRequest as Asked, Target, offered},
};
use crate::{Particle, Snapshot, ViewError, frame_source::FrameSource, run_speed::RunSpeed};

/// Most pages that receive frames at once.
pub const MAX_CLIENTS: usize = 16;
/// Longest message of a page \[bytes\].
const LONGEST_MESSAGE: usize = 4096;
/// Time after which an idle page, such as one out of sight, receives a ping, so that its connection is not taken for dead.
const STILL: Duration = Duration::from_secs(30);

/// Headers of every answer.
const HEADERS: [(&str, &str); 4] = [
    (
        "content-security-policy",
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; \
         base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    ),
    ("x-content-type-options", "nosniff"),
    ("referrer-policy", "no-referrer"),
    ("cache-control", "no-store"),
];

/// The scripts of the page in the order of loading.
const SCRIPTS: [(&str, &str); 7] = [
    ("/camera.js", include_str!("camera.js")),
    ("/frame.js", include_str!("frame.js")),
    ("/shaders.js", include_str!("shaders.js")),
    ("/water.js", include_str!("water.js")),
    ("/stage.js", include_str!("stage.js")),
    ("/side.js", include_str!("side.js")),
    ("/page.js", include_str!("page.js")),
];

const NO_TOKEN: &str = "This page opens with its token only, which is new each time: take the whole address, with ?token= and what follows, \
                        from where Seixo printed it when it opened the page.\n";
const FOREIGN_HOST: &str = "This page answers to 127.0.0.1, localhost and [::1] only: open it on the machine where Seixo runs, or through an SSH \
                            tunnel, with the address that Seixo printed.\n";
const FOREIGN_ORIGIN: &str = "This page answers to itself only, not to pages of other origins: open the address that Seixo printed.\n";
const NOT_READING: &str = "This page can only be read: GET is the only method.\n";
const NOT_HERE: &str = "There is nothing here: open the address that Seixo printed.\n";

/// State shared by all connections.
struct SharedServerState {
    show: Arc<dyn FrameSource>,
    token: String,
    room: Arc<Semaphore>,
}

/// Routes of the page of a frame source; requests need the token.
pub(crate) fn router(show: Arc<dyn FrameSource>, token: &str) -> Router {
    let served = Arc::new(SharedServerState {
        show,
        token: token.to_owned(),
        room: Arc::new(Semaphore::new(MAX_CLIENTS)),
    });
    let scripts = SCRIPTS.iter().fold(Router::new(), |router, &(path, text)| {
        router.route(path, get(move || async move { script(text) }))
    });
    scripts
        .route("/", get(page))
        .route("/page.css", get(style))
        .route("/live", get(live))
        .fallback(nowhere)
        .layer(from_fn_with_state(Arc::clone(&served), admit))
        .with_state(served)
}

async fn page(State(served): State<Arc<SharedServerState>>) -> Html<String> {
    Html(include_str!("page.html").replace("{{token}}", &served.token))
}

fn script(text: &'static str) -> impl IntoResponse {
    ([(CONTENT_TYPE, "text/javascript; charset=utf-8")], text)
}

async fn style() -> impl IntoResponse {
    ([(CONTENT_TYPE, "text/css; charset=utf-8")], include_str!("page.css"))
}

async fn nowhere() -> (StatusCode, &'static str) {
    (StatusCode::NOT_FOUND, NOT_HERE)
}

/// Lets only authorized requests through.
async fn admit(State(served): State<Arc<SharedServerState>>, request: Request, next: Next) -> Response {
    let refusal = served.refusal(&request);
    let mut response = match refusal {
        Some(refusal) => {
            let mut refused = refusal.into_response();
            // A refused client must not occupy a connection.
            refused.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
            refused
        }
        None => next.run(request).await,
    };
    for (name, value) in HEADERS {
        response
            .headers_mut()
            .insert(HeaderName::from_static(name), HeaderValue::from_static(value));
    }
    response
}

impl SharedServerState {
    /// The reason to refuse a request, or `None`.
    fn refusal(&self, request: &Request) -> Option<(StatusCode, &'static str)> {
        let headers = request.headers();
        // Another site may point its own name at this address (DNS rebinding); the browser then sends that name.
        let Some(host) = only(headers, header::HOST).filter(|host| is_loopback(host)) else {
            return Some((StatusCode::FORBIDDEN, FOREIGN_HOST));
        };
        // Any page may open a WebSocket; the browser sends its origin.
        let is_same = |origin: &str| {
            origin
                .strip_prefix("http://")
                .is_some_and(|origin| origin.eq_ignore_ascii_case(host))
        };
        if headers.contains_key(header::ORIGIN) && !only(headers, header::ORIGIN).is_some_and(is_same) {
            return Some((StatusCode::FORBIDDEN, FOREIGN_ORIGIN));
        }
        let query = request.uri().query().unwrap_or_default();
        let given = query.split('&').find_map(|pair| pair.strip_prefix("token=")).unwrap_or_default();
        if !is_equal(self.token.as_bytes(), given.as_bytes()) {
            return Some((StatusCode::FORBIDDEN, NO_TOKEN));
        }
        (request.method() != Method::GET).then_some((StatusCode::METHOD_NOT_ALLOWED, NOT_READING))
    }
}

/// The value of a header that occurs once and is text.
fn only(headers: &HeaderMap, name: HeaderName) -> Option<&str> {
    let mut values = headers.get_all(name).iter();
    let value = values.next()?.to_str().ok()?;
    values.next().is_none().then_some(value)
}

/// Whether a host is this machine, at any port: a tunnel has its own port.
fn is_loopback(host: &str) -> bool {
    let (name, port) = match host.rfind(':') {
        Some(colon) if !host[colon..].contains(']') => (&host[..colon], &host[colon + 1..]),
        _ => (host, ""),
    };
    ["127.0.0.1", "localhost", "[::1]"]
        .iter()
        .any(|known| name.eq_ignore_ascii_case(known))
        && port.len() <= 5
        && port.bytes().all(|digit| digit.is_ascii_digit())
}

/// Whether both are equal. The time does not reveal how many bytes agree.
fn is_equal(known: &[u8], given: &[u8]) -> bool {
    let differing = known
        .iter()
        .zip(given)
        .fold(0u8, |all, (one, other)| black_box(all | (one ^ other)));
    known.len() == given.len() && differing == 0
}

/// Opens the socket for frames.
async fn live(State(served): State<Arc<SharedServerState>>, upgrade: WebSocketUpgrade) -> Response {
    let Ok(place) = Arc::clone(&served.room).try_acquire_owned() else {
        let sentence = format!("{MAX_CLIENTS} pages look at this already: close one of them.\n");
        return (StatusCode::SERVICE_UNAVAILABLE, sentence).into_response();
    };
    upgrade
        .max_message_size(LONGEST_MESSAGE)
        .max_frame_size(LONGEST_MESSAGE)
        .on_upgrade(move |socket| attend(socket, served, place))
}

/// Answers one page until it disconnects.
async fn attend(mut socket: WebSocket, served: Arc<SharedServerState>, _place: OwnedSemaphorePermit) {
    let mut known = PageOptions::default();
    loop {
        let message = match timeout(STILL, socket.recv()).await {
            Err(_) => Message::Ping(Bytes::new()),
            Ok(None | Some(Err(_))) => return,
            Ok(Some(Ok(Message::Text(request)))) => {
                let (show, before) = (Arc::clone(&served.show), std::mem::take(&mut known));
                match spawn_blocking(move || answer(&*show, &request, before)).await {
                    Ok((message, after)) => {
                        known = after;
                        message
                    }
                    Err(cause) => Message::text(format!("error - this frame could not be made: {cause}")),
                }
            }
            Ok(Some(Ok(Message::Binary(_)))) => Message::text("error - requests are text, such as: frame - - - - - - -"),
            Ok(Some(Ok(_))) => continue,
        };
        if socket.send(message).await.is_err() {
            return;
        }
    }
}

/// What a page already has.
#[derive(Clone, Default)]
pub struct PageOptions {
    /// Hash of its walls.
    walls: Option<u64>,
    /// The last frame sent to it, and n if one of n balls was sent.
    last: Option<(Arc<Snapshot>, usize)>,
}

/// The answer to a request, and what the page has afterwards.
pub fn answer(show: &dyn FrameSource, request: &str, known: PageOptions) -> (Message, PageOptions) {
    let message = match frame_request::read(request) {
        Ok(Asked::Frame(request)) => match frame(show, &request, known.walls) {
            Ok(Some((bytes, known))) => return (Message::binary(bytes), known),
            Ok(None) => {
                let pace = pace(show);
                let said = format!("nothing {} {}\n{}", count(show), pace.line(), pace.shortfall);
                Message::text(said.trim_end().to_owned())
            }
            Err(cause) => Message::text(format!("error {} {cause}", count(show))),
        },
        Ok(Asked::ParticleDetails(target)) => {
            let reported = details(show, target, &known);
            Message::text(reported.unwrap_or_else(|cause| format!("error - {cause}")))
        }
        Err(cause) => Message::text(format!("error - {cause}")),
    };
    (message, known)
}

/// The requested frame, if it differs from the one already seen, and what the page has afterwards. `walls` are those that it had.
fn frame(show: &dyn FrameSource, request: &FrameRequest, walls: Option<u64>) -> Result<Option<(Vec<u8>, PageOptions)>, ViewError> {
    request.options.check()?;
    let Some(snapshot) = show.frame(&request.options, request.seen)? else {
        return Ok(None);
    };
    let here = snapshot.here()?;
    let around = FrameContext {
        frames: show.frames(),
        pace: pace(show),
        offered: offered(show, here),
    };
    let (bytes, walls) = encode(here, request, &around, walls);
    let known = PageOptions {
        walls: Some(walls),
        last: Some((snapshot, request.every.get())),
    };
    Ok(Some((bytes, known)))
}

/// Details of a particle as text.
fn details(show: &dyn FrameSource, target: Target, known: &PageOptions) -> Result<String, String> {
    let Some((snapshot, every)) = &known.last else {
        return Err("no frame was sent yet that has particles: ask for one first".to_owned());
    };
    let reported = |error: ViewError| error.to_string();
    let particle = match target {
        Target::Particle(particle) => particle,
        Target::Ball(index) => particle_of(snapshot.here().map_err(reported)?, index, *every)
            .ok_or_else(|| format!("ball {index} of the frame that was sent last is no particle, or is not there"))?,
    };
    let kind = if particle.is_grain { "grain" } else { "particle" };
    let details = show.details(snapshot.number, particle).map_err(reported)?;
    let mut text = format!("details {kind}:{}", particle.id);
    if details.values.is_empty() {
        return Ok(text + "\n\tnot in this frame");
    }
    for (name, value) in &details.values {
        text += &format!("\n{name}\t{value}");
    }
    for line in details.of_contacts(particle.is_grain) {
        text += &format!("\n\t{line}");
    }
    Ok(text)
}

/// The particle that a ball of a frame represents, if one of `every` balls was sent.
fn particle_of(snapshot: &Snapshot, index: usize, every: usize) -> Option<Particle> {
    let place = place_of_ball(snapshot, index, every)?;
    let id = *snapshot.id.get(place)?;
    let is_grain = place < snapshot.grains;
    Some(Particle { id, is_grain })
}

/// Progress of a running simulation.
fn pace(show: &dyn FrameSource) -> RunSpeed {
    show.controls().map(RunSpeed::of).unwrap_or_default()
}

/// Number of frames of a recording so far, as text.
fn count(show: &dyn FrameSource) -> String {
    show.frames().map_or("-".to_owned(), |frames| frames.to_string())
}
