//! The surface of a window.

use std::sync::Arc;
use std::time::{Duration, Instant};

use winit::{dpi::PhysicalSize, window::Window};

use super::no_display;
use crate::{Graphics, ViewError, render::RenderDevice};

/// Wall time after which a surface that cannot be configured is given up \[s\].
const GIVE_UP: Duration = Duration::from_secs(10);
/// Attempts to get an image, with the surface reconfigured in between.
const ATTEMPTS: u32 = 3;

/// The surface of a window, of the same size.
pub struct Screen {
    window: Arc<Window>,
    instance: wgpu::Instance,
    surface: wgpu::Surface<'static>,
    config: wgpu::SurfaceConfiguration,
    /// Whether the surface is configured.
    is_set_up: bool,
    /// Time since which its configuration fails.
    refusing: Option<Instant>,
    /// Whether the window is completely hidden, as reported by the system.
    pub is_hidden: bool,
}

impl Screen {
    /// Opens the surface of a window, and a device for it.
    pub fn open(window: &Arc<Window>, graphics: Option<&Graphics>) -> Result<(Screen, RenderDevice), ViewError> {
        // If a simulation runs on a device that can draw on this display, its particles are drawn from its memory.
        let beside = graphics.and_then(|graphics| {
            let surface = surface_of(window, &graphics.instance)
                .ok()
                .filter(|surface| graphics.adapter.is_surface_supported(surface))?;
            Some((graphics.instance.clone(), surface, graphics.painter(), graphics.adapter.clone()))
        });
        let (instance, surface, painter, adapter) = match beside {
            Some(found) => found,
            None => {
                let instance = wgpu::Instance::new(RenderDevice::adapters());
                let surface = surface_of(window, &instance)?;
                let (painter, adapter) = pollster::block_on(RenderDevice::new(&instance, Some(&surface)))?;
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

    /// Format of the images.
    pub fn format(&self) -> wgpu::TextureFormat {
        self.config.format
    }

    /// Width and height of the images \[px\].
    pub fn size(&self) -> (u32, u32) {
        (self.config.width, self.config.height)
    }

    /// Whether its configuration fails.
    pub fn refuses(&self) -> bool {
        self.refusing.is_some()
    }

    /// Whether the window is invisible; the system reports when it becomes visible again.
    pub fn is_unseen(&self) -> bool {
        let PhysicalSize { width, height } = self.window.inner_size();
        self.is_hidden || width == 0 || height == 0 || self.window.is_minimized() == Some(true)
    }

    /// The next image to draw on; `None` if there is none now.
    ///
    /// # Errors
    /// If no further images can be expected.
    pub fn image(&mut self, painter: &RenderDevice) -> Result<Option<wgpu::SurfaceTexture>, ViewError> {
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
                // The error of an existing device was already reported above.
                wgpu::CurrentSurfaceTexture::Validation => return Err(painter.failed("it is not there any more")),
            }
            self.is_set_up = false;
        }
        Ok(None)
    }

    /// Configures the surface; returns whether it succeeded.
    fn set_up(&mut self, painter: &RenderDevice) -> Result<bool, ViewError> {
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

    fn configure(&self, painter: &RenderDevice) -> Result<(), ViewError> {
        painter.guarded(|| {
            self.surface.configure(&painter.device, &self.config);
            Ok(())
        })
    }
}

fn surface_of(window: &Arc<Window>, instance: &wgpu::Instance) -> Result<wgpu::Surface<'static>, ViewError> {
    instance.create_surface(window.clone()).map_err(|error| no_display(&error))
}

/// The window size within the limits of the device.
fn within(window: PhysicalSize<u32>, painter: &RenderDevice) -> (u32, u32) {
    let most = painter.device.limits().max_texture_dimension_2d.max(1);
    (window.width.clamp(1, most), window.height.clamp(1, most))
}
