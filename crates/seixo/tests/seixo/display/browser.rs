//! A headless browser, controlled through its DevTools protocol.

use crate::display::pictures::Picture;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, ErrorKind};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread::{sleep, spawn};
use std::time::{Duration, Instant};
use tungstenite::{Error, Message, WebSocket};

/// Time limit for the start and the answers of the browser: its first start reads some hundred megabytes, and it draws without a GPU.
const PATIENCE: Duration = Duration::from_secs(90);
/// Width and height of the page \[px\].
const SIZE: [u32; 2] = [1280, 800];
/// Flags for root, which has no sandbox; for little shared memory; and for explicit software rendering, since a fallback to it would give a warning.
const FLAGS: &str = "--headless=new --no-sandbox --disable-gpu-sandbox --use-gl=angle --use-angle=swiftshader --enable-unsafe-swiftshader \
                     --disable-dev-shm-usage --no-first-run --disable-background-networking --disable-component-update --disable-sync \
                     --remote-debugging-port=0";

/// Chromium with one page.
pub struct Browser {
    process: Child,
    socket: WebSocket<TcpStream>,
    /// Id of the session with the page; empty before there is one.
    session: String,
    calls: u64,
    events: Vec<Value>,
}

impl Browser {
    /// Starts a browser with an empty page; its profile is in a folder.
    pub fn new(profile: &Path) -> Browser {
        let mut process = Command::new("chromium")
            .args(FLAGS.split_whitespace())
            .arg(format!("--user-data-dir={}", profile.display()))
            .args([&format!("--window-size={},{}", SIZE[0], SIZE[1]), "about:blank"])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap_or_else(|error| panic!("no browser to test pages in: chromium: {error}; install the package chromium"));
        let mut errors = BufReader::new(process.stderr.take().unwrap());
        let mut said = String::new();
        let address = loop {
            let is_over = errors.read_line(&mut said).unwrap() == 0;
            assert!(!is_over, "chromium did not start: {said}");
            let line = said.lines().next_back().unwrap_or_default();
            if let Some(address) = line.strip_prefix("DevTools listening on ") {
                break address.to_owned();
            }
        };
        // The browser reports missing parts of a desktop, and would block on a full pipe.
        spawn(move || errors.lines().map_while(Result::ok).count());

        let host = address.trim_start_matches("ws://").split('/').next().unwrap();
        let stream = TcpStream::connect(host).unwrap();
        let (socket, _) = tungstenite::client(&address, stream).unwrap();
        socket.get_ref().set_read_timeout(Some(Duration::from_millis(100))).unwrap();
        let mut browser = Browser {
            process,
            socket,
            session: String::new(),
            calls: 0,
            events: Vec::new(),
        };
        let target = browser.call("Target.createTarget", json!({"url": "about:blank"}));
        let attached = browser.call("Target.attachToTarget", json!({"targetId": target["targetId"], "flatten": true}));
        browser.session = attached["sessionId"].as_str().unwrap().to_owned();
        for domain in ["Page", "Runtime", "Log"] {
            browser.call(&format!("{domain}.enable"), json!({}));
        }
        // Otherwise the page would be smaller by the frame of a window.
        let size = json!({"width": SIZE[0], "height": SIZE[1], "deviceScaleFactor": 1, "mobile": false});
        browser.call("Emulation.setDeviceMetricsOverride", size);
        browser
    }

    /// Returns the next message, if one arrives within a short time.
    fn read(&mut self) -> Option<Value> {
        match self.socket.read() {
            Ok(message) => serde_json::from_str(message.to_text().ok()?).ok(),
            Err(Error::Io(error)) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => None,
            Err(error) => panic!("chromium went away: {error}"),
        }
    }

    fn call(&mut self, method: &str, parameters: Value) -> Value {
        self.calls += 1;
        let mut message = json!({"id": self.calls, "method": method, "params": parameters});
        if !self.session.is_empty() {
            message["sessionId"] = self.session.clone().into();
        }
        self.socket.send(Message::text(message.to_string())).unwrap();
        let begun = Instant::now();
        while begun.elapsed() < PATIENCE {
            match self.read() {
                Some(mut answer) if answer["id"] == self.calls => {
                    assert!(answer["error"].is_null(), "{method}: {}", answer["error"]);
                    return answer["result"].take();
                }
                Some(event) => self.events.push(event),
                None => {}
            }
        }
        panic!("chromium did not answer {method} within {} s", PATIENCE.as_secs());
    }

    /// Opens a page.
    pub fn visit(&mut self, address: &str) {
        let gone = self.call("Page.navigate", json!({"url": address}));
        assert!(gone["errorText"].is_null(), "{address}: {}", gone["errorText"]);
    }

    /// Evaluates an expression of JavaScript on the page; a promise is awaited.
    pub fn evaluate(&mut self, expression: &str) -> Value {
        let asked = json!({"expression": expression, "returnByValue": true, "awaitPromise": true});
        let mut answer = self.call("Runtime.evaluate", asked);
        let wrong = &answer["exceptionDetails"];
        assert!(wrong.is_null(), "{expression}: {wrong}");
        answer["result"]["value"].take()
    }

    /// Waits until an expression is true on the page.
    pub fn wait_until(&mut self, expression: &str) {
        let begun = Instant::now();
        while self.evaluate(&format!("Boolean({expression})")) != true {
            if begun.elapsed() > PATIENCE {
                let state = self.evaluate("JSON.stringify(window.seixo)");
                let console = self.console();
                panic!(
                    "not within {} s: {expression}; window.seixo = {state}, {console:#?}",
                    PATIENCE.as_secs()
                );
            }
            sleep(Duration::from_millis(100));
        }
    }

    /// Sets the value of a control of the page, with the events of user input. Both arguments are expressions; the value may use `control`.
    pub fn set(&mut self, control: &str, value: &str) {
        self.evaluate(&format!(
            "(() => {{
                const control = {control};
                if (!control) throw new Error('the page has no such control');
                control.value = {value};
                for (const kind of ['input', 'change']) control.dispatchEvent(new Event(kind, {{ bubbles: true }}));
            }})()"
        ));
    }

    /// Takes a picture of the page.
    pub fn picture(&mut self) -> Picture {
        let taken = self.call("Page.captureScreenshot", json!({"format": "png"}));
        Picture::from_png(&STANDARD.decode(taken["data"].as_str().unwrap()).unwrap())
    }

    /// Drags the mouse with its left button from one pixel to another.
    pub fn drag(&mut self, from: [f64; 2], to: [f64; 2]) {
        let steps = 6;
        let along = |step: i32| [0, 1].map(|axis| from[axis] + (to[axis] - from[axis]) * f64::from(step) / f64::from(steps));
        let mut mouse = |kind: &str, [x, y]: [f64; 2], is_down: bool| {
            let button = if kind == "mouseMoved" && !is_down { "none" } else { "left" };
            let event = json!({"type": kind, "x": x, "y": y, "button": button, "buttons": i32::from(is_down), "clickCount": 1});
            self.call("Input.dispatchMouseEvent", event);
        };
        mouse("mouseMoved", from, false);
        mouse("mousePressed", from, true);
        (1..=steps).for_each(|step| mouse("mouseMoved", along(step), true));
        mouse("mouseReleased", to, false);
    }

    /// Pauses the page, as a debugger does at a breakpoint: it then computes, draws and reads nothing.
    pub fn hold(&mut self) {
        self.call("Debugger.enable", json!({}));
        self.call("Debugger.pause", json!({}));
        let begun = Instant::now();
        while !self.events.iter().any(|event| event["method"] == "Debugger.paused") {
            let event = self.read();
            self.events.extend(event);
            assert!(begun.elapsed() < PATIENCE, "the page computes nothing that could be held");
        }
    }

    /// Returns all errors and warnings so far: of scripts, uncaught ones, and of the browser.
    pub fn console(&mut self) -> Vec<String> {
        // Events from before the answer have arrived with it.
        self.evaluate("0");
        self.events.iter().filter_map(complaint).collect()
    }
}

/// Returns the error or warning of an event, if it is one.
fn complaint(event: &Value) -> Option<String> {
    let reported = &event["params"];
    let is_bad = |level: &Value| level == "error" || level == "warning";
    match event["method"].as_str()? {
        "Runtime.consoleAPICalled" if is_bad(&reported["type"]) || reported["type"] == "assert" => Some(reported["args"].to_string()),
        "Runtime.exceptionThrown" => Some(reported["exceptionDetails"].to_string()),
        "Log.entryAdded" if is_bad(&reported["entry"]["level"]) => Some(reported["entry"].to_string()),
        _ => None,
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        // A request to close also ends its other processes. A paused page prevents that.
        let _ = self
            .socket
            .send(Message::text(json!({"id": 0, "method": "Browser.close"}).to_string()));
        let begun = Instant::now();
        while matches!(self.process.try_wait(), Ok(None)) && begun.elapsed() < Duration::from_secs(5) {
            sleep(Duration::from_millis(50));
        }
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
