//! A window on a recording or a running simulation.

mod camera_path;
mod choices;
mod control_bar;
mod drawn;
mod gui;
mod legend;
mod loader;
mod marks;
mod orbit;
mod panel;
mod pick;
mod picked;
mod plots;
mod pointer;
mod saved;
mod screen;

use std::sync::Arc;
use std::time::Instant;

use winit::{
    application::ApplicationHandler,
    event::{ElementState, WindowEvent},
    event_loop::{ActiveEventLoop, ControlFlow, EventLoop, EventLoopProxy},
    keyboard::{Key, NamedKey},
    window::WindowId,
};

use crate::{FrameSource, PictureOptions, ViewError, render::RenderDevice};
use drawn::Drawn;
use loader::{Loader, LoaderEvent};
use panel::Panel;

/// Controls of a window: keys and gestures with their effects.
pub const KEYS: [(&str, &str); 14] = [
    ("drag", "turns"),
    ("Shift or the right button", "moves"),
    ("the wheel", "zooms"),
    ("F", "frames everything"),
    ("a click", "picks a particle and shows its fields and contacts"),
    ("Ctrl and drag", "draws the grain that was picked along"),
    ("Space", "plays or pauses"),
    ("an arrow key", "goes a frame on or back, or of a run that stands still a step on"),
    ("Home or End", "goes to the first frame, or to the last and on with what comes"),
    ("W", "turns walls off or on"),
    ("K", "keeps a view"),
    ("V", "flies through those that were kept"),
    ("S", "saves a picture beside the run"),
    ("Q", "quits"),
];

/// A display for a window, and a graphics adapter.
pub struct Display {
    events: EventLoop<LoaderEvent>,
    options: PictureOptions,
}

impl Display {
    /// The display of this machine, for a window with these initial options.
    ///
    /// # Errors
    /// If there is no display or no graphics adapter, or the options are invalid.
    pub fn open(options: &PictureOptions) -> Result<Display, ViewError> {
        options.check()?;
        let events = EventLoop::with_user_event().build().map_err(|error| no_display(&error))?;
        pollster::block_on(RenderDevice::adapter(&wgpu::Instance::new(RenderDevice::adapters()), None))?;
        Ok(Display {
            events,
            options: options.clone(),
        })
    }

    /// Shows the source in a window until the window is closed. Calls `opened` once the window and its graphics are ready, and never if that fails.
    ///
    /// # Errors
    /// If no window can be opened, or the device fails.
    pub fn show(self, show: Arc<dyn FrameSource>, opened: impl FnOnce() + 'static) -> Result<(), ViewError> {
        let Display { events, options } = self;
        let loader_events = events.create_proxy();
        let mut app = App {
            title: format!("Seixo – {}", show.title()),
            // A closed window needs no more events.
            loader: Loader::new(&show, move |one| loader_events.send_event(one).is_ok(), &options),
            proxy: events.create_proxy(),
            size: options.size,
            panel: Panel::new(show, &options),
            opened: Some(Box::new(opened)),
            due: None,
            drawn: None,
            failed: None,
        };
        events.run_app(&mut app).map_err(|error| no_display(&error))?;
        app.failed.map_or(Ok(()), Err)
    }
}

/// The error of winit, without the position in its source.
fn no_display(error: &impl std::fmt::Display) -> ViewError {
    let text = error.to_string();
    let inner = text.split_once(".rs:").and_then(|(_, behind)| behind.split_once(": "));
    ViewError::NoDisplay {
        cause: inner.map_or(&*text, |(_, cause)| cause).trim_end_matches('.').to_owned(),
    }
}

struct App {
    title: String,
    loader: Loader,
    proxy: EventLoopProxy<LoaderEvent>,
    panel: Panel,
    size: (u32, u32),
    /// Callback for the open window.
    opened: Option<Box<dyn FnOnce()>>,
    /// Time of the next redraw of panels.
    due: Option<Instant>,
    drawn: Option<Drawn>,
    failed: Option<ViewError>,
}

impl ApplicationHandler<LoaderEvent> for App {
    fn resumed(&mut self, events: &ActiveEventLoop) {
        if self.drawn.is_some() {
            return;
        }
        match Drawn::open(events, &self.title, self.size, &self.proxy, self.panel.graphics()) {
            Ok(drawn) => self.drawn = Some(drawn),
            Err(error) => return self.fail(events, error),
        }
        if let Some(opened) = self.opened.take() {
            opened();
        }
    }

    fn user_event(&mut self, events: &ActiveEventLoop, loader_events: LoaderEvent) {
        if matches!(loader_events, LoaderEvent::AdvanceResult) {
            return events.exit();
        }
        let Some(drawn) = &mut self.drawn else { return };
        match loader_events {
            LoaderEvent::Frame(snapshot) => drawn.arrived = Some(snapshot),
            LoaderEvent::ParticleDetails(details) => self.panel.details = Some(details),
            LoaderEvent::Plots(charts, passes) => (self.panel.charts, self.panel.passes) = (charts, passes),
            LoaderEvent::AdvanceResult => {}
            LoaderEvent::Failed(message) => self.panel.failed(message),
            LoaderEvent::Repaint(after) if after.is_zero() => {}
            LoaderEvent::Repaint(after) => {
                let when = Instant::now().checked_add(after);
                self.due = [self.due, when].into_iter().flatten().min();
                return;
            }
        }
        drawn.window.request_redraw();
    }

    fn window_event(&mut self, events: &ActiveEventLoop, _: WindowId, event: WindowEvent) {
        let Some(drawn) = &mut self.drawn else { return };
        let is_taken = drawn.gui.take(&drawn.window, &event);
        match event {
            WindowEvent::CloseRequested => events.exit(),
            WindowEvent::RedrawRequested => {
                if let Err(error) = drawn.redraw(&mut self.panel, &self.loader) {
                    self.fail(events, error);
                }
                return;
            }
            WindowEvent::KeyboardInput {
                event,
                is_synthetic: false,
                ..
            } if event.state == ElementState::Pressed && !is_taken => {
                let closes = self.press(&event.logical_key, event.repeat);
                if closes {
                    events.exit();
                }
            }
            event => drawn.handle_event(&event, &mut self.panel, is_taken),
        }
        if let Some(drawn) = &self.drawn {
            drawn.window.request_redraw();
        }
    }

    fn about_to_wait(&mut self, events: &ActiveEventLoop) {
        let Some(drawn) = &self.drawn else { return };
        let due = [self.due, drawn.due()].into_iter().flatten().min();
        events.set_control_flow(match due {
            Some(when) if when <= Instant::now() => {
                self.due = None;
                drawn.window.request_redraw();
                ControlFlow::Wait
            }
            Some(when) => ControlFlow::WaitUntil(when),
            None => ControlFlow::Wait,
        });
    }
}

impl App {
    fn fail(&mut self, events: &ActiveEventLoop, error: ViewError) {
        self.failed = Some(error);
        events.exit();
    }

    /// Performs the action of a key, once per press except for the arrow keys. Returns whether to close the window.
    fn press(&mut self, key: &Key, is_repeated: bool) -> bool {
        let panel = &mut self.panel;
        match key {
            Key::Named(NamedKey::ArrowRight) => panel.go(1),
            Key::Named(NamedKey::ArrowLeft) => panel.go(-1),
            _ if is_repeated => {}
            Key::Named(NamedKey::Space) => panel.play_or_pause(),
            Key::Named(NamedKey::Home) => panel.go_to(0),
            Key::Named(NamedKey::End) => panel.go_to(usize::MAX),
            Key::Character(character) => match &*character.to_lowercase() {
                "q" => return true,
                "f" => {
                    if let Some(drawn) = &mut self.drawn {
                        drawn.frame_all();
                    }
                }
                "k" => {
                    if let Some(drawn) = &self.drawn {
                        drawn.keep_view(&mut panel.path);
                    }
                }
                "v" => panel.path.fly_or_stay(),
                "w" => panel.options.has_walls ^= true,
                "s" => panel.saves = true,
                _ => {}
            },
            _ => {}
        }
        false
    }
}
