//! A graphics device, with functions to create images, buffers and pipelines.

use wgpu::util::DeviceExt;

use crate::{ViewError, gpu_particles::DeviceMark};

/// Format of depth images.
pub const DEPTH: wgpu::TextureFormat = wgpu::TextureFormat::Depth32Float;

/// Format of color and light images, which all kinds of passes write.
pub const LIT: wgpu::TextureFormat = wgpu::TextureFormat::Rgba16Float;
/// Format of images of depth and normal.
pub const SURFACE: wgpu::TextureFormat = wgpu::TextureFormat::Rg32Uint;

/// A graphics device.
#[derive(Clone)]
pub struct RenderDevice {
    /// Name of the adapter.
    pub adapter: String,
    /// Device that owns all resources.
    pub device: wgpu::Device,
    /// Queue for drawing.
    pub queue: wgpu::Queue,
    /// Identity of the device.
    pub mark: DeviceMark,
}

/// Description of a pipeline.
pub struct Pipeline<'a> {
    /// Shader in WGSL.
    pub shader: &'a str,
    /// Name of the fragment function.
    pub fragment: &'a str,
    /// Values of the shader's override constants.
    pub constants: &'a [(&'a str, f64)],
    /// Layout of the vertices or instances.
    pub vertices: Option<wgpu::VertexBufferLayout<'a>>,
    /// Primitive topology.
    pub topology: wgpu::PrimitiveTopology,
    /// Images drawn into.
    pub targets: &'a [wgpu::TextureFormat],
    /// Whether colors are blended over the existing ones.
    pub has_blending: bool,
    /// Whether a depth image keeps the nearest fragment.
    pub has_depth: bool,
}

impl Pipeline<'_> {
    /// A pipeline that runs a fragment function on every pixel of these images.
    pub fn covering<'a>(shader: &'a str, fragment: &'a str, targets: &'a [wgpu::TextureFormat]) -> Pipeline<'a> {
        Pipeline {
            shader,
            fragment,
            constants: &[],
            vertices: None,
            topology: wgpu::PrimitiveTopology::TriangleList,
            targets,
            has_blending: false,
            has_depth: false,
        }
    }
}

impl RenderDevice {
    /// Options for the search of graphics adapters. OpenGL lacks image formats that the passes write.
    pub fn adapters() -> wgpu::InstanceDescriptor {
        wgpu::InstanceDescriptor {
            backends: wgpu::Backends::PRIMARY.with_env(),
            ..wgpu::InstanceDescriptor::new_without_display_handle_from_env()
        }
    }

    /// The best device for offscreen pictures.
    pub fn offscreen(descriptor: wgpu::InstanceDescriptor) -> Result<RenderDevice, ViewError> {
        let instance = wgpu::Instance::new(descriptor);
        Ok(pollster::block_on(RenderDevice::new(&instance, None))?.0)
    }

    /// The best adapter of an instance that can draw on a surface, if one is given.
    pub async fn adapter(instance: &wgpu::Instance, surface: Option<&wgpu::Surface<'_>>) -> Result<wgpu::Adapter, ViewError> {
        let options = wgpu::RequestAdapterOptions {
            power_preference: wgpu::PowerPreference::HighPerformance,
            compatible_surface: surface,
            ..Default::default()
        };
        let found = instance.request_adapter(&options).await;
        found.map_err(|error| ViewError::NoAdapter { found: error.to_string() })
    }

    /// A device of the best adapter.
    pub async fn new(instance: &wgpu::Instance, surface: Option<&wgpu::Surface<'_>>) -> Result<(RenderDevice, wgpu::Adapter), ViewError> {
        let adapter = RenderDevice::adapter(instance, surface).await?;
        let name = adapter.get_info().name;
        // Ten million spheres exceed the default limit of a binding, and large windows that of an image.
        let limits = adapter.limits();
        let required_limits = wgpu::Limits {
            max_texture_dimension_2d: limits.max_texture_dimension_2d,
            max_buffer_size: limits.max_buffer_size,
            max_storage_buffer_binding_size: limits.max_storage_buffer_binding_size,
            ..wgpu::Limits::default()
        };
        let descriptor = wgpu::DeviceDescriptor {
            required_limits,
            ..Default::default()
        };
        let (device, queue) = adapter.request_device(&descriptor).await.map_err(|error| ViewError::NoAdapter {
            found: format!("{name} refused to start ({error})"),
        })?;
        let painter = RenderDevice {
            adapter: name,
            device,
            queue,
            mark: DeviceMark::default(),
        };
        Ok((painter, adapter))
    }

    /// Runs `body` and returns errors of the device.
    pub fn guarded<T>(&self, body: impl FnOnce() -> Result<T, ViewError>) -> Result<T, ViewError> {
        let scopes = [
            wgpu::ErrorFilter::Internal,
            wgpu::ErrorFilter::Validation,
            wgpu::ErrorFilter::OutOfMemory,
        ];
        let guards = scopes.map(|filter| self.device.push_error_scope(filter));
        let done = body();
        for guard in guards.into_iter().rev() {
            if let Some(error) = pollster::block_on(guard.pop()) {
                return Err(self.failed(error));
            }
        }
        done
    }

    /// An error with the message of the device.
    pub fn failed(&self, cause: impl ToString) -> ViewError {
        ViewError::Device {
            adapter: self.adapter.clone(),
            cause: cause.to_string(),
        }
    }

    /// Submits the passes and downloads the picture, three bytes per pixel.
    pub fn read(&self, encoder: wgpu::CommandEncoder, picture: &wgpu::TextureView) -> Result<Vec<u8>, ViewError> {
        let (width, height) = (picture.texture().width(), picture.texture().height());
        let row = (4 * width).next_multiple_of(wgpu::COPY_BYTES_PER_ROW_ALIGNMENT);
        let layout = wgpu::TexelCopyBufferLayout {
            offset: 0,
            bytes_per_row: Some(row),
            rows_per_image: None,
        };
        let size = wgpu::Extent3d {
            width,
            height,
            depth_or_array_layers: 1,
        };
        let bytes = self.fetch(encoder, u64::from(row) * u64::from(height), |encoder, buffer| {
            let to = wgpu::TexelCopyBufferInfo { buffer, layout };
            encoder.copy_texture_to_buffer(picture.texture().as_image_copy(), to, size);
        })?;
        let pixels = bytes
            .chunks(row as usize)
            .flat_map(|line| line[..4 * width as usize].chunks(4))
            .flat_map(|pixel| &pixel[..3]);
        Ok(pixels.copied().collect())
    }

    /// Submits the passes and a copy of this many bytes, and downloads these.
    pub fn fetch(
        &self,
        mut encoder: wgpu::CommandEncoder,
        size: u64,
        copy: impl FnOnce(&mut wgpu::CommandEncoder, &wgpu::Buffer),
    ) -> Result<Vec<u8>, ViewError> {
        let buffer = self.device.create_buffer(&wgpu::BufferDescriptor {
            label: None,
            size,
            usage: wgpu::BufferUsages::COPY_DST | wgpu::BufferUsages::MAP_READ,
            mapped_at_creation: false,
        });
        copy(&mut encoder, &buffer);
        let submitted = self.queue.submit([encoder.finish()]);
        let (done, mapped) = std::sync::mpsc::channel();
        buffer.map_async(wgpu::MapMode::Read, .., move |result| drop(done.send(result)));
        self.wait(submitted)?;
        mapped
            .recv()
            .map_err(|error| self.failed(error))?
            .map_err(|error| self.failed(error))?;
        let bytes = buffer.get_mapped_range(..).map_err(|error| self.failed(error))?;
        Ok(bytes.to_vec())
    }

    /// Waits for a submission, but not for later ones of other threads.
    pub fn wait(&self, submitted: wgpu::SubmissionIndex) -> Result<(), ViewError> {
        let polled = self.device.poll(wgpu::PollType::Wait {
            submission_index: Some(submitted),
            timeout: None,
        });
        polled.map(drop).map_err(|error| self.failed(error))
    }

    /// An image to draw into and to read.
    pub fn image(&self, (width, height): (u32, u32), format: wgpu::TextureFormat) -> wgpu::TextureView {
        let image = self.device.create_texture(&wgpu::TextureDescriptor {
            label: None,
            size: wgpu::Extent3d {
                width,
                height,
                depth_or_array_layers: 1,
            },
            mip_level_count: 1,
            sample_count: 1,
            dimension: wgpu::TextureDimension::D2,
            format,
            usage: wgpu::TextureUsages::RENDER_ATTACHMENT
                | match format {
                    DEPTH => wgpu::TextureUsages::empty(),
                    LIT | SURFACE => wgpu::TextureUsages::TEXTURE_BINDING | wgpu::TextureUsages::STORAGE_BINDING,
                    _ => wgpu::TextureUsages::STORAGE_BINDING | wgpu::TextureUsages::COPY_SRC,
                },
            view_formats: &[],
        });
        image.create_view(&Default::default())
    }

    /// A buffer with these bytes.
    pub fn buffer(&self, contents: &[u8], usage: wgpu::BufferUsages) -> wgpu::Buffer {
        self.device.create_buffer_init(&wgpu::util::BufferInitDescriptor {
            label: None,
            contents,
            usage,
        })
    }

    /// A buffer of zeros.
    pub fn empty(&self, size: u64, usage: wgpu::BufferUsages) -> wgpu::Buffer {
        self.device.create_buffer(&wgpu::BufferDescriptor {
            label: None,
            size,
            usage: usage | wgpu::BufferUsages::COPY_DST,
            mapped_at_creation: false,
        })
    }

    /// A buffer that begins with these bytes, padded with zeros to a whole word. Reuses the known buffer if it is large enough and not much larger.
    pub fn filled(&self, known: Option<wgpu::Buffer>, contents: &[u8], usage: wgpu::BufferUsages) -> wgpu::Buffer {
        let size = (contents.len() as u64).next_multiple_of(wgpu::COPY_BUFFER_ALIGNMENT);
        let fits = |buffer: &wgpu::Buffer| (size..=4 * size).contains(&buffer.size());
        let buffer = known.filter(fits).unwrap_or_else(|| self.empty(size, usage));
        let (words, rest) = contents.as_chunks::<{ wgpu::COPY_BUFFER_ALIGNMENT as usize }>();
        self.queue.write_buffer(&buffer, 0, words.as_flattened());
        if !rest.is_empty() {
            let mut last = [0; wgpu::COPY_BUFFER_ALIGNMENT as usize];
            last[..rest.len()].copy_from_slice(rest);
            self.queue.write_buffer(&buffer, words.as_flattened().len() as u64, &last);
        }
        buffer
    }

    /// Binds the resources of a group of a pipeline, from binding 0 on.
    pub fn bind(&self, pipeline: &wgpu::RenderPipeline, group: u32, resources: &[wgpu::BindingResource]) -> wgpu::BindGroup {
        self.bind_to(&pipeline.get_bind_group_layout(group), (0..).zip(resources.iter().cloned()))
    }

    /// Binds resources according to a layout.
    pub fn bind_to<'a>(
        &self,
        layout: &wgpu::BindGroupLayout,
        resources: impl IntoIterator<Item = (u32, wgpu::BindingResource<'a>)>,
    ) -> wgpu::BindGroup {
        let entry = |(binding, resource)| wgpu::BindGroupEntry { binding, resource };
        let entries: Vec<_> = resources.into_iter().map(entry).collect();
        self.device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: None,
            layout,
            entries: &entries,
        })
    }

    /// Adds a compute pass over all pixels of an image, in groups of eight by eight, with resources bound from 0 on.
    pub fn sweep(
        &self,
        encoder: &mut wgpu::CommandEncoder,
        pipeline: &wgpu::ComputePipeline,
        resources: &[wgpu::BindingResource],
        image: &wgpu::Texture,
    ) {
        let bindings = self.bind_to(&pipeline.get_bind_group_layout(0), (0..).zip(resources.iter().cloned()));
        let mut pass = encoder.begin_compute_pass(&Default::default());
        pass.set_pipeline(pipeline);
        pass.set_bind_group(0, &bindings, &[]);
        pass.dispatch_workgroups(image.width().div_ceil(8), image.height().div_ceil(8), 1);
    }

    /// A compute pipeline with a function of a shader.
    pub fn computation(&self, shader: &str, function: &str, constants: &[(&str, f64)]) -> wgpu::ComputePipeline {
        let module = self.device.create_shader_module(wgpu::ShaderModuleDescriptor {
            label: Some(function),
            source: wgpu::ShaderSource::Wgsl(shader.into()),
        });
        self.device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
            label: Some(function),
            layout: None,
            module: &module,
            entry_point: Some(function),
            compilation_options: wgpu::PipelineCompilationOptions {
                constants,
                ..Default::default()
            },
            cache: None,
        })
    }

    /// A render pipeline from its description; the vertex function of its shader is `place`.
    pub fn pipeline(&self, parts: &Pipeline) -> wgpu::RenderPipeline {
        let source = wgpu::ShaderSource::Wgsl(parts.shader.into());
        let module = self.device.create_shader_module(wgpu::ShaderModuleDescriptor {
            label: Some(parts.fragment),
            source,
        });
        let blend = parts.has_blending.then_some(wgpu::BlendState::ALPHA_BLENDING);
        let targets: Vec<_> = parts
            .targets
            .iter()
            .map(|&format| {
                Some(wgpu::ColorTargetState {
                    format,
                    blend,
                    write_mask: wgpu::ColorWrites::ALL,
                })
            })
            .collect();
        let buffers = [parts.vertices.clone()];
        let options = wgpu::PipelineCompilationOptions {
            constants: parts.constants,
            ..Default::default()
        };
        self.device.create_render_pipeline(&wgpu::RenderPipelineDescriptor {
            label: Some(parts.fragment),
            layout: None,
            vertex: wgpu::VertexState {
                module: &module,
                entry_point: Some("place"),
                compilation_options: options.clone(),
                buffers: if parts.vertices.is_some() { &buffers } else { &[] },
            },
            primitive: wgpu::PrimitiveState {
                topology: parts.topology,
                ..Default::default()
            },
            depth_stencil: parts.has_depth.then_some(wgpu::DepthStencilState {
                format: DEPTH,
                depth_write_enabled: Some(true),
                depth_compare: Some(wgpu::CompareFunction::Greater),
                stencil: Default::default(),
                bias: Default::default(),
            }),
            multisample: Default::default(),
            fragment: Some(wgpu::FragmentState {
                module: &module,
                entry_point: Some(parts.fragment),
                compilation_options: options,
                targets: &targets,
            }),
            multiview_mask: None,
            cache: None,
        })
    }
}

/// An image as a binding resource.
pub fn texture(view: &wgpu::TextureView) -> wgpu::BindingResource<'_> {
    wgpu::BindingResource::TextureView(view)
}

/// An image as a color attachment.
pub fn attachment(view: &wgpu::TextureView, load: wgpu::LoadOp<wgpu::Color>) -> Option<wgpu::RenderPassColorAttachment<'_>> {
    Some(wgpu::RenderPassColorAttachment {
        view,
        depth_slice: None,
        resolve_target: None,
        ops: wgpu::Operations {
            load,
            store: wgpu::StoreOp::Store,
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_an_adapter_the_remedy_is_named() {
        let none = wgpu::InstanceDescriptor {
            backends: wgpu::Backends::empty(),
            ..wgpu::InstanceDescriptor::new_without_display_handle()
        };
        let Err(error) = RenderDevice::offscreen(none) else {
            panic!("an adapter without a backend")
        };
        assert!(matches!(error, ViewError::NoAdapter { .. }));
        assert!(error.to_string().contains("mesa-vulkan-drivers"), "{error}");
    }
}
