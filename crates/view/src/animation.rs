//! Animated GIF files, for programs that play no videos, such as those for slides and mail.

use std::{fmt::Display, io::Write};

use gif::{Encoder, Frame, Repeat};

use crate::{ViewError, canvas::Canvas};

/// Only every this many pixels is looked at to choose the 256 colors of a picture, up to 30.
const SPARSITY: i32 = 10;
/// Ticks of the format in a second.
const TICKS: u64 = 100;

/// An animated GIF under construction, which repeats without end. Each picture has 256 colors of its own.
pub struct Animation<W: Write> {
    file: Encoder<W>,
    size: (u32, u32),
    frames_per_second: u32,
    pictures: u64,
}

fn failed(cause: impl Display) -> ViewError {
    ViewError::Film(cause.to_string())
}

/// A side of a picture; pictures are at most 4096 pixels wide and high.
fn side(pixels: u32) -> Result<u16, ViewError> {
    u16::try_from(pixels).map_err(failed)
}

impl<W: Write> Animation<W> {
    /// Most frames per second: many programs show a picture of a single hundredth of a second for a tenth.
    pub const MAX_FRAMES_PER_SECOND: u32 = 50;

    /// An animation of this width and height \[px\] that will be written to `to`.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn new(to: W, size: (u32, u32), frames_per_second: u32) -> Result<Animation<W>, ViewError> {
        let mut file = Encoder::new(to, side(size.0)?, side(size.1)?, &[]).map_err(failed)?;
        file.set_repeat(Repeat::Infinite).map_err(failed)?;
        Ok(Animation {
            file,
            size,
            frames_per_second,
            pictures: 0,
        })
    }

    /// Appends a picture.
    ///
    /// # Errors
    /// If its size differs from that of the animation, or it cannot be written.
    pub fn add(&mut self, picture: &Canvas) -> Result<(), ViewError> {
        if (picture.width, picture.height) != self.size {
            let (width, height) = self.size;
            return Err(failed(format_args!(
                "a picture of {} × {} pixels does not fit into a film of {width} × {height}; draw all in one size",
                picture.width, picture.height
            )));
        }
        let mut frame = Frame::from_rgb_speed(side(picture.width)?, side(picture.height)?, &picture.rgb, SPARSITY);
        // Times are rounded, not durations, so that the whole lasts as long as it shall.
        let end = self.end_of(self.pictures);
        let start = self.pictures.checked_sub(1).map_or(0, |last| self.end_of(last));
        frame.delay = u16::try_from(end - start).map_err(failed)?;
        self.file.write_frame(&frame).map_err(failed)?;
        self.pictures += 1;
        Ok(())
    }

    /// Time at which a picture ends, in ticks.
    fn end_of(&self, picture: u64) -> u64 {
        let rate = u64::from(self.frames_per_second);
        (TICKS * (picture + 1) + rate / 2) / rate
    }

    /// Writes the end of the file and returns its writer.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn finish(self) -> Result<W, ViewError> {
        self.file.into_inner().map_err(failed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A red picture whose right half grows brighter.
    fn picture(number: u32) -> Canvas {
        let pixel = |place: u32| if place % 64 < 32 { [200, 40, 30] } else { [20 * number as u8; 3] };
        Canvas {
            width: 64,
            height: 48,
            rgb: (0..64 * 48).flat_map(pixel).collect(),
        }
    }

    #[test]
    fn an_animation_has_all_pictures_in_their_colors_for_as_long_as_they_shall_be_seen() {
        // Thirty pictures a second do not fit the hundredths of a second in which the format counts.
        for rate in [10, 30, 50] {
            let mut animation = Animation::new(Vec::new(), (64, 48), rate).unwrap();
            (0..12).for_each(|number| animation.add(&picture(number)).unwrap());
            let bytes = animation.finish().unwrap();
            let mut options = gif::DecodeOptions::new();
            options.set_color_output(gif::ColorOutput::RGBA);
            let mut decoder = options.read_info(&bytes[..]).unwrap();
            assert_eq!((decoder.width(), decoder.height()), (64, 48));
            let (mut count, mut ticks) = (0, 0);
            while let Some(frame) = decoder.read_next_frame().unwrap() {
                ticks += u32::from(frame.delay);
                for (found, expected) in frame.buffer.chunks(4).zip(picture(count).rgb.chunks(3)) {
                    assert!(
                        found.iter().zip(expected).all(|(a, b)| a.abs_diff(*b) <= 4),
                        "{found:?} {expected:?}"
                    );
                }
                count += 1;
            }
            assert_eq!((count, ticks), (12, 1200 / rate));
        }
    }

    #[test]
    fn a_picture_of_another_size_is_refused() {
        let mut animation = Animation::new(Vec::new(), (64, 50), 25).unwrap();
        let refused = animation.add(&picture(0)).unwrap_err().to_string();
        assert!(refused.contains("64 × 48") && refused.contains("64 × 50"), "{refused}");
    }
}
