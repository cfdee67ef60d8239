//! Snapshots on the device that draws them, and pictures of them that nobody looks at, one after the other: what drawing costs.

use glam::DVec3;

use crate::{
    Graphics, Snapshot, ViewError,
    camera::Camera,
    render::{PICTURE, Props, Shot, Studio, Targets},
    scenery::Scenery,
    snapshot::{FROM, frame_of},
};

/// By how much channels of grays differ, at most.
const GRAY: u8 = 40;

/// Draws snapshots into an image in the memory of the device, as a window does, and leaves them there.
pub struct Drawer {
    studio: Studio,
    targets: Targets,
    picture: wgpu::TextureView,
    size: (u32, u32),
    loaded: Option<(Loaded, Camera)>,
}

/// A snapshot on the device.
pub struct Loaded {
    /// What stands there.
    pub props: Props,
    /// Walls and planes, and where everything is.
    pub scenery: Scenery,
}

impl Loaded {
    /// Brings a snapshot to the device, into the memory of the last one where that fits.
    pub fn new(studio: &Studio, snapshot: &Snapshot, last: Option<Loaded>) -> Result<Loaded, ViewError> {
        let scenery = snapshot.scenery();
        let last = last.map(|last| last.props);
        let painter = &studio.painter;
        let props = painter.guarded(|| Ok(studio.load(&snapshot.on(painter)?.stage(&scenery), last)))?;
        Ok(Loaded { props, scenery })
    }
}

impl Drawer {
    /// One for pictures of this size \[px\], drawn with so many pixels for each along either side: 1 or 2.
    ///
    /// # Errors
    /// If there is nothing to draw with.
    pub fn new(size: (u32, u32), detail: u32) -> Result<Drawer, ViewError> {
        ViewError::check_size(size)?;
        Drawer::of(Studio::offscreen()?, size, detail)
    }

    /// As [`Drawer::new`], on a device on which somebody computes.
    ///
    /// # Errors
    /// As [`Drawer::new`].
    pub fn beside(graphics: &Graphics, size: (u32, u32), detail: u32) -> Result<Drawer, ViewError> {
        ViewError::check_size(size)?;
        Drawer::of(Studio::new(graphics.painter(), None)?, size, detail)
    }

    fn of(studio: Studio, size: (u32, u32), detail: u32) -> Result<Drawer, ViewError> {
        let (targets, picture) = studio
            .painter
            .guarded(|| Ok((studio.targets(size, detail), studio.painter.image(size, PICTURE))))?;
        Ok(Drawer {
            studio,
            targets,
            picture,
            size,
            loaded: None,
        })
    }

    /// What draws.
    pub fn adapter(&self) -> &str {
        &self.studio.painter.adapter
    }

    /// Brings a snapshot to the device, in place of the last one.
    ///
    /// # Errors
    /// If the device fails.
    pub fn load(&mut self, snapshot: &Snapshot) -> Result<(), ViewError> {
        let last = self.loaded.take().map(|(last, _)| last);
        let loaded = Loaded::new(&self.studio, snapshot, last)?;
        let camera = Camera::framing(snapshot.in_view(&loaded.scenery).into_iter(), FROM, frame_of(self.size));
        self.loaded = Some((loaded, camera));
        Ok(())
    }

    /// Share of the last picture in which there are colors.
    ///
    /// # Errors
    /// If the device fails.
    pub fn colored(&self) -> Result<f64, ViewError> {
        let painter = &self.studio.painter;
        let rgb = painter.guarded(|| painter.read(painter.device.create_command_encoder(&Default::default()), &self.picture))?;
        let is_colored = |pixel: &&[u8]| pixel.iter().max() > pixel.iter().min().map(|least| least.saturating_add(GRAY)).as_ref();
        Ok(rgb.chunks(3).filter(is_colored).count() as f64 / (rgb.len() / 3) as f64)
    }

    /// Draws what was loaded from another side \[rad\], and waits until that is done.
    ///
    /// # Errors
    /// If the device fails.
    pub fn draw(&self, angle: f64) -> Result<(), ViewError> {
        let Some((Loaded { props, scenery }, camera)) = &self.loaded else {
            return Ok(());
        };
        let target = camera.eye + camera.axes[2] * camera.middle;
        let (sine, cosine) = angle.sin_cos();
        let from = DVec3::new(cosine * FROM.x - sine * FROM.y, sine * FROM.x + cosine * FROM.y, FROM.z);
        let camera = Camera::standing(target, from, camera.middle, frame_of(self.size));
        let floors = scenery.floors(camera.eye);
        let painter = &self.studio.painter;
        painter.guarded(|| {
            let mut encoder = painter.device.create_command_encoder(&Default::default());
            let shot = Shot::new(&camera, &floors);
            self.studio.paint(&mut encoder, props, &shot, &self.targets, &self.picture);
            let submitted = painter.queue.submit([encoder.finish()]);
            painter.wait(submitted)
        })
    }
}
