//! Contents of an open window, and the drawing of its pictures.

use std::sync::Arc;
use std::time::{Duration, Instant};

use seixo_files::layer::Disk;
use winit::{
    dpi::PhysicalSize,
    event_loop::{ActiveEventLoop, EventLoopProxy},
    window::Window,
};

use super::camera_path::CameraPath;
use super::gui::Gui;
use super::loader::{Loader, LoaderEvent};
use super::orbit::Orbit;
use super::panel::{Panel, Picture};
use super::pointer::Pointer;
use super::screen::Screen;
use super::{no_display, pick, saved};
use crate::{
    Graphics, PictureOptions, Snapshot, ViewError,
    camera::{Camera, Frame},
    offscreen::LoadedSnapshot,
    render::{RenderOptions, Renderer, Targets},
    snapshot::{frame_of, outlook},
};

/// Wall time after the last camera movement until a picture is drawn in full resolution \[s\].
const REST: Duration = Duration::from_millis(120);
/// Wall time until the next attempt if there was no image to draw on \[s\].
const RETRY: Duration = Duration::from_millis(50);
/// Initial margin around the scene, in lines of the mouse wheel.
const MARGIN: f64 = 1.0;
/// Number of spheres from which pictures in motion have reduced resolution.
const MANY: usize = 300_000;

/// A window with all its graphics.
pub struct Drawn {
    /// The window.
    pub window: Arc<Window>,
    /// Panels.
    pub gui: Gui,
    pub(super) screen: Screen,
    studio: Renderer,
    /// Renderer for saved pictures, created on demand.
    pictures: Option<Renderer>,
    /// Size of the render images \[px\].
    size: (u32, u32),
    targets: [Option<Targets>; 2],
    /// Snapshot to show next; a hidden window does not load it.
    pub arrived: Option<Arc<Snapshot>>,
    pub(super) scene: Option<Scene>,
    /// Camera; `None` to frame everything.
    pub(super) orbit: Option<Orbit>,
    pub(super) pointer: Pointer,
    /// Time of the last recent camera movement.
    moved: Option<Instant>,
    /// Whether the user has moved the camera since it framed everything.
    is_turned: bool,
    /// Time of the next attempt to draw.
    again: Option<Instant>,
    /// Whether the simulation is paused for the surface.
    holds: bool,
    /// Times of recent pictures.
    paces: Vec<Instant>,
}

/// A snapshot on display.
pub(super) struct Scene {
    pub snapshot: Arc<Snapshot>,
    loaded: LoadedSnapshot,
}

impl Drawn {
    /// Opens a window of this size \[px\].
    pub fn open(
        events: &ActiveEventLoop,
        title: &str,
        size: (u32, u32),
        proxy: &EventLoopProxy<LoaderEvent>,
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
            studio: Renderer::new(painter, Some(format))?,
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

    /// Time of the next picture if nothing else happens.
    pub fn due(&self) -> Option<Instant> {
        let rested = self.moved.map(|moved| moved + REST);
        [rested, self.again].into_iter().flatten().min()
    }

    /// Makes the camera frame everything.
    pub fn frame_all(&mut self) {
        (self.orbit, self.is_turned) = (None, false);
    }

    /// Keeps the view of this moment: the next movement may come before the next picture.
    pub fn keep_view(&self, path: &mut CameraPath) {
        if let Some(orbit) = self.orbit {
            path.add_view(orbit);
        }
    }

    /// Notes a camera movement by the user.
    pub(super) fn note_move(&mut self) {
        (self.moved, self.is_turned) = (Some(Instant::now()), true);
    }

    /// Uploads a snapshot.
    fn put(&mut self, snapshot: Arc<Snapshot>) -> Result<(), ViewError> {
        let last = self.scene.take().map(|scene| scene.loaded);
        let was_empty = last.as_ref().is_none_or(|last| !last.scenery.has_particles());
        let loaded = LoadedSnapshot::new(&self.studio, &snapshot, last)?;
        // Walls alone do not show where the particles will be.
        if was_empty && loaded.scenery.has_particles() && !self.is_turned {
            self.frame_all();
        }
        self.scene = Some(Scene { snapshot, loaded });
        Ok(())
    }

    /// The camera, and the part of the window for it; `None` until there is a scene and the panels are laid out.
    pub(super) fn camera(&mut self, options: &PictureOptions) -> Option<(Camera, Frame)> {
        let scene = self.scene.as_ref()?;
        let frame = self.gui.scene_frame(&self.window)?;
        let outlook = outlook(options, scene.snapshot.plane());
        let orbit = self.orbit.get_or_insert_with(|| {
            let camera = Camera::framing(scene.snapshot.in_view(&scene.loaded.scenery).into_iter(), outlook, frame);
            let mut orbit = Orbit::of(&camera);
            orbit.zoom(-MARGIN);
            orbit
        });
        Some((orbit.camera(frame, outlook.1), frame))
    }

    /// Draws the scene and the panels, if there is an image to draw on.
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
        let picked = panel.position_of_picked().zip(self.scene.as_ref()).zip(camera);
        let under = Picture {
            circle: picked.and_then(|((place, scene), camera)| pick::circle_around(scene.snapshot.here().ok()?, &camera, place)),
            pace: self.pace(),
            camera,
            orbit: self.orbit,
        };
        let painted = self.gui.run(&self.window, |ui| panel.show(ui, &under));
        loader.ask(panel.frame_request());
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
                let shot = RenderOptions {
                    cut: panel.options.cut,
                    has_walls: panel.options.has_walls,
                    ..RenderOptions::new(&camera, &floors)
                };
                studio.paint(&mut encoder, &loaded.buffers, &shot, targets, &picture);
            }
            gui.paint(&studio.painter, encoder, &picture, painted, camera.is_some());
            window.pre_present_notify();
            studio.painter.queue.present(image);
            Ok(())
        })?;
        // The panels are laid out now.
        let is_due = self.scene.is_some() && camera.is_none();
        if panel.path.flies() || panel.saves || is_due {
            self.window.request_redraw();
        }
        Ok(())
    }

    /// Pauses a simulation while the surface cannot be configured: its work on the device would prevent that.
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

    /// Saves the scene as a picture beside the run, without panels. Returns a message with its path, or the reason of a failure.
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
            None => kept.insert(Renderer::new(self.studio.painter.clone(), None).map_err(word)?),
        };
        let (width, height) = self.size;
        let [least, most] = [*ViewError::SIDE.start(), *ViewError::SIDE.end()];
        let options = PictureOptions {
            size: (width.clamp(least, most), height.clamp(least, most)),
            title: Some(panel.title().to_owned()),
            ..panel.options.clone()
        };
        let (_, projection) = outlook(&options, scene.snapshot.plane());
        let camera = orbit.camera(frame_of(options.size), projection);
        let drawn = scene.snapshot.draw_from(studio, &options, &scene.loaded.scenery, &camera);
        let png = drawn.and_then(|canvas| canvas.png()).map_err(word)?;
        let path = saved::save(&Disk, &folder, &png).map_err(|error| error.to_string())?;
        Ok(format!("saved as {}", path.display()))
    }

    /// Recent pictures per second.
    fn pace(&mut self) -> f64 {
        let now = Instant::now();
        self.paces.retain(|then| now - *then < Duration::from_secs(1));
        self.paces.push(now);
        self.paces.len() as f64
    }
}
