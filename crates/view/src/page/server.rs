//! What is served to whom: the page, its script and its style, and a frame for each request for one.
//!
//! On the socket `/live` the page asks `frame FIELD INDEX SEEN`, each a word or `-`: the field to color by, the frame counted from 0, and the
//! number of the frame that was seen last. Each request has one answer: a frame ([`super::wire`]), `nothing FRAMES` if nothing new came, or `error
//! CAUSE`. So a page asks for the next frame once it has drawn the last, and one that is slow or stands still holds up nobody.

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

use super::wire::encode;
use crate::{PictureOptions, Snapshot, show::Show};

/// Pages that get frames at once.
pub const MOST_CLIENTS: usize = 16;
/// Longest message of a page, in bytes.
const LONGEST_MESSAGE: usize = 4096;
/// Longest name of a field that is asked for, in bytes.
const LONGEST_NAME: usize = 100;
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

const JAVASCRIPT: &str = "text/javascript; charset=utf-8";

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
    Router::new()
        .route("/", get(page))
        .route("/page.js", get(script))
        .route("/stage.js", get(stage))
        .route("/page.css", get(style))
        .route("/live", get(live))
        .fallback(nowhere)
        .layer(from_fn_with_state(Arc::clone(&served), admit))
        .with_state(served)
}

async fn page(State(served): State<Arc<Served>>) -> Html<String> {
    Html(include_str!("page.html").replace("{{token}}", &served.token))
}

async fn script() -> impl IntoResponse {
    ([(CONTENT_TYPE, JAVASCRIPT)], include_str!("page.js"))
}

async fn stage() -> impl IntoResponse {
    ([(CONTENT_TYPE, JAVASCRIPT)], include_str!("stage.js"))
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
        Some(refusal) => refusal.into_response(),
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
    let mut walls = None;
    loop {
        let message = match timeout(STILL, socket.recv()).await {
            Err(_) => Message::Ping(Bytes::new()),
            Ok(None | Some(Err(_))) => return,
            Ok(Some(Ok(Message::Text(request)))) => {
                let show = Arc::clone(&served.show);
                match spawn_blocking(move || answer(&*show, &request, walls)).await {
                    Ok((message, sent)) => {
                        walls = sent;
                        message
                    }
                    Err(cause) => Message::text(format!("error - this frame could not be made: {cause}")),
                }
            }
            Ok(Some(Ok(Message::Binary(_)))) => Message::text("error - requests are text, such as: frame - - -"),
            Ok(Some(Ok(_))) => continue,
        };
        if socket.send(message).await.is_err() {
            return;
        }
    }
}

/// The answer to a request, and which walls the page has then.
pub fn answer(show: &dyn Show, request: &str, walls: Option<u64>) -> (Message, Option<u64>) {
    let Some((options, seen)) = wish(request) else {
        let cause =
            "error - a request is `frame FIELD INDEX SEEN`, with a name, two whole numbers, or - for each, such as: frame speed 12 -";
        return (Message::text(cause), walls);
    };
    let encoded = |snapshot: Arc<Snapshot>| Ok(encode(snapshot.here()?, show.frames(), walls));
    match show.frame(&options, seen).and_then(|found| found.map(encoded).transpose()) {
        Ok(Some((bytes, sent))) => (Message::binary(bytes), Some(sent)),
        Ok(None) => (Message::text(format!("nothing {}", count(show))), walls),
        Err(cause) => (Message::text(format!("error {} {cause}", count(show))), walls),
    }
}

/// How many frames a recording has so far, as text.
fn count(show: &dyn Show) -> String {
    show.frames().map_or("-".to_owned(), |frames| frames.to_string())
}

/// What a request asks for, and the number of the frame seen last.
fn wish(request: &str) -> Option<(PictureOptions, Option<u64>)> {
    let mut words = request.split(' ');
    if words.next() != Some("frame") {
        return None;
    }
    let field = optional(words.next()?, |word| is_name(word).then(|| word.to_owned()))?;
    let frame = optional(words.next()?, |word| word.parse().ok())?;
    let seen = optional(words.next()?, |word| word.parse().ok())?;
    let options = PictureOptions {
        frame,
        field,
        // A triangle would be as many bytes as six spheres, and a body has more of them.
        has_meshes: false,
        ..PictureOptions::default()
    };
    words.next().is_none().then_some((options, seen))
}

/// A word that may be left out, as `-`; `None` if it is there and cannot be read.
fn optional<T>(word: &str, read: impl FnOnce(&str) -> Option<T>) -> Option<Option<T>> {
    if word == "-" { Some(None) } else { read(word).map(Some) }
}

fn is_name(word: &str) -> bool {
    let is_fit = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
    !word.is_empty() && word.len() <= LONGEST_NAME && word.bytes().all(is_fit)
}
