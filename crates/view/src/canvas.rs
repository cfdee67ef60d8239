//! An image in memory with drawing operations.

use crate::{ViewError, color::Rgb};

/// An opaque sRGB image, rows from the top.
pub struct Canvas {
    /// Width \[px\].
    pub width: u32,
    /// Height \[px\].
    pub height: u32,
    /// Three bytes per pixel.
    pub rgb: Vec<u8>,
}

impl Canvas {
    /// Blends `color` over a pixel with this opacity; ignores pixels outside of the image.
    pub fn blend(&mut self, x: i64, y: i64, color: Rgb, opacity: f32) {
        if (0..i64::from(self.width)).contains(&x) && (0..i64::from(self.height)).contains(&y) {
            let at = 3 * (y as usize * self.width as usize + x as usize);
            for (channel, over) in self.rgb[at..at + 3].iter_mut().zip(color) {
                let under = f32::from(*channel);
                *channel = (under + (f32::from(over) - under) * opacity).round() as u8;
            }
        }
    }

    /// Fills the rectangle between two corners \[px\]; edges between pixels are antialiased.
    pub fn fill(&mut self, [left, top]: [f32; 2], [right, bottom]: [f32; 2], color: Rgb) {
        let cover = |pixel: i64, low: f32, high: f32| (high.min(pixel as f32 + 1.0) - low.max(pixel as f32)).clamp(0.0, 1.0);
        for y in top.floor().max(0.0) as i64..bottom.ceil().min(self.height as f32) as i64 {
            for x in left.floor().max(0.0) as i64..right.ceil().min(self.width as f32) as i64 {
                self.blend(x, y, color, cover(x, left, right) * cover(y, top, bottom));
            }
        }
    }

    /// The image with every `factor` × `factor` block averaged into one pixel.
    pub fn reduced(&self, factor: u32) -> Canvas {
        let (width, height) = (self.width / factor, self.height / factor);
        let mut rgb = Vec::with_capacity((width * height * 3) as usize);
        for y in 0..height {
            for x in 0..width {
                for channel in 0..3 {
                    let block = (0..factor * factor).map(|i| {
                        let (row, column) = (y * factor + i / factor, x * factor + i % factor);
                        u32::from(self.rgb[3 * (row as usize * self.width as usize + column as usize) + channel])
                    });
                    rgb.push((block.sum::<u32>() / (factor * factor)) as u8);
                }
            }
        }
        Canvas { width, height, rgb }
    }

    /// The image as PNG.
    pub fn png(&self) -> Result<Vec<u8>, ViewError> {
        let encoding = |error: png::EncodingError| ViewError::Encoding(error.to_string());
        let mut bytes = Vec::new();
        let mut encoder = png::Encoder::new(&mut bytes, self.width, self.height);
        encoder.set_color(png::ColorType::Rgb);
        encoder.set_depth(png::BitDepth::Eight);
        encoder.set_compression(png::Compression::Balanced);
        let mut writer = encoder.write_header().map_err(encoding)?;
        writer.write_image_data(&self.rgb).map_err(encoding)?;
        writer.finish().map_err(encoding)?;
        Ok(bytes)
    }
}
