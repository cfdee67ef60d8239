//! Snapshots on the drawing device, and pictures drawn there without display, to measure the cost of drawing.

use glam::DVec3;

use crate::{
    Graphics, Snapshot, ViewError,
    camera::{Camera, Projection},
    render::{PICTURE, RenderOptions, Renderer, SceneBuffers, Targets},
    scene_bounds::SceneGeometry,
    snapshot::{FROM, frame_of},
};

/// Largest difference between the channels of a gray.
const GRAY: u8 = 40;

/// Draws snapshots into an image in GPU memory, as a window does, without download.
pub struct OffscreenRenderer {
    studio: Renderer,
    targets: Targets,
    picture: wgpu::TextureView,
    size: (u32, u32),
    loaded: Option<(LoadedSnapshot, Camera)>,
}

/// A snapshot loaded onto the device.
pub struct LoadedSnapshot {
    /// Scene buffers on the device.
    pub buffers: SceneBuffers,
    /// Walls, planes and the bounds of the scene.
    pub scenery: SceneGeometry,
}

impl LoadedSnapshot {
    /// Uploads a snapshot, into the buffers of the last one if it fits.
    pub fn new(studio: &Renderer, snapshot: &Snapshot, last: Option<LoadedSnapshot>) -> Result<LoadedSnapshot, ViewError> {
        let scenery = snapshot.scenery();
        let last = last.map(|last| last.buffers);
        let painter = &studio.painter;
        let buffers = painter.guarded(|| Ok(studio.load(&snapshot.on(painter)?.stage(&scenery), last)))?;
        Ok(LoadedSnapshot { buffers, scenery })
    }
}

impl OffscreenRenderer {
    /// A renderer for pictures of this size \[px\], with `detail` samples per pixel along each side: 1 or 2.
    ///
    /// # Errors
    /// If there is no graphics adapter.
    pub fn new(size: (u32, u32), detail: u32) -> Result<OffscreenRenderer, ViewError> {
        ViewError::check_size(size)?;
        OffscreenRenderer::of(Renderer::offscreen()?, size, detail)
    }

    /// As [`OffscreenRenderer::new`], on a device that a computation uses.
    ///
    /// # Errors
    /// As [`OffscreenRenderer::new`].
    pub fn beside(graphics: &Graphics, size: (u32, u32), detail: u32) -> Result<OffscreenRenderer, ViewError> {
        ViewError::check_size(size)?;
        OffscreenRenderer::of(Renderer::new(graphics.painter(), None)?, size, detail)
    }

    fn of(studio: Renderer, size: (u32, u32), detail: u32) -> Result<OffscreenRenderer, ViewError> {
        let (targets, picture) = studio
            .painter
            .guarded(|| Ok((studio.targets(size, detail), studio.painter.image(size, PICTURE))))?;
        Ok(OffscreenRenderer {
            studio,
            targets,
            picture,
            size,
            loaded: None,
        })
    }

    /// Name of the graphics adapter.
    pub fn adapter(&self) -> &str {
        &self.studio.painter.adapter
    }

    /// Uploads a snapshot in place of the last one.
    ///
    /// # Errors
    /// If the device fails.
    pub fn load(&mut self, snapshot: &Snapshot) -> Result<(), ViewError> {
        let last = self.loaded.take().map(|(last, _)| last);
        let loaded = LoadedSnapshot::new(&self.studio, snapshot, last)?;
        let camera = Camera::framing(
            snapshot.in_view(&loaded.scenery).into_iter(),
            (FROM, Projection::Perspective),
            frame_of(self.size),
        );
        self.loaded = Some((loaded, camera));
        Ok(())
    }

    /// Share of colored pixels in the last picture.
    ///
    /// # Errors
    /// If the device fails.
    pub fn colored(&self) -> Result<f64, ViewError> {
        let painter = &self.studio.painter;
        let rgb = painter.guarded(|| painter.read(painter.device.create_command_encoder(&Default::default()), &self.picture))?;
        let is_colored = |pixel: &&[u8]| pixel.iter().max() > pixel.iter().min().map(|least| least.saturating_add(GRAY)).as_ref();
        Ok(rgb.chunks(3).filter(is_colored).count() as f64 / (rgb.len() / 3) as f64)
    }

    /// Draws the loaded snapshot, rotated by this angle \[rad\], and waits for the device.
    ///
    /// # Errors
    /// If the device fails.
    pub fn draw(&self, angle: f64) -> Result<(), ViewError> {
        let Some((LoadedSnapshot { buffers, scenery }, camera)) = &self.loaded else {
            return Ok(());
        };
        let target = camera.eye + camera.axes[2] * camera.middle;
        let (sine, cosine) = angle.sin_cos();
        let from = DVec3::new(cosine * FROM.x - sine * FROM.y, sine * FROM.x + cosine * FROM.y, FROM.z);
        let camera = Camera::standing(target, from, camera.middle, frame_of(self.size), camera.projection);
        let floors = scenery.floors(camera.eye);
        let painter = &self.studio.painter;
        painter.guarded(|| {
            let mut encoder = painter.device.create_command_encoder(&Default::default());
            let shot = RenderOptions::new(&camera, &floors);
            self.studio.paint(&mut encoder, buffers, &shot, &self.targets, &self.picture);
            let submitted = painter.queue.submit([encoder.finish()]);
            painter.wait(submitted)
        })
    }
}
