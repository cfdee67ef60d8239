//! A window on a recording, or on a simulation that runs.

mod bar;
mod gui;
mod legend;
mod loader;
mod orbit;
mod panel;
mod path;
mod pick;
mod plots;

use std::sync::Arc;
use std::time::{Duration, Instant};

use glam::DVec2;
use winit::{
    application::ApplicationHandler,
    dpi::PhysicalSize,
    event::{ElementState, MouseButton, MouseScrollDelta, WindowEvent},
    event_loop::{ActiveEventLoop, ControlFlow, EventLoop, EventLoopProxy},
    keyboard::{Key, ModifiersState, NamedKey},
    window::{Window, WindowId},
};

use crate::{
    Graphics, PictureOptions, Show, Snapshot, ViewError,
    camera::{Camera, Frame},
    live::Hand,
    render::{Painter, Props, Shot, Studio, Targets, adapters},
    snapshot::Scenery,
};
use gui::Gui;
use loader::{Loader, News};
use orbit::Orbit;
use panel::Panel;

/// A pointer that moved less between press and release has clicked, not dragged \[px\].
const STILL: f64 = 4.0;
/// Wall time without a move of the camera after which a picture is drawn with all its pixels \[s\].
const REST: Duration = Duration::from_millis(120);
/// Lines of the wheel by which the camera stands back at first.
const MARGIN: f64 = 1.0;
/// Simulated time in which what is drawn along reaches the pointer, if it is free to \[s\].
const DRAG: f64 = 0.05;
/// Spheres from which on pictures in motion are drawn with fewer pixels.
const MANY: usize = 300_000;

/// A display on which a window can be opened, and an adapter that draws.
pub struct Display {
    events: EventLoop<News>,
    options: PictureOptions,
}

impl Display {
    /// That of this machine, for a window in which things are looked at in this way first.
    ///
    /// # Errors
    /// If there is no display, nothing to draw with, or nothing can be looked at in this way.
    pub fn open(options: &PictureOptions) -> Result<Display, ViewError> {
        options.check()?;
        let events = EventLoop::with_user_event().build().map_err(|error| no_display(&error))?;
        pollster::block_on(Painter::adapter(&wgpu::Instance::new(adapters()), None))?;
        Ok(Display {
            events,
            options: options.clone(),
        })
    }

    /// Shows it in a window, until somebody closes that.
    ///
    /// # Errors
    /// If no window can be opened, or the device fails.
    pub fn show(self, show: Arc<dyn Show>) -> Result<(), ViewError> {
        let Display { events, options } = self;
        let mut app = App {
            title: format!("Seixo – {}", show.title()),
            loader: Loader::new(&show, events.create_proxy(), &options),
            proxy: events.create_proxy(),
            size: options.size,
            panel: Panel::new(show, &options),
            drawn: None,
            failed: None,
        };
        events.run_app(&mut app).map_err(|error| no_display(&error))?;
        app.failed.map_or(Ok(()), Err)
    }
}

/// What winit says, without the place in its source.
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
    proxy: EventLoopProxy<News>,
    panel: Panel,
    size: (u32, u32),
    drawn: Option<Drawn>,
    failed: Option<ViewError>,
}

/// What there is once the window is open.
struct Drawn {
    window: Arc<Window>,
    surface: wgpu::Surface<'static>,
    config: wgpu::SurfaceConfiguration,
    studio: Studio,
    targets: [Option<Targets>; 2],
    gui: Gui,
    /// What is shown next: a window that is hidden needs none of it.
    arrived: Option<Arc<Snapshot>>,
    scene: Option<Scene>,
    orbit: Option<Orbit>,
    pointer: Pointer,
    moved: Option<Instant>,
    /// When pictures of late were drawn.
    paces: Vec<Instant>,
}

/// A snapshot on the device.
struct Scene {
    snapshot: Arc<Snapshot>,
    scenery: Scenery,
    props: Props,
}

#[derive(Default)]
struct Pointer {
    at: DVec2,
    pressed: Option<(MouseButton, DVec2)>,
    keys: ModifiersState,
}

impl ApplicationHandler<News> for App {
    fn resumed(&mut self, events: &ActiveEventLoop) {
        if self.drawn.is_some() {
            return;
        }
        match Drawn::open(events, &self.title, self.size, &self.proxy, self.panel.graphics()) {
            Ok(drawn) => self.drawn = Some(drawn),
            Err(error) => self.fail(events, error),
        }
    }

    fn user_event(&mut self, events: &ActiveEventLoop, news: News) {
        if matches!(news, News::Gone) {
            return events.exit();
        }
        let Some(drawn) = &mut self.drawn else { return };
        match news {
            News::Frame(snapshot) => drawn.arrived = Some(snapshot),
            News::Details(details) => self.panel.details = Some(details),
            News::Plots(charts, passes) => (self.panel.charts, self.panel.passes) = (charts, passes),
            News::Gone => {}
            News::Failed(message) => self.panel.failed(message),
            News::Repaint(after) => {
                if !after.is_zero() {
                    return events.set_control_flow(ControlFlow::WaitUntil(Instant::now() + after));
                }
            }
        }
        drawn.window.request_redraw();
    }

    fn window_event(&mut self, events: &ActiveEventLoop, _: WindowId, event: WindowEvent) {
        let Some(drawn) = &mut self.drawn else { return };
        let is_taken = drawn.gui.take(&drawn.window, &event);
        match event {
            WindowEvent::CloseRequested => events.exit(),
            WindowEvent::Resized(size) => drawn.resize(size),
            WindowEvent::RedrawRequested => {
                if let Err(error) = drawn.redraw(&mut self.panel, &self.loader) {
                    return self.fail(events, error);
                }
                return;
            }
            WindowEvent::KeyboardInput { event, .. } if event.state == ElementState::Pressed && !is_taken => {
                let closes = self.press(&event.logical_key);
                if closes {
                    events.exit();
                }
            }
            event if !is_taken => drawn.point(&event, &mut self.panel),
            _ => {}
        }
        if let Some(drawn) = &self.drawn {
            drawn.window.request_redraw();
        }
    }

    fn about_to_wait(&mut self, events: &ActiveEventLoop) {
        let Some(drawn) = &self.drawn else { return };
        let is_due = matches!(events.control_flow(), ControlFlow::WaitUntil(when) if when <= Instant::now());
        match drawn.moved.map(|moved| moved + REST) {
            Some(rested) if rested > Instant::now() => events.set_control_flow(ControlFlow::WaitUntil(rested)),
            Some(_) => drawn.window.request_redraw(),
            None if is_due => {
                events.set_control_flow(ControlFlow::Wait);
                drawn.window.request_redraw();
            }
            None => {}
        }
    }
}

impl App {
    fn fail(&mut self, events: &ActiveEventLoop, error: ViewError) {
        self.failed = Some(error);
        events.exit();
    }

    /// Does what a key stands for; says whether that is to close the window.
    fn press(&mut self, key: &Key) -> bool {
        match key {
            Key::Named(NamedKey::Space) => self.panel.play_or_pause(),
            Key::Named(NamedKey::ArrowRight) => self.panel.go(1),
            Key::Named(NamedKey::ArrowLeft) => self.panel.go(-1),
            Key::Named(NamedKey::Home) => self.panel.go_to(0),
            Key::Named(NamedKey::End) => self.panel.go_to(usize::MAX),
            Key::Character(letter) if letter.eq_ignore_ascii_case("q") => return true,
            Key::Character(letter) if letter.eq_ignore_ascii_case("f") => {
                if let Some(drawn) = &mut self.drawn {
                    drawn.orbit = None;
                }
            }
            Key::Character(letter) if letter.eq_ignore_ascii_case("k") => self.panel.path.keeps = true,
            Key::Character(letter) if letter.eq_ignore_ascii_case("v") => self.panel.path.fly_or_stay(),
            Key::Character(letter) if letter.eq_ignore_ascii_case("w") => self.panel.options.has_walls ^= true,
            _ => {}
        }
        false
    }
}

impl Drawn {
    fn open(
        events: &ActiveEventLoop,
        title: &str,
        size: (u32, u32),
        proxy: &EventLoopProxy<News>,
        graphics: Option<&Graphics>,
    ) -> Result<Drawn, ViewError> {
        let attributes = Window::default_attributes()
            .with_title(title)
            .with_inner_size(PhysicalSize::new(size.0, size.1));
        let window = Arc::new(events.create_window(attributes).map_err(|error| no_display(&error))?);
        let on = |instance: &wgpu::Instance| instance.create_surface(window.clone());
        // Where a simulation runs on a device that draws on this display, its particles are drawn from where they lie.
        let beside = graphics.and_then(|graphics| {
            let surface = on(&graphics.instance)
                .ok()
                .filter(|surface| graphics.adapter.is_surface_supported(surface))?;
            Some((surface, graphics.painter(), graphics.adapter.clone()))
        });
        let (surface, painter, adapter) = match beside {
            Some(found) => found,
            None => {
                let instance = wgpu::Instance::new(adapters());
                let surface = on(&instance).map_err(|error| no_display(&error))?;
                let (painter, adapter) = pollster::block_on(Painter::new(&instance, Some(&surface)))?;
                (surface, painter, adapter)
            }
        };
        let PhysicalSize { width, height } = window.inner_size();
        let mut config = surface
            .get_default_config(&adapter, width.max(1), height.max(1))
            .ok_or_else(|| painter.failed("it cannot draw on this display"))?;
        let formats = surface.get_capabilities(&adapter).formats;
        config.format = formats.iter().copied().find(wgpu::TextureFormat::is_srgb).unwrap_or(config.format);
        config.present_mode = wgpu::PresentMode::AutoVsync;
        surface.configure(&painter.device, &config);
        let gui = Gui::new(&window, &painter.device, config.format, proxy.clone());
        Ok(Drawn {
            studio: Studio::new(painter, Some(config.format))?,
            window,
            surface,
            config,
            targets: [None, None],
            gui,
            arrived: None,
            scene: None,
            orbit: None,
            pointer: Pointer::default(),
            moved: None,
            paces: Vec::new(),
        })
    }

    fn resize(&mut self, size: PhysicalSize<u32>) {
        if size.width > 0 && size.height > 0 {
            (self.config.width, self.config.height) = (size.width, size.height);
            self.surface.configure(&self.studio.painter.device, &self.config);
            self.targets = [None, None];
        }
    }

    /// Brings a snapshot to the device.
    fn put(&mut self, snapshot: Arc<Snapshot>, options: &PictureOptions) -> Result<(), ViewError> {
        let scenery = snapshot.scenery();
        let studio = &self.studio;
        let last = self.scene.take().map(|scene| scene.props);
        let props = studio
            .painter
            .guarded(|| Ok(studio.load(&snapshot.on(&studio.painter)?.stage(&scenery, options.has_walls), last)))?;
        self.scene = Some(Scene { snapshot, scenery, props });
        Ok(())
    }

    /// The camera, and the part of the window that it fills.
    fn camera(&mut self, options: &PictureOptions) -> Option<(Camera, Frame)> {
        let scene = self.scene.as_ref()?;
        let frame = self.gui.scene_frame(&self.window);
        let orbit = self.orbit.get_or_insert_with(|| {
            let from = options.view.map_or(crate::snapshot::FROM, Into::into);
            let camera = Camera::framing(scene.snapshot.in_view(&scene.scenery).into_iter(), from, frame);
            let mut orbit = Orbit::of(&camera);
            orbit.zoom(-MARGIN);
            orbit
        });
        Some((orbit.camera(frame), frame))
    }

    /// Follows the pointer: turns, moves and zooms the camera, or picks a particle.
    fn point(&mut self, event: &WindowEvent, panel: &mut Panel) {
        match event {
            WindowEvent::ModifiersChanged(keys) => self.pointer.keys = keys.state(),
            WindowEvent::CursorMoved { position, .. } => {
                let at = DVec2::new(position.x, position.y);
                let by = at - std::mem::replace(&mut self.pointer.at, at);
                let Some((button, _)) = self.pointer.pressed else { return };
                let Some((camera, frame)) = self.camera(&panel.options) else {
                    return;
                };
                if self.pointer.keys.control_key() && self.drag(panel, &camera) {
                    return;
                }
                let Some(orbit) = &mut self.orbit else { return };
                panel.path.stay();
                if button == MouseButton::Left && !self.pointer.keys.shift_key() {
                    orbit.turn(by / frame.size[1]);
                } else {
                    orbit.pan(by, &camera);
                }
                self.moved = Some(Instant::now());
            }
            WindowEvent::MouseInput { state, button, .. } => {
                if *state == ElementState::Pressed {
                    self.pointer.pressed = Some((*button, self.pointer.at));
                } else if let Some((MouseButton::Left, from)) = self.pointer.pressed.take()
                    && from.distance(self.pointer.at) < STILL
                {
                    self.pick(panel);
                }
            }
            WindowEvent::MouseWheel { delta, .. } => {
                let lines = match delta {
                    MouseScrollDelta::LineDelta(_, lines) => f64::from(*lines),
                    MouseScrollDelta::PixelDelta(pixels) => pixels.y / 40.0,
                };
                if let Some(orbit) = &mut self.orbit {
                    panel.path.stay();
                    orbit.zoom(lines);
                    self.moved = Some(Instant::now());
                }
            }
            _ => {}
        }
    }

    /// Draws what was picked to where the pointer is, as far from the eye as it is; says whether there is anything to draw.
    fn drag(&self, panel: &Panel, camera: &Camera) -> bool {
        let Some((place, scene)) = panel.place_picked().zip(self.scene.as_ref()) else {
            return false;
        };
        let Ok(snapshot) = scene.snapshot.here() else { return false };
        let (Some(controls), true) = (panel.controls(), place < snapshot.grains) else {
            return false;
        };
        let depth = camera.view(snapshot.center(&snapshot.balls[place])).z;
        let [right, up, forward] = camera.axes;
        let across = (self.pointer.at.x - camera.center[0]) / camera.focal;
        let above = (camera.center[1] - self.pointer.at.y) / camera.focal;
        let to = camera.eye + (right * across + up * above + forward) * depth;
        controls.reach_in(Hand::Drag {
            id: snapshot.id[place],
            to: to.to_array(),
            within: DRAG,
        });
        true
    }

    /// Picks the particle under the pointer.
    fn pick(&mut self, panel: &mut Panel) {
        let at = self.pointer.at;
        let Some((camera, _)) = self.camera(&panel.options) else { return };
        let Some(scene) = &self.scene else { return };
        match scene.snapshot.here() {
            Ok(here) => panel.pick(here, pick::ball_at(here, &camera, [at.x, at.y], panel.options.cut)),
            Err(error) => panel.error = Some(error.to_string()),
        }
    }

    fn redraw(&mut self, panel: &mut Panel, loader: &Loader) -> Result<(), ViewError> {
        let frame = match self.surface.get_current_texture() {
            wgpu::CurrentSurfaceTexture::Success(frame) => frame,
            wgpu::CurrentSurfaceTexture::Suboptimal(frame) => frame,
            // The window is hidden, or changes its size just now.
            _ => {
                self.surface.configure(&self.studio.painter.device, &self.config);
                return Ok(());
            }
        };
        if let Some(snapshot) = self.arrived.take() {
            panel.seen(&snapshot);
            self.put(snapshot, &panel.options)?;
        }
        if self.moved.is_some_and(|moved| moved.elapsed() >= REST) {
            self.moved = None;
        }
        if let Some(orbit) = panel.path.now() {
            (self.orbit, self.moved) = (Some(orbit), Some(Instant::now()));
        }
        let camera = self.camera(&panel.options);
        if let Some(orbit) = self.orbit.filter(|_| panel.path.keeps) {
            panel.path.keep(orbit);
        }
        let pace = self.pace();
        let picked = panel.place_picked().zip(self.scene.as_ref()).zip(camera);
        let marked = picked.and_then(|((place, scene), (camera, _))| pick::circle_around(scene.snapshot.here().ok()?, &camera, place));
        let painted = self.gui.run(&self.window, |ui| panel.show(ui, pace, marked));
        if panel.turned_walls()
            && let Some(scene) = &self.scene
        {
            self.put(scene.snapshot.clone(), &panel.options)?;
        }
        loader.ask(panel.wish());
        let picture = frame.texture.create_view(&Default::default());
        let size = (self.config.width, self.config.height);
        let studio = &self.studio;
        let drawn = self.scene.as_ref().map_or(0, |scene| scene.snapshot.shown);
        let detail = if drawn > MANY && (self.moved.is_some() || panel.is_in_motion()) {
            1
        } else {
            2
        };
        let targets = self.targets[detail - 1].get_or_insert_with(|| studio.targets(size, detail as u32));
        let (gui, scene) = (&mut self.gui, &self.scene);
        studio.painter.guarded(|| {
            let mut encoder = studio.painter.device.create_command_encoder(&Default::default());
            if let Some((scene, (camera, _))) = scene.as_ref().zip(camera) {
                let floors = if panel.options.has_walls {
                    scene.scenery.floors(camera.eye)
                } else {
                    Vec::new()
                };
                let shot = Shot {
                    cut: panel.options.cut.map(|[x, y, z, far]| (glam::DVec3::new(x, y, z), far)),
                    ..Shot::new(&camera, &floors)
                };
                studio.paint(&mut encoder, &scene.props, &shot, targets, &picture);
            }
            gui.paint(&studio.painter, encoder, &picture, painted, scene.is_some());
            Ok(())
        })?;
        self.window.pre_present_notify();
        studio.painter.queue.present(frame);
        if panel.path.flies() {
            self.window.request_redraw();
        }
        Ok(())
    }

    /// Pictures a second, of late.
    fn pace(&mut self) -> f64 {
        let now = Instant::now();
        self.paces.retain(|then| now - *then < Duration::from_secs(1));
        self.paces.push(now);
        self.paces.len() as f64
    }
}
