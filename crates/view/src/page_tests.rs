//! Tests of pages: access control, contents of messages, and independence of clients for any requests.

mod frames;
mod malformed_requests;
mod parts;
// Symbolic links are created as on Unix.
#[cfg(unix)]
mod outside;

use std::{
    io::{Read, Write},
    net::TcpStream,
    sync::Arc,
    time::{Duration, Instant},
};

use axum::{
    Router,
    body::{Body, to_bytes},
    http::{HeaderMap, Request, StatusCode},
};
use glam::DVec3;
use tower::ServiceExt;
use tungstenite::{Message, WebSocket, client};

use crate::{
    FrameSource, Particle, ParticleDetails, PictureOptions, Snapshot, ViewError,
    coloring::{Coloring, Legend},
    page::{Page, router},
};
use frames::read;

const TOKEN: &str = "0123456789abcdef0123456789abcdef";
const HOST: &str = "127.0.0.1:8000";

/// Pseudo-random numbers with a fixed sequence: Marsaglia's xorshift.
struct Dice(u64);

impl Dice {
    fn roll(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, count: usize) -> usize {
        (self.roll() >> 11) as usize % count
    }

    fn part(&mut self) -> f32 {
        (self.roll() >> 40) as f32 / (1 << 24) as f32
    }

    fn one_of<T: Clone>(&mut self, all: &[T]) -> T {
        all[self.below(all.len())].clone()
    }
}

/// Frames in memory.
struct Fake(Vec<Arc<Snapshot>>);

impl FrameSource for Fake {
    fn details(&self, number: u64, particle: Particle) -> Result<ParticleDetails, ViewError> {
        Ok(ParticleDetails {
            values: vec![("frame".to_owned(), number.to_string())],
            touching: particle.is_grain.then_some(3),
            contacts: vec!["grain 5: 1 N".to_owned(); usize::from(particle.is_grain)],
        })
    }

    fn title(&self) -> String {
        "fake".to_owned()
    }

    fn frames(&self) -> Option<usize> {
        Some(self.0.len())
    }

    fn frame(&self, options: &PictureOptions, seen: Option<u64>) -> Result<Option<Arc<Snapshot>>, ViewError> {
        if let Some(field) = options.field.clone().filter(|field| field != "speed") {
            let known = vec!["speed".to_owned()];
            return Err(ViewError::UnknownField { field, known });
        }
        let last = self.0.len() - 1;
        let frame = options.frame.unwrap_or(last).min(last);
        Ok((seen != Some(frame as u64)).then(|| Arc::clone(&self.0[frame])))
    }
}

/// A heap of this many balls, with two walls.
fn heap(number: u64, count: usize) -> Snapshot {
    let mut dice = Dice(number + 1);
    let corners = [DVec3::ZERO, DVec3::X, DVec3::Y, DVec3::Z].map(|corner| corner + DVec3::new(100.0, -7.0, 3.0));
    Snapshot {
        number,
        title: "a heap".to_owned(),
        time: 0.012,
        fields: vec!["speed".to_owned(), "radius".to_owned()],
        coloring: Coloring {
            palette: (0..255).map(|shade| [shade, 0, 255 - shade]).collect(),
            shade: (0..count).map(|place| (place % 255) as u8).collect(),
            legend: Legend::Scale {
                name: "speed".to_owned(),
                unit: "m/s".to_owned(),
                range: (0.0, 0.004),
                goes_on: [false, true],
            },
        },
        origin: DVec3::new(100.5, -6.5, 3.5),
        balls: (0..count)
            .map(|_| [dice.part() - 0.5, dice.part() - 0.5, 0.3 * dice.part(), 0.001 + 0.002 * dice.part()])
            .collect(),
        id: (0..count as u32).collect(),
        shown: count,
        grains: count,
        walls: vec![
            vec![[corners[0], corners[1], corners[2]]],
            vec![[corners[0], corners[1], corners[3]], [corners[1], corners[2], corners[3]]],
        ],
        ..Snapshot::default()
    }
}

fn show(snapshots: impl IntoIterator<Item = Snapshot>) -> Arc<dyn FrameSource> {
    Arc::new(Fake(snapshots.into_iter().map(Arc::new).collect()))
}

/// An open page, its host with port, and the path of its socket.
fn opened(snapshots: impl IntoIterator<Item = Snapshot>) -> (Page, String, String) {
    let page = Page::open(show(snapshots), 0).unwrap();
    let address = page.address();
    let (host, token) = address.strip_prefix("http://").unwrap().split_once("/?token=").unwrap();
    assert!(host.starts_with("127.0.0.1:"), "{host}");
    assert!(token.len() == 32 && token.bytes().all(|digit| digit.is_ascii_hexdigit()), "{token}");
    let (host, live) = (host.to_owned(), format!("/live?token={token}"));
    (page, host, live)
}

fn connected(host: &str) -> TcpStream {
    let stream = TcpStream::connect(host).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
    stream
}

fn socket(host: &str, live: &str) -> WebSocket<TcpStream> {
    client(format!("ws://{host}{live}"), connected(host)).unwrap().0
}

fn asked(socket: &mut WebSocket<TcpStream>, request: &str) -> Message {
    socket.send(Message::text(request)).unwrap();
    answer(socket)
}

fn answer(socket: &mut WebSocket<TcpStream>) -> Message {
    loop {
        let message = socket.read().unwrap();
        if matches!(message, Message::Text(_) | Message::Binary(_)) {
            return message;
        }
    }
}

/// The first line of the answer to these bytes, as far as it arrives, and the connection.
fn first_line(host: &str, request: &str) -> (String, TcpStream) {
    let mut stream = connected(host);
    stream.write_all(request.as_bytes()).unwrap();
    let mut line = Vec::new();
    let mut byte = [0];
    while line.last() != Some(&b'\n') && stream.read(&mut byte).unwrap() == 1 {
        line.push(byte[0]);
    }
    (String::from_utf8(line).unwrap().trim().to_owned(), stream)
}

/// The status of the answer to a WebSocket request, and the connection.
fn knock(host: &str, live: &str, origin: Option<&str>) -> (u16, TcpStream) {
    let origin = origin.map_or(String::new(), |origin| format!("Origin: {origin}\r\n"));
    let request = format!(
        "GET {live} HTTP/1.1\r\nHost: {host}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n\
         Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n{origin}\r\n"
    );
    let (line, stream) = first_line(host, &request);
    (line.split(' ').nth(1).unwrap().parse().unwrap(), stream)
}

fn request(method: &str, target: &str, headers: &[(&str, &str)]) -> Option<Request<Body>> {
    let mut builder = Request::builder().method(method).uri(target);
    for &(name, value) in headers {
        builder = builder.header(name, value);
    }
    builder.body(Body::empty()).ok()
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap()
}

/// The answer of a router in this process.
fn answered(router: &Router, method: &str, target: &str, headers: &[(&str, &str)]) -> (StatusCode, HeaderMap, String) {
    let request = request(method, target, headers).unwrap();
    runtime().block_on(async {
        let (parts, body) = router.clone().oneshot(request).await.unwrap().into_parts();
        let bytes = to_bytes(body, 1 << 20).await.unwrap();
        (parts.status, parts.headers, String::from_utf8(bytes.to_vec()).unwrap())
    })
}

#[test]
fn only_those_who_know_the_address_may_look() {
    let router = router(show([heap(0, 3)]), TOKEN);
    let right = |path: &str| format!("{path}?token={TOKEN}");
    for path in [
        "/",
        "/camera.js",
        "/frame.js",
        "/shaders.js",
        "/water.js",
        "/stage.js",
        "/side.js",
        "/page.js",
        "/page.css",
    ] {
        for host in [HOST, "localhost", "LocalHost:80", "[::1]:4711"] {
            let (status, headers, body) = answered(&router, "GET", &right(path), &[("host", host)]);
            assert_eq!(status, StatusCode::OK, "{path} {host}");
            assert!(!body.contains("{{"), "{path}");
            for (name, value) in [
                ("x-content-type-options", "nosniff"),
                ("referrer-policy", "no-referrer"),
                ("cache-control", "no-store"),
            ] {
                assert_eq!(headers[name], value);
            }
            assert!(
                headers["content-security-policy"]
                    .to_str()
                    .unwrap()
                    .starts_with("default-src 'none'")
            );
        }
    }
    assert_eq!(answered(&router, "GET", &right("/"), &[("host", HOST)]).2.matches(TOKEN).count(), 8);

    let other = "0123456789abcdef0123456789abcdee";
    for target in [
        "/".to_owned(),
        "/page.js".to_owned(),
        "/live".to_owned(),
        "/?token=".to_owned(),
        format!("/?token={other}"),
        format!("/?token={}", &TOKEN[1..]),
        format!("/?token={TOKEN}0"),
        format!("/?Token={TOKEN}"),
        format!("/?token={other}&token={TOKEN}"),
        format!("/{TOKEN}"),
    ] {
        let (status, headers, body) = answered(&router, "GET", &target, &[("host", HOST)]);
        assert_eq!(status, StatusCode::FORBIDDEN, "{target}");
        assert!(body.contains("Seixo printed") && !body.contains(TOKEN), "{body}");
        assert_eq!(headers["cache-control"], "no-store");
    }
    for host in [
        "evil.example",
        "evil.example:8000",
        "127.0.0.1.evil.example",
        "localhost.evil.example",
        "127.0.0.2",
        "[::1",
        "[::2]:80",
        "localhost:80:80",
        "localhost:x",
        "localhost:123456",
        "user@localhost",
        "",
    ] {
        let (status, _, body) = answered(&router, "GET", &right("/"), &[("host", host)]);
        assert_eq!(status, StatusCode::FORBIDDEN, "{host}");
        assert!(body.contains("SSH tunnel"), "{body}");
    }
    let two: &[(&str, &str)] = &[("host", HOST), ("host", "evil.example")];
    for headers in [&[] as &[_], two] {
        assert_eq!(answered(&router, "GET", &right("/"), headers).0, StatusCode::FORBIDDEN);
    }
    for (origin, is_own) in [
        ("http://127.0.0.1:8000", true),
        ("http://127.0.0.1:8001", false),
        ("http://localhost:8000", false),
        ("https://127.0.0.1:8000", false),
        ("http://evil.example", false),
        ("null", false),
        ("", false),
    ] {
        let (status, ..) = answered(&router, "GET", &right("/"), &[("host", HOST), ("origin", origin)]);
        assert_eq!(status == StatusCode::OK, is_own, "{origin}");
        assert!(is_own || status == StatusCode::FORBIDDEN, "{origin}");
    }
}

#[test]
fn nothing_is_written_and_no_file_is_read() {
    let router = router(show([heap(0, 3)]), TOKEN);
    for method in ["HEAD", "POST", "PUT", "DELETE", "OPTIONS", "TRACE", "PATCH", "BREW"] {
        for path in ["/", "/live", "/page.js", "/nowhere"] {
            let (status, ..) = answered(&router, method, &format!("{path}?token={TOKEN}"), &[("host", HOST)]);
            assert_eq!(status, StatusCode::METHOD_NOT_ALLOWED, "{method} {path}");
        }
    }
    for path in [
        "/../../etc/passwd",
        "/%2e%2e/%2e%2e/etc/passwd",
        "/..%2f..%2fetc%2fpasswd",
        "/page.js/../../Cargo.toml",
        "/fields/grains_000000.vtp",
        "/page.html",
        "/page/page.js",
        "/page.js/",
        "/favicon.ico",
        "/%00",
        "/%ff%fe",
    ] {
        let (status, ..) = answered(&router, "GET", path, &[("host", HOST)]);
        assert_eq!(status, StatusCode::FORBIDDEN, "{path}");
        let (status, _, body) = answered(&router, "GET", &format!("{path}?token={TOKEN}"), &[("host", HOST)]);
        assert_eq!(status, StatusCode::NOT_FOUND, "{path}");
        assert!(body.contains("There is nothing here"), "{body}");
    }
    // The socket path serves no page.
    let (status, ..) = answered(&router, "GET", &format!("/live?token={TOKEN}"), &[("host", HOST)]);
    assert!(status.is_client_error(), "{status}");
}

#[test]
fn who_asks_and_never_reads_keeps_no_one_from_frames() {
    let (page, host, live) = opened([heap(0, 200_000)]);
    let mut stalled = socket(&host, &live);
    for _ in 0..100 {
        stalled.send(Message::text("frame - - - - - - -")).unwrap();
    }
    let mut other = socket(&host, &live);
    let start = Instant::now();
    for _ in 0..20 {
        assert_eq!(read(&asked(&mut other, "frame - - - - - - -")).counts[2], 200_000);
    }
    assert!(start.elapsed() < Duration::from_secs(60), "{:?}", start.elapsed());
    let start = Instant::now();
    drop(page);
    assert!(start.elapsed() < Duration::from_secs(2));
    let is_gone = || TcpStream::connect(&host).is_err();
    while !is_gone() {
        assert!(start.elapsed() < Duration::from_secs(20), "the page still listens");
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn wrong_requests_are_reported() {
    let (_page, host, live) = opened([heap(0, 5), heap(1, 5)]);
    let mut socket = socket(&host, &live);
    let is_error =
        |message: &Message, what: &str| matches!(message, Message::Text(text) if text.starts_with("error ") && text.contains(what));
    for request in [
        "",
        " ",
        "frame",
        "frame - - -",
        "frame - - - - - -",
        "frame - - - - - - - -",
        "frame  - - - - - - -",
        "FRAME - - - - - - -",
        "frame Contacts - - - - - -",
        "frame - Speed - - - - -",
        "frame - ../speed - - - - -",
        "frame - - -1 - - - -",
        "frame - - 1.5 - - - -",
        "frame - - 99999999999999999999999 - - - -",
        "frame - - - x - - -",
        "frame - - - 99999999999999999999999 - - -",
        "frame - - - - 1 - -",
        "frame - - - - 1:2:3 - -",
        "frame - - - - - 0 -",
        "frame - - - - - -2 -",
        "frame - - - - - - 17",
        "frame - - - - - - wall:17",
        "frame - - - - - - grain:-1",
        "frame - - - - - - ball:1",
        "frame \u{1f600} - - - - - -",
        "details",
        "details -",
        "details 17",
        "details ball:1.5",
        "details grain:4294967296",
        "{\"want\": {}}",
        format!("frame - {} - - - - -", "a".repeat(101)).as_str(),
        "frame ".repeat(600).as_str(),
    ] {
        let message = asked(&mut socket, request);
        assert!(is_error(&message, "a request is `frame SHOWN FIELD"), "{request}: {message}");
    }
    for (request, what) in [
        (
            "frame nonsense - - - - - -",
            "called \"nonsense\"; there are particles, spheres, smooth,",
        ),
        ("frame - nonsense - - - - -", "no field named \"nonsense\""),
        ("frame - - - - 2:1 - -", "the color range 2 to 1 must be two finite numbers"),
        ("frame - - - - 0:inf - -", "the color range 0 to inf must be two finite numbers"),
        ("details ball:0", "no frame was sent yet"),
    ] {
        let message = asked(&mut socket, request);
        assert!(is_error(&message, what), "{request}: {message}");
    }
    socket.send(Message::binary(vec![0, 1, 2])).unwrap();
    assert!(is_error(&answer(&mut socket), "requests are text"));
    assert_eq!(read(&asked(&mut socket, "frame - - 18446744073709551615 - - - -")).number, 1);
    assert_eq!(asked(&mut socket, "frame - - 0 0 - - -"), Message::text("nothing 2"));

    // A message that is too long is not even read.
    socket.send(Message::text("frame ".repeat(1000))).ok();
    let end = Instant::now() + Duration::from_secs(20);
    while socket.read().is_ok() {
        assert!(Instant::now() < end);
    }
    let mut another = self::socket(&host, &live);
    assert_eq!(read(&asked(&mut another, "frame - - - - - - -")).number, 1);
}

#[test]
fn sockets_open_to_their_own_page_and_to_sixteen_at_once() {
    let (_page, host, live) = opened([heap(0, 5)]);
    for (target, origin, expected) in [
        (live.as_str(), None, 101),
        (live.as_str(), Some(format!("http://{host}")), 101),
        (live.as_str(), Some("http://evil.example".to_owned()), 403),
        (live.as_str(), Some(format!("https://{host}")), 403),
        (live.as_str(), Some("null".to_owned()), 403),
        ("/live", None, 403),
        ("/live?token=0123456789abcdef0123456789abcdef", None, 403),
    ] {
        assert_eq!(knock(&host, target, origin.as_deref()).0, expected, "{target} {origin:?}");
    }
    // The connections above have closed, which the page may notice a little later.
    let end = Instant::now() + Duration::from_secs(20);
    let mut inside = Vec::new();
    while inside.len() < 16 {
        let (status, stream) = knock(&host, &live, None);
        if status == 101 {
            inside.push(stream);
        }
        assert!(Instant::now() < end, "{} of 16", inside.len());
    }
    assert_eq!(knock(&host, &live, None).0, 503);
    inside.pop();
    while knock(&host, &live, None).0 != 101 {
        assert!(Instant::now() < end, "a place that was left stays taken");
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn a_port_that_is_taken_is_named() {
    let (_page, host, _) = opened([heap(0, 1)]);
    let port = host.rsplit(':').next().unwrap().parse().unwrap();
    let error = Page::open(show([heap(0, 1)]), port).err().unwrap().to_string();
    assert!(error.contains(&host), "{error}");
}
