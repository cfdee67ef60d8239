//! Lines of text in built-in fonts.

use ab_glyph::{Font, FontRef, PxScale, ScaleFont, point};
use epaint_default_fonts::UBUNTU_LIGHT;

use crate::{ViewError, canvas::Canvas, color::Rgb};

/// Alignment of a line of text at its position.
#[derive(Clone, Copy, PartialEq)]
pub enum Align {
    /// The text begins at the position.
    Left,
    /// The text is centered at the position.
    Center,
}

/// Style of a line of text.
#[derive(Clone, Copy)]
pub struct Style {
    /// Height of the line \[px\].
    pub size: f32,
    /// Color of the glyphs.
    pub color: Rgb,
    /// Meaning of the position.
    pub align: Align,
}

/// A writer with one font.
pub struct TextWriter {
    font: FontRef<'static>,
}

impl TextWriter {
    /// The writer for all pictures.
    pub fn new() -> Result<TextWriter, ViewError> {
        let font = FontRef::try_from_slice(UBUNTU_LIGHT).map_err(|error| ViewError::Encoding(error.to_string()))?;
        Ok(TextWriter { font })
    }

    /// Width of a line \[px\].
    pub fn width(&self, text: &str, size: f32) -> f32 {
        self.placed(text, size).last().map_or(0.0, |(_, [_, end])| end)
    }

    /// Writes a line whose baseline passes through `at` \[px\].
    pub fn write(&self, canvas: &mut Canvas, at: [f32; 2], style: Style, text: &str) {
        let start = match style.align {
            Align::Left => at[0],
            Align::Center => at[0] - self.width(text, style.size) / 2.0,
        };
        for (glyph, [x, _]) in self.placed(text, style.size) {
            let glyph = glyph.with_scale_and_position(PxScale::from(style.size), point(start + x, at[1]));
            if let Some(outline) = self.font.outline_glyph(glyph) {
                let corner = outline.px_bounds().min;
                outline.draw(|column, row, coverage| {
                    // A light font looks thin on white; a gamma on its coverage keeps the strokes dark.
                    let opacity = coverage.clamp(0.0, 1.0).powf(0.65);
                    canvas.blend(
                        corner.x as i64 + i64::from(column),
                        corner.y as i64 + i64::from(row),
                        style.color,
                        opacity,
                    );
                });
            }
        }
    }

    /// The glyphs of a line with start and end of each.
    fn placed(&self, text: &str, size: f32) -> impl Iterator<Item = (ab_glyph::GlyphId, [f32; 2])> {
        let font = self.font.as_scaled(PxScale::from(size));
        let mut end = 0.0;
        let mut before = None;
        text.chars().map(move |character| {
            let glyph = font.glyph_id(character);
            let start = end + before.replace(glyph).map_or(0.0, |last| font.kern(last, glyph));
            end = start + font.h_advance(glyph);
            (glyph, [start, end])
        })
    }
}
