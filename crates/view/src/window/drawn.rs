//! What there is once the window is open, and how its pictures are drawn.

use std::sync::Arc;
use std::time::{Duration, Instant};

use seixo_files::layer::Disk;
use winit::{
    dpi::PhysicalSize,
    event_loop::{ActiveEventLoop, EventLoopProxy},
    window::Window,
};

use super::gui::Gui;
use super::loader::{Loader, News};
use super::orbit::Orbit;
use super::panel::{Panel, Picture};
use super::pointer::Pointer;
use super::screen::Screen;
use super::{no_display, pick, saved};
use crate::{
    Graphics, PictureOptions, Snapshot, ViewError,
    camera::{Camera, Frame},
    drawer::Loaded,
    render::{Shot, Studio, Targets},
    snapshot::{FROM, frame_of},
};

/// Wall time without a move of the camera after which a picture is drawn with all its pixels \[s\].
const REST: Duration = Duration::from_millis(120);
/// Wall time after which it is tried again to draw where there was nothing to draw on \[s\].
const RETRY: Duration = Duration::from_millis(50);
/// Lines of the wheel by which the camera stands back at first.
const MARGIN: f64 = 1.0;
/// Spheres from which on pictures in motion are drawn with fewer pixels.
const MANY: usize = 300_000;

/// A window with all that draws in it.
pub struct Drawn {
    /// The window.
    pub window: Arc<Window>,
    /// What draws panels.
    pub gui: Gui,
    pub(super) screen: Screen,
    studio: Studio,
    /// What draws pictures that are saved; made when it is needed.
    pictures: Option<Studio>,
    /// Size of the images that pictures are made in \[px\].
    size: (u32, u32),
    targets: [Option<Targets>; 2],
    /// What is shown next: a window that is hidden needs none of it.
    pub arrived: Option<Arc<Snapshot>>,
    pub(super) scene: Option<Scene>,
    /// The camera; `None` where it is to frame everything.
    pub(super) orbit: Option<Orbit>,
    pub(super) pointer: Pointer,
    /// When the camera moved last, if it did of late.
    moved: Option<Instant>,
    /// Whether somebody has moved it since it framed everything.
    is_turned: bool,
    /// When it is tried again to draw.
    again: Option<Instant>,
    /// Whether the simulation stands still for the surface.
    holds: bool,
    /// When pictures of late were drawn.
    paces: Vec<Instant>,
}

/// A snapshot that is shown.
pub(super) struct Scene {
    pub snapshot: Arc<Snapshot>,
    loaded: Loaded,
}

impl Drawn {
    /// Opens a window of this size \[px\].
    pub fn open(
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
        let (screen, painter) = Screen::open(&window, graphics)?;
        let format = screen.format();
        let gui = painter.guarded(|| Ok(Gui::new(&window, &painter.device, format, proxy.clone())))?;
        Ok(Drawn {
            studio: Studio::new(painter, Some(format))?,
            pictures: None,
            window,
            size: screen.size(),
            screen,
            targets: [None, None],
            gui,
            arrived: None,
            scene: None,
            orbit: None,
            pointer: Pointer::default(),
            moved: None,
            is_turned: false,
            again: None,
            holds: false,
            paces: Vec::new(),
        })
    }

    /// When the next picture is to be drawn, if nothing happens until then.
    pub fn due(&self) -> Option<Instant> {
        let rested = self.moved.map(|moved| moved + REST);
        [rested, self.again].into_iter().flatten().min()
    }

    /// Lets the camera frame everything.
    pub fn frame_all(&mut self) {
        (self.orbit, self.is_turned) = (None, false);
    }

    /// Notes that somebody moved the camera.
    pub(super) fn note_move(&mut self) {
        (self.moved, self.is_turned) = (Some(Instant::now()), true);
    }

    /// Brings a snapshot to the device.
    fn put(&mut self, snapshot: Arc<Snapshot>) -> Result<(), ViewError> {
        let last = self.scene.take().map(|scene| scene.loaded);
        let was_empty = last.as_ref().is_none_or(|last| !last.scenery.has_particles());
        let loaded = Loaded::new(&self.studio, &snapshot, last)?;
        // Walls alone say nothing of where the particles will be.
        if was_empty && loaded.scenery.has_particles() && !self.is_turned {
            self.frame_all();
        }
        self.scene = Some(Scene { snapshot, loaded });
        Ok(())
    }

    /// The camera, and the part of the window that it fills; `None` until there is something to see, and panels stand where they will.
    pub(super) fn camera(&mut self, options: &PictureOptions) -> Option<(Camera, Frame)> {
        let scene = self.scene.as_ref()?;
        let frame = self.gui.scene_frame(&self.window)?;
        let orbit = self.orbit.get_or_insert_with(|| {
            let from = options.view.map_or(FROM, Into::into);
            let camera = Camera::framing(scene.snapshot.in_view(&scene.loaded.scenery).into_iter(), from, frame);
            let mut orbit = Orbit::of(&camera);
            orbit.zoom(-MARGIN);
            orbit
        });
        Some((orbit.camera(frame), frame))
    }

    /// Draws the scene and the panels, if there is anything to draw them on.
    pub fn redraw(&mut self, panel: &mut Panel, loader: &Loader) -> Result<(), ViewError> {
        self.again = None;
        if self.moved.is_some_and(|moved| moved.elapsed() >= REST) {
            self.moved = None;
        }
        if std::mem::take(&mut panel.saves) {
            panel.saved = Some(self.save(panel));
        }
        let image = self.screen.image(&self.studio.painter)?;
        self.hold(panel);
        let Some(image) = image else {
            self.again = (!self.screen.is_unseen()).then(|| Instant::now() + RETRY);
            return Ok(());
        };
        if let Some(snapshot) = self.arrived.take() {
            loader.taken();
            panel.seen(&snapshot);
            self.put(snapshot)?;
        }
        if let Some(orbit) = panel.path.now() {
            self.orbit = Some(orbit);
            self.note_move();
        }
        let camera = self.camera(&panel.options).map(|(camera, _)| camera);
        if let Some(orbit) = self.orbit.filter(|_| panel.path.keeps) {
            panel.path.keep(orbit);
        }
        let picked = panel.place_picked().zip(self.scene.as_ref()).zip(camera);
        let under = Picture {
            circle: picked.and_then(|((place, scene), camera)| pick::circle_around(scene.snapshot.here().ok()?, &camera, place)),
            pace: self.pace(),
            camera,
        };
        let painted = self.gui.run(&self.window, |ui| panel.show(ui, &under));
        loader.ask(panel.wish());
        let size = self.screen.size();
        if self.size != size {
            (self.size, self.targets) = (size, [None, None]);
        }
        let spheres = self.scene.as_ref().map_or(0, |scene| scene.snapshot.shown);
        let is_in_motion = spheres > MANY && (self.moved.is_some() || panel.is_in_motion());
        let studio = &self.studio;
        let detail = studio.detail(size, if is_in_motion { 1 } else { 2 });
        let kept = &mut self.targets[detail as usize - 1];
        let targets = match kept {
            Some(targets) => targets,
            None => kept.insert(studio.painter.guarded(|| Ok(studio.targets(size, detail)))?),
        };
        let (gui, scene, window) = (&mut self.gui, &self.scene, &self.window);
        studio.painter.guarded(|| {
            let picture = image.texture.create_view(&Default::default());
            let mut encoder = studio.painter.device.create_command_encoder(&Default::default());
            if let Some((Scene { loaded, .. }, camera)) = scene.as_ref().zip(camera) {
                let floors = if panel.options.has_walls {
                    loaded.scenery.floors(camera.eye)
                } else {
                    Vec::new()
                };
                let shot = Shot {
                    cut: panel.options.cut,
                    has_walls: panel.options.has_walls,
                    ..Shot::new(&camera, &floors)
                };
                studio.paint(&mut encoder, &loaded.props, &shot, targets, &picture);
            }
            gui.paint(&studio.painter, encoder, &picture, painted, camera.is_some());
            window.pre_present_notify();
            studio.painter.queue.present(image);
            Ok(())
        })?;
        // Now panels stand where they will.
        let is_due = self.scene.is_some() && camera.is_none();
        if panel.path.flies() || panel.saves || is_due {
            self.window.request_redraw();
        }
        Ok(())
    }

    /// Lets a simulation stand still while the surface refuses to be set up: whatever it sends to the device meanwhile keeps it from that.
    fn hold(&mut self, panel: &Panel) {
        let Some(controls) = panel.controls() else { return };
        let is_in_need = self.screen.refuses() && !self.screen.is_unseen();
        if is_in_need && !controls.is_paused() {
            controls.pause(true);
            self.holds = true;
        } else if !is_in_need && std::mem::take(&mut self.holds) {
            controls.pause(false);
        }
    }

    /// Saves what is seen beside the run, without panels, as pictures are drawn; says where it is, or why it is not.
    fn save(&mut self, panel: &Panel) -> Result<String, String> {
        let Some(folder) = panel.folder() else {
            return Err("there is no run folder to save a picture in; name one: seixo view DIR".to_owned());
        };
        let Some((scene, orbit)) = self.scene.as_ref().zip(self.orbit) else {
            return Err("there is nothing to see yet that could be saved; try again in a moment".to_owned());
        };
        let word = |error: ViewError| error.to_string();
        let kept = &mut self.pictures;
        let studio = match kept {
            Some(studio) => studio,
            None => kept.insert(Studio::new(self.studio.painter.clone(), None).map_err(word)?),
        };
        let (width, height) = self.size;
        let [least, most] = [*ViewError::SIDE.start(), *ViewError::SIDE.end()];
        let options = PictureOptions {
            size: (width.clamp(least, most), height.clamp(least, most)),
            title: Some(panel.title().to_owned()),
            ..panel.options.clone()
        };
        let camera = orbit.camera(frame_of(options.size));
        let drawn = scene.snapshot.draw_from(studio, &options, &scene.loaded.scenery, &camera);
        let png = drawn.and_then(|canvas| canvas.png()).map_err(word)?;
        let path = saved::save(&Disk, &folder, &png).map_err(|error| error.to_string())?;
        Ok(format!("saved as {}", path.display()))
    }

    /// Pictures a second, of late.
    fn pace(&mut self) -> f64 {
        let now = Instant::now();
        self.paces.retain(|then| now - *then < Duration::from_secs(1));
        self.paces.push(now);
        self.paces.len() as f64
    }
}
