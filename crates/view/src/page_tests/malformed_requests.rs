//! Malformed requests and connections.

use std::{
    io::{ErrorKind, Read, Write},
    net::{Ipv4Addr, TcpStream},
    time::{Duration, Instant},
};

use axum::{extract::ws::Message, http::StatusCode, serve};
use tokio::{net::TcpListener, runtime::Builder};
use tower::ServiceExt;
use tungstenite::client;

use super::{Dice, TOKEN, asked, connected, first_line, frames::read, heap, opened, request, runtime, show};
use crate::page::{ConnectionLimits, ConnectionTimeouts, PageOptions, answer, router};

/// Number of inputs to try: a million, or the value of `SEIXO_INPUTS`.
fn inputs() -> usize {
    std::env::var("SEIXO_INPUTS").map_or(1_000_000, |count| count.parse().unwrap())
}

#[test]
fn a_million_requests_are_answered_as_they_should() {
    let count = inputs();
    let router = router(show([heap(0, 3)]), TOKEN);
    let mut dice = Dice(7);
    let hosts = [
        (Some("127.0.0.1:8000"), true),
        (Some("localhost"), true),
        (Some("[::1]:9"), true),
        (Some("evil.example"), false),
        (Some("127.0.0.1:80:80"), false),
        (Some(""), false),
        (None, false),
    ];
    let methods = ["GET", "GET", "GET", "HEAD", "POST", "OPTIONS", "BREW"];
    let paths = [
        "/",
        "/page.js",
        "/stage.js",
        "/page.css",
        "/live",
        "/nowhere",
        "//",
        "/../page.js",
        "/%2e",
    ];
    let characters: Vec<char> = "/?&=%.~:@+;,-_token0123456789abcdefXYZ".chars().collect();
    runtime().block_on(async {
        let (mut sent, mut seen, mut longest) = (0, 0, Duration::ZERO);
        while sent < count {
            let (host, is_host) = dice.one_of(&hosts);
            let method = dice.one_of(&methods);
            let path = dice.one_of(&paths);
            let mut noise = |length: usize| -> String { (0..dice.below(length)).map(|_| dice.one_of(&characters)).collect() };
            let (wild, before) = (noise(60), noise(12));
            let (target, is_known) = match dice.below(8) {
                0 => (format!("/{wild}"), false),
                1 => (path.to_owned(), false),
                2 => (format!("{path}?token={}", &TOKEN[..dice.below(32)]), false),
                3 => (format!("{path}?token={}", TOKEN.replace(dice.one_of(&['0', 'a', 'f']), "1")), false),
                4 => (format!("{path}?{}&token={TOKEN}", before.replace("token=", "")), true),
                _ => (format!("{path}?token={TOKEN}&{wild}"), true),
            };
            let own = format!("http://{}", host.unwrap_or_default());
            let (origin, is_origin) = match dice.below(6) {
                0 => (Some("http://evil.example".to_owned()), false),
                1 => (Some(format!("{own}0")), false),
                2 => (Some(own), true),
                _ => (None, true),
            };
            let mut headers = Vec::new();
            headers.extend(host.map(|host| ("host", host)));
            headers.extend(origin.as_deref().map(|origin| ("origin", origin)));
            if dice.below(3) == 0 {
                headers.extend([("connection", "upgrade"), ("upgrade", "websocket"), ("sec-websocket-version", "13")]);
                headers.push(("sec-websocket-key", "dGhlIHNhbXBsZSBub25jZQ=="));
            }
            let Some(request) = request(method, &target, &headers) else {
                continue;
            };
            sent += 1;
            let start = Instant::now();
            let status = router.clone().oneshot(request).await.unwrap().status();
            longest = longest.max(start.elapsed());
            let reported = format!("{method} {target} {headers:?}: {status}");
            if !is_host || !is_origin || !is_known {
                assert_eq!(status, StatusCode::FORBIDDEN, "{reported}");
            } else if method != "GET" {
                assert_eq!(status, StatusCode::METHOD_NOT_ALLOWED, "{reported}");
            } else if paths[..4].contains(&path) {
                assert_eq!(status, StatusCode::OK, "{reported}");
                seen += 1;
            } else {
                assert!(status.is_client_error() && status != StatusCode::FORBIDDEN, "{reported}");
            }
        }
        eprintln!("{sent} requests, none of which took longer than {longest:?}");
        assert!(seen > sent / 500, "{seen} of {sent}");
    });
}

/// Whether a word of a message is `-` or passes the test.
fn is_word(word: &str, is_it: impl Fn(&str) -> bool) -> bool {
    word == "-" || is_it(word)
}

/// Words for messages.
struct Words {
    /// Valid words for each position of a request for a frame.
    right: [&'static [&'static str]; 7],
    /// Words that are valid in few positions or none.
    others: &'static [&'static str],
}

const WORDS: Words = Words {
    right: [
        &["-", "particles", "contacts", "spheres", "cracks", "nonsense"],
        &["-", "speed", "speed", "radius"],
        &["-", "0", "1", "007", "18446744073709551615"],
        &["-", "-", "0", "1", "+1"],
        &["-", "-", "0:1", "-1e3:2.5", "1:0", "NaN:1"],
        &["-", "1", "2", "16", "18446744073709551615"],
        &["-", "-", "grain:1", "particle:0", "grain:4294967295"],
    ],
    others: &[
        "Speed",
        "../speed",
        "speed\0",
        "sp\u{e9}ed",
        "_",
        "-1",
        "1e3",
        "18446744073709551616",
        "NaN",
        "",
        "\u{661}",
        "0:",
        "1:2:3",
        "0x",
        "wall:1",
        "grain:-1",
        "ball:2",
    ],
};

impl Words {
    /// A message, valid words four times in five: a request for a frame or, one time in six, for details.
    fn message(&self, dice: &mut Dice) -> String {
        let is_right = dice.below(5) > 0;
        let start = if is_right { "" } else { dice.one_of(&["", "", "s", "F", " "]) };
        if dice.below(6) == 0 {
            let targets = ["ball:0", "ball:2", "ball:3", "grain:17", "particle:0"];
            let target = if is_right {
                dice.one_of(&targets)
            } else {
                dice.one_of(self.others)
            };
            return format!("{start}details {target}");
        }
        let words = self.right.map(|right| {
            let is_other = !is_right && dice.below(3) == 0;
            dice.one_of(if is_other { self.others } else { right })
        });
        format!("{start}frame {}", words.join(" "))
    }
}

const SHOWN: [&str; 8] = ["particles", "spheres", "smooth", "surface", "contacts", "chains", "bonds", "cracks"];

fn is_name(word: &str) -> bool {
    let is_fit = |character: char| matches!(character, 'a'..='z' | '0'..='9' | '_');
    (1..=100).contains(&word.len()) && word.chars().all(is_fit)
}

fn is_number(word: &str) -> bool {
    word.parse::<u64>().is_ok()
}

fn range_in(word: &str) -> Option<[f64; 2]> {
    let (low, high) = word.split_once(':')?;
    Some([low.parse().ok()?, high.parse().ok()?])
}

fn is_particle(word: &str) -> bool {
    let known = word.strip_prefix("grain:").or_else(|| word.strip_prefix("particle:"));
    known.is_some_and(|id| id.parse::<u32>().is_ok())
}

fn is_ball(word: &str) -> bool {
    word.strip_prefix("ball:").is_some_and(is_number)
}

/// Beginning of the expected answer to a request for a frame that is refused.
fn refusal_of(parts: &[&str]) -> Option<String> {
    let ["frame", shown, field, index, seen, range, every, picked] = parts else {
        return Some("error - a request is".to_owned());
    };
    let is_every = |word: &str| word.parse::<u64>().is_ok_and(|every| every > 0);
    let is_understood = is_word(shown, is_name)
        && is_word(field, is_name)
        && is_word(index, is_number)
        && is_word(seen, is_number)
        && is_word(range, |word| range_in(word).is_some())
        && is_word(every, is_every)
        && is_word(picked, is_particle);
    let last = index.parse().map_or(1, |index: u64| index.min(1));
    if !is_understood {
        Some("error - a request is".to_owned())
    } else if !is_word(shown, |word| SHOWN.contains(&word)) {
        Some("error - nothing that can be shown is called".to_owned())
    } else if range_in(range).is_some_and(|[low, high]| !(low < high && (high - low).is_finite())) {
        Some("error 2 the color range".to_owned())
    } else if !["-", "speed"].contains(field) {
        Some("error 2 no field named".to_owned())
    } else {
        (seen.parse() == Ok(last)).then(|| "nothing 2".to_owned())
    }
}

#[test]
fn a_million_messages_are_answered_as_they_should() {
    let show = show([heap(0, 3), heap(1, 3)]);
    let mut dice = Dice(13);
    let characters: Vec<char> = "framedetils-: 0123456789speed_\t\n\r\0\u{7f}\u{e9}\u{2028}\u{1f600}"
        .chars()
        .collect();
    let (mut frames, mut understood, mut longest, mut known) = (0, 0, Duration::ZERO, PageOptions::default());
    // n if one of n balls came with the last frame.
    let mut every: Option<usize> = None;
    let count = inputs();
    for _ in 0..count {
        let mut message = WORDS.message(&mut dice);
        // Three in eight messages have some letters changed, added or removed.
        for _ in 0..dice.below(8).saturating_sub(4) {
            let places: Vec<usize> = message.char_indices().map(|(place, _)| place).chain([message.len()]).collect();
            let [one, other] = [dice.one_of(&places), dice.one_of(&places)];
            let character = dice.one_of(&characters).to_string();
            match dice.below(4) {
                0 => message.insert_str(one, &character),
                1 => message.truncate(one),
                2 => message.replace_range(one.min(other)..one.max(other), &character),
                _ => message.insert_str(one, &message[one.min(other)..one.max(other)].repeat(1 + dice.below(3))),
            }
        }
        let start = Instant::now();
        let (answered, after) = answer(&*show, &message, known);
        longest = longest.max(start.elapsed());
        let parts: Vec<&str> = message.split(' ').collect();
        let reported = format!("{message:?}: {answered:?}");
        let expected = match parts[..] {
            ["details", who] if is_particle(who) || is_ball(who) => {
                let index = who.strip_prefix("ball:").map_or(0, |index| index.parse::<usize>().unwrap());
                let beginning = match every {
                    None => "error - no frame was sent yet",
                    Some(every) if index.saturating_mul(every) >= 3 => "error - ball ",
                    Some(_) => "details ",
                };
                Some(beginning.to_owned())
            }
            _ => refusal_of(&parts),
        };
        understood += usize::from(expected.as_deref() != Some("error - a request is"));
        match (expected, answered) {
            (Some(expected), Message::Text(text)) => assert!(text.starts_with(&expected), "{reported}"),
            (None, Message::Binary(bytes)) => {
                let number = parts[3].parse().map_or(1, |index: u64| index.min(1));
                assert_eq!(read(&tungstenite::Message::Binary(bytes)).number, number, "{reported}");
                every = Some(parts[6].parse().unwrap_or(1));
                frames += 1;
            }
            _ => panic!("{reported}"),
        }
        known = after;
        if dice.below(100) == 0 {
            (known, every) = (PageOptions::default(), None);
        }
    }
    eprintln!("{count} messages, {understood} understood, none of which took longer than {longest:?}");
    assert!(understood > 2 * count / 5, "{understood} of {count}");
    assert!(frames > count / 12, "{frames} of {count}");
}

#[test]
fn connections_full_of_noise_disturb_no_one() {
    let (page, host, live) = opened([heap(0, 50)]);
    let target = page.address().split_once(&host).unwrap().1.to_owned();
    let whole = format!("GET {target} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n");
    let mut dice = Dice(11);
    let mut silent = Vec::new();
    for turn in 0..400 {
        let mut noise: Vec<u8> = match turn % 4 {
            0 => Vec::new(),
            1 => whole.as_bytes()[..dice.below(whole.len())].to_vec(),
            2 => format!("GET {live} HTTP/1.1\r\nHost: {host}\r\nX: {}\r\n", "x".repeat(dice.below(20_000))).into_bytes(),
            _ => {
                let start = format!(
                    "GET {live} HTTP/1.1\r\nHost: {host}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\
                     Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
                );
                start.into_bytes()
            }
        };
        noise.extend((0..dice.below(3000)).map(|_| dice.roll() as u8));
        let mut stream = connected(&host);
        // The page may close the connection while it receives nonsense.
        stream.write_all(&noise).ok();
        if turn % 10 == 0 {
            silent.push(stream);
        }
    }
    let (line, mut stream) = first_line(&host, &whole);
    assert_eq!(line, "HTTP/1.1 200 OK");
    let mut rest = String::new();
    stream.read_to_string(&mut rest).unwrap();
    assert!(rest.contains("<canvas"));
    let end = Instant::now() + Duration::from_secs(30);
    let mut socket = loop {
        if let Ok((socket, _)) = client(format!("ws://{host}{live}"), connected(&host)) {
            break socket;
        }
        assert!(Instant::now() < end, "no place for a socket");
    };
    assert_eq!(read(&asked(&mut socket, "frame - - - - - - -")).counts[2], 50);
}

#[test]
fn who_asks_for_nothing_or_may_not_look_keeps_no_place() {
    let deadlines = ConnectionTimeouts {
        answer: Duration::from_secs(1),
        silence: Duration::from_secs(20),
    };
    let listener = std::net::TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    listener.set_nonblocking(true).unwrap();
    let host = listener.local_addr().unwrap().to_string();
    let router = router(show([heap(0, 3)]), TOKEN);
    let serving = Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    serving.spawn(async move { serve(ConnectionLimits::new(TcpListener::from_std(listener).unwrap(), deadlines), router).await });

    let begun = Instant::now();
    let (mut page, _) = client(format!("ws://{host}/live?token={TOKEN}"), connected(&host)).unwrap();
    let (line, mut refused) = first_line(&host, &format!("GET / HTTP/1.1\r\nHost: {host}\r\n\r\n"));
    assert_eq!(line, "HTTP/1.1 403 Forbidden");
    refused.read_to_string(&mut String::new()).unwrap();
    // A byte from time to time prevents the silence timeout, but is no request.
    let mut slow = connected(&host);
    slow.set_read_timeout(Some(Duration::from_millis(20))).unwrap();
    let is_open = |slow: &mut TcpStream| match slow.read(&mut [0]) {
        Ok(count) => count > 0,
        Err(cause) => matches!(cause.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut),
    };
    while is_open(&mut slow) {
        slow.write_all(b"G").ok();
    }
    assert!(begun.elapsed() < deadlines.silence, "{:?}", begun.elapsed());
    // After its first answer a client may be silent for longer.
    assert_eq!(read(&asked(&mut page, "frame - - - - - - -")).counts[2], 3);
}
