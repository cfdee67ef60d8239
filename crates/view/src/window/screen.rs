//! What a window shows its pictures on.

use std::sync::Arc;
use std::time::{Duration, Instant};

use winit::{dpi::PhysicalSize, window::Window};

use super::no_display;
use crate::{
    Graphics, ViewError,
    render::{Painter, adapters},
};

/// Wall time after which a surface is given up that refuses to be set up \[s\].
const GIVE_UP: Duration = Duration::from_secs(10);
/// How often an image is asked for at once, with the surface set up anew in between.
const ATTEMPTS: u32 = 3;

/// The surface of a window, as large as that.
pub struct Screen {
    window: Arc<Window>,
    instance: wgpu::Instance,
    surface: wgpu::Surface<'static>,
    config: wgpu::SurfaceConfiguration,
    /// Whether the surface is as the configuration says.
    is_set_up: bool,
    /// Since when it refuses to be.
    refusing: Option<Instant>,
    /// Whether the system says that others hide all of the window.
    pub is_hidden: bool,
}

impl Screen {
    /// That of a window, and what draws on it.
    pub fn open(window: &Arc<Window>, graphics: Option<&Graphics>) -> Result<(Screen, Painter), ViewError> {
        // Where a simulation runs on a device that draws on this display, its particles are drawn from where they lie.
        let beside = graphics.and_then(|graphics| {
            let surface = surface_of(window, &graphics.instance)
                .ok()
                .filter(|surface| graphics.adapter.is_surface_supported(surface))?;
            Some((graphics.instance.clone(), surface, graphics.painter(), graphics.adapter.clone()))
        });
        let (instance, surface, painter, adapter) = match beside {
            Some(found) => found,
            None => {
                let instance = wgpu::Instance::new(adapters());
                let surface = surface_of(window, &instance)?;
                let (painter, adapter) = pollster::block_on(Painter::new(&instance, Some(&surface)))?;
                (instance, surface, painter, adapter)
            }
        };
        let (width, height) = within(window.inner_size(), &painter);
        let mut config = surface
            .get_default_config(&adapter, width, height)
            .ok_or_else(|| painter.failed("it cannot draw on this display"))?;
        let formats = surface.get_capabilities(&adapter).formats;
        config.format = formats.iter().copied().find(wgpu::TextureFormat::is_srgb).unwrap_or(config.format);
        config.present_mode = wgpu::PresentMode::AutoVsync;
        let screen = Screen {
            window: window.clone(),
            instance,
            surface,
            config,
            is_set_up: true,
            refusing: None,
            is_hidden: false,
        };
        screen.configure(&painter)?;
        Ok((screen, painter))
    }

    /// Format of its images.
    pub fn format(&self) -> wgpu::TextureFormat {
        self.config.format
    }

    /// Width and height of its images \[px\].
    pub fn size(&self) -> (u32, u32) {
        (self.config.width, self.config.height)
    }

    /// Whether it refuses to be set up.
    pub fn refuses(&self) -> bool {
        self.refusing.is_some()
    }

    /// Whether nobody sees the window, which hears of it when somebody does.
    pub fn is_unseen(&self) -> bool {
        let PhysicalSize { width, height } = self.window.inner_size();
        self.is_hidden || width == 0 || height == 0 || self.window.is_minimized() == Some(true)
    }

    /// The image that is shown next; `None` where there is none just now.
    ///
    /// # Errors
    /// If there will be none any more.
    pub fn image(&mut self, painter: &Painter) -> Result<Option<wgpu::SurfaceTexture>, ViewError> {
        if self.is_unseen() {
            return Ok(None);
        }
        let size = within(self.window.inner_size(), painter);
        if size != self.size() {
            (self.config.width, self.config.height) = size;
            self.is_set_up = false;
        }
        for _ in 0..ATTEMPTS {
            if !self.is_set_up && !self.set_up(painter)? {
                return Ok(None);
            }
            let surface = &self.surface;
            match painter.guarded(|| Ok(surface.get_current_texture()))? {
                wgpu::CurrentSurfaceTexture::Success(image) | wgpu::CurrentSurfaceTexture::Suboptimal(image) => return Ok(Some(image)),
                wgpu::CurrentSurfaceTexture::Timeout | wgpu::CurrentSurfaceTexture::Occluded => return Ok(None),
                wgpu::CurrentSurfaceTexture::Outdated => {}
                wgpu::CurrentSurfaceTexture::Lost => self.surface = surface_of(&self.window, &self.instance)?,
                // What is wrong with a device that is there was said just above.
                wgpu::CurrentSurfaceTexture::Validation => return Err(painter.failed("it is not there any more")),
            }
            self.is_set_up = false;
        }
        Ok(None)
    }

    /// Sets the surface up as the configuration says; says whether it is.
    fn set_up(&mut self, painter: &Painter) -> Result<bool, ViewError> {
        match self.configure(painter) {
            Ok(()) => (self.is_set_up, self.refusing) = (true, None),
            Err(error) => {
                let since = *self.refusing.get_or_insert_with(Instant::now);
                if since.elapsed() > GIVE_UP {
                    return Err(error);
                }
            }
        }
        Ok(self.is_set_up)
    }

    fn configure(&self, painter: &Painter) -> Result<(), ViewError> {
        painter.guarded(|| {
            self.surface.configure(&painter.device, &self.config);
            Ok(())
        })
    }
}

fn surface_of(window: &Arc<Window>, instance: &wgpu::Instance) -> Result<wgpu::Surface<'static>, ViewError> {
    instance.create_surface(window.clone()).map_err(|error| no_display(&error))
}

/// A size that a device draws, of a window of any.
fn within(window: PhysicalSize<u32>, painter: &Painter) -> (u32, u32) {
    let most = painter.device.limits().max_texture_dimension_2d.max(1);
    (window.width.clamp(1, most), window.height.clamp(1, most))
}
