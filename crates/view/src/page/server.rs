//! What is served to whom: the page, its script and its style, and a frame for each request for one.
//!
//! On the socket `/live` the page asks `frame SHOWN FIELD INDEX SEEN RANGE EVERY PICKED`, each a word or `-`: what is shown, the field to color by, the
//! frame counted from 0, the number of the frame that was seen last, the ends of the scale of colors as `LOW:HIGH`, one of how many balls and rods is wanted, and
//! the particle whose place is, as `grain:ID` or `particle:ID`. Or it asks `details PICKED` for all that is known of such a particle, or of `ball:INDEX`,
//! which a ball of the frame that was sent last stands for. Each request has one answer: a frame ([`super::wire`]); `details PICKED` and lines, a name and a
//! value with a tab between them; `nothing FRAMES` and where a simulation that runs stands, if nothing new came; or `error FRAMES CAUSE`. So a page asks for
//! the next frame once it has drawn the last, and one that is slow or stands still holds up nobody.

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
    wire::{Around, encode, place_of_ball},
    wish::{self, Request as Asked, Target, Wish, offered},
};
use crate::{Particle, Snapshot, ViewError, pace::Pace, show::Show};

/// Pages that get frames at once.
pub const MOST_CLIENTS: usize = 16;
/// Longest message of a page, in bytes.
const LONGEST_MESSAGE: usize = 4096;
/// A page that asks for nothing, as it is out of sight, hears a word after so long, so that its connection is not taken for dead.
const STILL: Duration = Duration::from_secs(30);

/// What every answer says of itself.
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

/// The scripts of the page, in the order in which it reads them.
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

/// What all connections share.
struct Served {
    show: Arc<dyn Show>,
    token: String,
    room: Arc<Semaphore>,
}

/// The page of a show, for those who know the token.
pub(crate) fn router(show: Arc<dyn Show>, token: &str) -> Router {
    let served = Arc::new(Served {
        show,
        token: token.to_owned(),
        room: Arc::new(Semaphore::new(MOST_CLIENTS)),
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

async fn page(State(served): State<Arc<Served>>) -> Html<String> {
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

/// Lets through only who may look.
async fn admit(State(served): State<Arc<Served>>, request: Request, next: Next) -> Response {
    let refusal = served.refusal(&request);
    let mut response = match refusal {
        Some(refusal) => {
            let mut refused = refusal.into_response();
            // Who may not look keeps no place of those who may.
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

impl Served {
    /// Why a request is not answered, if it is not.
    fn refusal(&self, request: &Request) -> Option<(StatusCode, &'static str)> {
        let headers = request.headers();
        // A page elsewhere may have its own name point here (DNS rebinding); then the browser sends that name.
        let Some(host) = only(headers, header::HOST).filter(|host| is_loopback(host)) else {
            return Some((StatusCode::FORBIDDEN, FOREIGN_HOST));
        };
        // Sockets may be opened from any page; their browser says from which.
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

/// The value of a header that is there once, and is text.
fn only(headers: &HeaderMap, name: HeaderName) -> Option<&str> {
    let mut values = headers.get_all(name).iter();
    let value = values.next()?.to_str().ok()?;
    values.next().is_none().then_some(value)
}

/// Whether a host is this machine, at whatever port: a tunnel has one of its own.
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

/// Whether they are equal, in a time that does not tell how much of them is.
fn is_equal(known: &[u8], given: &[u8]) -> bool {
    let differing = known
        .iter()
        .zip(given)
        .fold(0u8, |all, (one, other)| black_box(all | (one ^ other)));
    known.len() == given.len() && differing == 0
}

/// Opens the socket over which frames go.
async fn live(State(served): State<Arc<Served>>, upgrade: WebSocketUpgrade) -> Response {
    let Ok(place) = Arc::clone(&served.room).try_acquire_owned() else {
        let sentence = format!("{MOST_CLIENTS} pages look at this already: close one of them.\n");
        return (StatusCode::SERVICE_UNAVAILABLE, sentence).into_response();
    };
    upgrade
        .max_message_size(LONGEST_MESSAGE)
        .max_frame_size(LONGEST_MESSAGE)
        .on_upgrade(move |socket| attend(socket, served, place))
}

/// Answers one page until it leaves.
async fn attend(mut socket: WebSocket, served: Arc<Served>, _place: OwnedSemaphorePermit) {
    let mut known = Known::default();
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

/// What a page has.
#[derive(Clone, Default)]
pub struct Known {
    /// Which walls.
    walls: Option<u64>,
    /// Of which frame balls were sent to it last, and one of how many.
    last: Option<(Arc<Snapshot>, usize)>,
}

/// The answer to a request, and what the page has then.
pub fn answer(show: &dyn Show, request: &str, known: Known) -> (Message, Known) {
    let message = match wish::read(request) {
        Ok(Asked::Frame(wish)) => match frame(show, &wish, known.walls) {
            Ok(Some((bytes, known))) => return (Message::binary(bytes), known),
            Ok(None) => {
                let pace = pace(show);
                let said = format!("nothing {} {}\n{}", count(show), pace.line(), pace.shortfall);
                Message::text(said.trim_end().to_owned())
            }
            Err(cause) => Message::text(format!("error {} {cause}", count(show))),
        },
        Ok(Asked::Details(target)) => {
            let told = details(show, target, &known);
            Message::text(told.unwrap_or_else(|cause| format!("error - {cause}")))
        }
        Err(cause) => Message::text(format!("error - {cause}")),
    };
    (message, known)
}

/// The frame that is wished for, if it is another than that which was seen, and what a page has then that had these walls.
fn frame(show: &dyn Show, wish: &Wish, walls: Option<u64>) -> Result<Option<(Vec<u8>, Known)>, ViewError> {
    wish.options.check()?;
    let Some(snapshot) = show.frame(&wish.options, wish.seen)? else {
        return Ok(None);
    };
    let here = snapshot.here()?;
    let around = Around {
        frames: show.frames(),
        pace: pace(show),
        offered: offered(show, here),
    };
    let (bytes, walls) = encode(here, wish, &around, walls);
    let known = Known {
        walls: Some(walls),
        last: Some((snapshot, wish.every.get())),
    };
    Ok(Some((bytes, known)))
}

/// All that is known of a particle, as text.
fn details(show: &dyn Show, target: Target, known: &Known) -> Result<String, String> {
    let Some((snapshot, every)) = &known.last else {
        return Err("no frame was sent yet that has particles: ask for one first".to_owned());
    };
    let told = |error: ViewError| error.to_string();
    let particle = match target {
        Target::Particle(particle) => particle,
        Target::Ball(index) => particle_of(snapshot.here().map_err(told)?, index, *every)
            .ok_or_else(|| format!("ball {index} of the frame that was sent last is no particle, or is not there"))?,
    };
    let kind = if particle.is_grain { "grain" } else { "particle" };
    let details = show.details(snapshot.number, particle).map_err(told)?;
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

/// The particle that a ball of a frame stands for, which was sent with one of so many.
fn particle_of(snapshot: &Snapshot, index: usize, every: usize) -> Option<Particle> {
    let place = place_of_ball(snapshot, index, every)?;
    let id = *snapshot.id.get(place)?;
    let is_grain = place < snapshot.grains;
    Some(Particle { id, is_grain })
}

/// Where a simulation that runs stands.
fn pace(show: &dyn Show) -> Pace {
    show.controls().map(Pace::of).unwrap_or_default()
}

/// How many frames a recording has so far, as text.
fn count(show: &dyn Show) -> String {
    show.frames().map_or("-".to_owned(), |frames| frames.to_string())
}
