//! A virtual screen with a keyboard and a mouse.

use crate::display::pictures::Picture;
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};
use x11rb::connection::Connection;
use x11rb::protocol::xproto::{
    AtomEnum, BUTTON_PRESS_EVENT, BUTTON_RELEASE_EVENT, ClientMessageEvent, ConfigureWindowAux, ConnectionExt, EventMask, ImageFormat,
    InputFocus, KEY_PRESS_EVENT, KEY_RELEASE_EVENT, MOTION_NOTIFY_EVENT, MapState, Window,
};
use x11rb::protocol::xtest::ConnectionExt as _;
use x11rb::rust_connection::RustConnection;
use x11rb::wrapper::ConnectionExt as _;
use x11rb::{CURRENT_TIME, NONE};

/// Keysym of the left arrow.
pub const LEFT: u32 = 0xff51;
/// Keysym of the right arrow.
pub const RIGHT: u32 = 0xff53;
/// Keysym of the space bar.
pub const SPACE: u32 = 0x20;
/// Keysym of the letter f.
pub const F: u32 = 0x66;
/// Keysym of the letter k.
pub const K: u32 = 0x6b;
/// Keysym of the letter v.
pub const V: u32 = 0x76;
/// Keysym of the letter q.
pub const Q: u32 = 0x71;
/// Keysym of the letter s.
pub const S: u32 = 0x73;
/// Keysym of the letter w.
pub const W: u32 = 0x77;

/// Width and height of a screen \[px\].
const SIZE: [i32; 2] = [1280, 800];
/// Time limit until a window appears, on a machine with other work.
const PATIENCE: Duration = Duration::from_secs(90);
/// Time that a key or a button is held, so that a program that draws slowly sees press and release in two frames.
const HELD: Duration = Duration::from_millis(120);

/// An X server that draws into memory, and a connection to it.
pub struct Screen {
    server: Child,
    /// Value of `DISPLAY` for programs on this screen.
    pub display: String,
    connection: RustConnection,
    root: Window,
}

impl Screen {
    /// Starts a new screen with 96 pixels per inch.
    pub fn new() -> Screen {
        let [width, height] = SIZE;
        let line = format!("-displayfd 1 -screen 0 {width}x{height}x24 -dpi 96 -nolisten tcp -noreset");
        let mut server = Command::new("Xvfb")
            .args(line.split_whitespace())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap_or_else(|error| panic!("no screen to test windows on: Xvfb: {error}; install the package xvfb"));
        // The server prints its number when it is ready.
        let mut number = String::new();
        BufReader::new(server.stdout.as_mut().unwrap()).read_line(&mut number).unwrap();
        let display = format!(":{}", number.trim());
        let (connection, screen) = RustConnection::connect(Some(&display)).unwrap_or_else(|error| panic!("Xvfb at {display}: {error}"));
        let root = connection.setup().roots[screen].root;
        let screen = Screen {
            server,
            display,
            connection,
            root,
        };
        // Out of the way, into a corner without windows.
        screen.input(MOTION_NOTIFY_EVENT, 0, SIZE.map(|size| size as i16 - 1));
        screen
    }

    fn atom(&self, name: &str) -> u32 {
        self.connection.intern_atom(false, name.as_bytes()).unwrap().reply().unwrap().atom
    }

    /// Returns the title of a window; `None` if the window is gone.
    fn title(&self, window: Window) -> Option<String> {
        let read = |name: u32| {
            let asked = self.connection.get_property(false, window, name, AtomEnum::ANY, 0, 1000).ok()?;
            let value = asked.reply().ok()?.value;
            (!value.is_empty()).then(|| String::from_utf8_lossy(&value).into_owned())
        };
        read(self.atom("_NET_WM_NAME")).or_else(|| read(AtomEnum::WM_NAME.into()))
    }

    fn is_seen(&self, window: Window) -> bool {
        let asked = self.connection.get_window_attributes(window).unwrap();
        asked.reply().is_ok_and(|found| found.map_state == MapState::VIEWABLE)
    }

    /// Waits for the window whose title has this beginning and this word, and gives it the keyboard focus, as a window manager would.
    pub fn window(&self, beginning: &str, word: &str) -> Window {
        let begun = Instant::now();
        loop {
            let windows = self.connection.query_tree(self.root).unwrap().reply().unwrap().children;
            let titles: Vec<String> = windows.iter().filter_map(|window| self.title(*window)).collect();
            let is_titled = |title: String| title.starts_with(beginning) && title.contains(word);
            let is_wanted = |window: &Window| self.title(*window).is_some_and(is_titled) && self.is_seen(*window);
            if let Some(window) = windows.into_iter().find(is_wanted) {
                self.connection
                    .set_input_focus(InputFocus::PARENT, window, CURRENT_TIME)
                    .unwrap()
                    .check()
                    .unwrap();
                return window;
            }
            assert!(
                begun.elapsed() < PATIENCE,
                "no window \"{beginning}…{word}…\" after {} s, but {titles:?}",
                PATIENCE.as_secs()
            );
            sleep(Duration::from_millis(50));
        }
    }

    /// Moves the corner of a window to a pixel, also outside the screen, and sets its width and height, as a window manager would.
    pub fn place(&self, window: Window, [x, y]: [i32; 2], [width, height]: [u32; 2]) {
        let place = ConfigureWindowAux::new().x(x).y(y).width(width).height(height);
        self.connection.configure_window(window, &place).unwrap().check().unwrap();
    }

    /// Takes a picture of the visible part of a window.
    pub fn picture(&self, window: Window) -> Picture {
        let place = self.connection.get_geometry(window).unwrap().reply().unwrap();
        let seen = [(place.x, place.width, SIZE[0]), (place.y, place.height, SIZE[1])].map(|(corner, length, screen)| {
            let (corner, length) = (i32::from(corner), i32::from(length));
            let hidden = (-corner).max(0);
            (hidden as i16, (length.min(screen - corner) - hidden) as u16)
        });
        let [(x, width), (y, height)] = seen;
        let asked = self
            .connection
            .get_image(ImageFormat::Z_PIXMAP, window, x, y, width, height, u32::MAX);
        let bgrx = asked.unwrap().reply().unwrap().data;
        Picture {
            width: width.into(),
            height: height.into(),
            rgb: bgrx.chunks_exact(4).flat_map(|pixel| [pixel[2], pixel[1], pixel[0]]).collect(),
        }
    }

    fn input(&self, kind: u8, detail: u8, [x, y]: [i16; 2]) {
        let asked = self.connection.xtest_fake_input(kind, detail, CURRENT_TIME, self.root, x, y, 0);
        asked.unwrap().check().unwrap();
        self.connection.sync().unwrap();
    }

    /// Presses and releases a key.
    pub fn press(&self, keysym: u32) {
        let setup = self.connection.setup();
        let count = setup.max_keycode - setup.min_keycode + 1;
        let mapping = self
            .connection
            .get_keyboard_mapping(setup.min_keycode, count)
            .unwrap()
            .reply()
            .unwrap();
        let mut keys = mapping.keysyms.chunks(mapping.keysyms_per_keycode.into());
        let key = keys.position(|keysyms| keysyms.first() == Some(&keysym)).unwrap() as u8 + setup.min_keycode;
        self.input(KEY_PRESS_EVENT, key, [0; 2]);
        sleep(HELD);
        self.input(KEY_RELEASE_EVENT, key, [0; 2]);
    }

    /// Moves the pointer to a pixel of a window.
    pub fn point(&self, window: Window, [x, y]: [usize; 2]) {
        let asked = self.connection.translate_coordinates(window, self.root, x as i16, y as i16);
        let place = asked.unwrap().reply().unwrap();
        self.input(MOTION_NOTIFY_EVENT, 0, [place.dst_x, place.dst_y]);
    }

    /// Clicks at the position of the pointer.
    pub fn click(&self) {
        self.input(BUTTON_PRESS_EVENT, 1, [0; 2]);
        sleep(HELD);
        self.input(BUTTON_RELEASE_EVENT, 1, [0; 2]);
    }

    /// Moves the pointer from one pixel of a window to another with the button down.
    pub fn drag(&self, window: Window, from: [usize; 2], to: [usize; 2]) {
        self.point(window, from);
        self.input(BUTTON_PRESS_EVENT, 1, [0; 2]);
        sleep(HELD);
        self.point(window, to);
        sleep(HELD);
        self.input(BUTTON_RELEASE_EVENT, 1, [0; 2]);
    }

    /// Requests a window to close, as its close button does.
    pub fn close(&self, window: Window) {
        let data = [self.atom("WM_DELETE_WINDOW"), CURRENT_TIME, NONE, NONE, NONE];
        let event = ClientMessageEvent::new(32, window, self.atom("WM_PROTOCOLS"), data);
        let asked = self.connection.send_event(false, window, EventMask::NO_EVENT, event);
        asked.unwrap().check().unwrap();
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        // TERM instead of KILL: the server then removes its socket and its lock.
        let is_asked = Command::new("sh")
            .args(["-c", &format!("kill -TERM {}", self.server.id())])
            .status();
        if !is_asked.is_ok_and(|status| status.success()) {
            let _ = self.server.kill();
        }
        let _ = self.server.wait();
    }
}
