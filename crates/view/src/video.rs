//! Videos: AV1 in an MP4 file, which browsers and players support directly.

use std::{fmt::Display, io::Write};

use muxide::api::{Muxer, MuxerBuilder, VideoCodec};
use rav1e::prelude::{
    ChromaSamplePosition, ColorDescription, ColorPrimaries, Config, Context, EncoderConfig, EncoderStatus, FrameType, MatrixCoefficients,
    Packet, Rational, SceneDetectionSpeed, SpeedSettings, TransferCharacteristics,
};

use crate::{ViewError, canvas::Canvas};

/// Quantizer, up to 255; flat areas and thin letters stay clean.
const QUANTIZER: usize = 80;
/// Speed of the encoder, up to 10; a fast encoder makes larger files.
const SPEED: u8 = 9;
/// Seconds between key frames, to which players can jump.
const SECONDS_TO_JUMP: u64 = 2;
/// Pixels per tile. Each thread encodes one tile. The number of tiles depends on the size only, so files are identical for any number of cores.
const PIXELS_OF_TILE: usize = 160_000;
/// Most tiles; allowed for all sizes that players support.
const MAX_TILES: usize = 32;
/// Temporal delimiter that the encoder writes before each picture. MP4 files leave it out, since they store where pictures begin.
const TEMPORAL_DELIMITER: [u8; 2] = [0x12, 0x00];

/// A video under construction: takes pictures one by one, and writes them to `W` at the end.
pub struct Video<W: Write> {
    encoder: Context<u8>,
    file: Muxer<W>,
    size: (u32, u32),
    frames_per_second: u32,
    pictures: u64,
}

fn failed(cause: impl Display) -> ViewError {
    ViewError::Film(cause.to_string())
}

impl<W: Write> Video<W> {
    /// An empty video of this width and height \[px\] that will be written to `to`.
    ///
    /// # Errors
    /// If a side is odd: two by two pixels share a color.
    pub fn new(to: W, size: (u32, u32), frames_per_second: u32) -> Result<Video<W>, ViewError> {
        let (width, height) = size;
        let file = MuxerBuilder::new(to).video(VideoCodec::Av1, width, height, f64::from(frames_per_second));
        Ok(Video {
            encoder: encoder(size, frames_per_second)?,
            file: file.build().map_err(failed)?,
            size,
            frames_per_second,
            pictures: 0,
        })
    }

    /// Appends a picture.
    ///
    /// # Errors
    /// If its size differs from that of the video.
    pub fn add(&mut self, picture: &Canvas) -> Result<(), ViewError> {
        let (width, height) = self.size;
        if (picture.width, picture.height) != self.size {
            let Canvas {
                width: wide, height: high, ..
            } = picture;
            return Err(failed(format_args!(
                "a picture of {wide} × {high} pixels does not fit into a film of {width} × {height}; draw all in one size"
            )));
        }
        let mut frame = self.encoder.new_frame();
        for ((plane, bytes), width) in frame.planes.iter_mut().zip(&planes(picture)).zip([width, width / 2, width / 2]) {
            plane.copy_from_raw_u8(bytes, width as usize, 1);
        }
        self.encoder.send_frame(frame).map_err(failed)?;
        self.pictures += 1;
        self.take()
    }

    /// Encodes the remaining pictures, writes the file and returns its writer.
    ///
    /// # Errors
    /// If there are fewer than two pictures: the duration of a picture follows from the next one.
    pub fn finish(mut self) -> Result<W, ViewError> {
        if self.pictures < 2 {
            return Err(failed(format_args!("a film needs two pictures or more, not {}", self.pictures)));
        }
        self.encoder.send_frame(None).map_err(failed)?;
        self.take()?;
        self.file.finish_in_place().map_err(failed)?;
        Ok(self.file.into_writer())
    }

    /// Writes the finished packets of the encoder.
    fn take(&mut self) -> Result<(), ViewError> {
        loop {
            match self.encoder.receive_packet() {
                Ok(packet) => self.put(&packet)?,
                Err(EncoderStatus::Encoded) => {}
                Err(EncoderStatus::NeedMoreData | EncoderStatus::LimitReached) => return Ok(()),
                Err(status) => return Err(failed(status)),
            }
        }
    }

    fn put(&mut self, packet: &Packet<u8>) -> Result<(), ViewError> {
        let seconds = packet.input_frameno as f64 / f64::from(self.frames_per_second);
        let data = packet.data.strip_prefix(&TEMPORAL_DELIMITER).unwrap_or(&packet.data);
        self.file
            .write_video(seconds, data, packet.frame_type == FrameType::KEY)
            .map_err(failed)
    }
}

/// An encoder for pictures of this width and height \[px\].
fn encoder((width, height): (u32, u32), frames_per_second: u32) -> Result<Context<u8>, ViewError> {
    if !width.is_multiple_of(2) || !height.is_multiple_of(2) {
        return Err(ViewError::FilmSize { width, height });
    }
    let mut speed_settings = SpeedSettings::from_preset(SPEED);
    // There are no scene cuts here, and the search for them takes time.
    speed_settings.scene_detection_mode = SceneDetectionSpeed::None;
    let (width, height) = (width as usize, height as usize);
    let interval = SECONDS_TO_JUMP * u64::from(frames_per_second);
    let settings = EncoderConfig {
        width,
        height,
        time_base: Rational::new(1, u64::from(frames_per_second)),
        chroma_sample_position: ChromaSamplePosition::Vertical,
        // Pictures are sRGB. Players treat the BT.709 curve as sRGB, and no other curve is supported as well.
        color_description: Some(ColorDescription {
            color_primaries: ColorPrimaries::BT709,
            transfer_characteristics: TransferCharacteristics::BT709,
            matrix_coefficients: MatrixCoefficients::BT709,
        }),
        min_key_frame_interval: interval,
        max_key_frame_interval: interval,
        low_latency: true,
        quantizer: QUANTIZER,
        tiles: (width * height).div_ceil(PIXELS_OF_TILE).min(MAX_TILES),
        speed_settings,
        ..EncoderConfig::default()
    };
    Config::new().with_encoder_config(settings).new_context().map_err(failed)
}

/// Weight of red in the luma of BT.709.
const RED: f32 = 0.2126;
/// Weight of blue.
const BLUE: f32 = 0.0722;

/// Luma of a color, from 0 to 255 like its components.
fn brightness([red, green, blue]: [f32; 3]) -> f32 {
    RED * red + (1.0 - RED - BLUE) * green + BLUE * blue
}

/// The planes Y', Cb and Cr of a picture with even sides, by BT.709 in limited range. A value of Cb or Cr belongs to two by two pixels and lies
/// midway between the left two, where players expect it.
fn planes(picture: &Canvas) -> [Vec<u8>; 3] {
    let pixels = picture.rgb.as_chunks::<3>().0;
    // An offset of 0.5 makes the truncation round.
    let luma = |pixel: &[u8; 3]| (16.5 + 219.0 / 255.0 * brightness(pixel.map(f32::from))) as u8;
    let (mut blues, mut reds) = (Vec::with_capacity(pixels.len() / 4), Vec::with_capacity(pixels.len() / 4));
    let width = picture.width as usize;
    for rows in pixels.chunks_exact(2 * width) {
        let (top, bottom) = rows.split_at(width);
        for middle in (0..width).step_by(2) {
            let weighed = [(middle.saturating_sub(1), 1), (middle, 2), (middle + 1, 1)];
            let color: [f32; 3] = std::array::from_fn(|part| {
                let at = |(column, weight): (usize, u16)| weight * (u16::from(top[column][part]) + u16::from(bottom[column][part]));
                f32::from(weighed.into_iter().map(at).sum::<u16>()) / 8.0
            });
            let luma = brightness(color);
            let chroma = |value: f32, share: f32| (128.5 + 224.0 / 255.0 * (value - luma) / (2.0 - 2.0 * share)) as u8;
            blues.push(chroma(color[2], BLUE));
            reds.push(chroma(color[0], RED));
        }
    }
    [pixels.iter().map(luma).collect(), blues, reds]
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIZE: (u32, u32) = (64, 48);

    fn plain((width, height): (u32, u32), color: [u8; 3]) -> Canvas {
        Canvas {
            width,
            height,
            rgb: color.repeat((width * height) as usize),
        }
    }

    /// A bright square on a dark background that moves to the right.
    fn scene(number: u32) -> Canvas {
        let mut picture = plain(SIZE, [30, 40, 60]);
        let left = 4.0 + 3.0 * number as f32;
        picture.fill([left, 16.0], [left + 16.0, 32.0], [250, 200, 40]);
        picture
    }

    fn number(bytes: &[u8], at: usize) -> u32 {
        u32::from_be_bytes(bytes[at..at + 4].try_into().unwrap())
    }

    /// Contents of the first box of each of these names, each inside the previous one.
    fn inside<'a>(bytes: &'a [u8], path: &[&str]) -> &'a [u8] {
        let Some((name, further)) = path.split_first() else {
            return bytes;
        };
        let mut rest = bytes;
        while !rest.is_empty() {
            let (this, next) = rest.split_at(number(rest, 0) as usize);
            if &this[4..8] == name.as_bytes() {
                return inside(&this[8..], further);
            }
            rest = next;
        }
        panic!("no box {name}");
    }

    #[test]
    fn colors_become_those_of_bt_709() {
        for (color, [luma, blue, red]) in [
            ([255, 255, 255], [235, 128, 128]),
            ([0, 0, 0], [16, 128, 128]),
            ([255, 0, 0], [63, 102, 240]),
            ([0, 255, 0], [173, 42, 26]),
            ([0, 0, 255], [32, 240, 118]),
        ] {
            let found = planes(&plain((6, 4), color));
            assert_eq!(found.each_ref().map(Vec::len), [24, 6, 6]);
            for (plane, expected) in found.iter().zip([luma, blue, red]) {
                assert!(
                    plane.iter().all(|&value: &u8| value.abs_diff(expected) <= 1),
                    "{color:?}: {found:?}"
                );
            }
        }
    }

    #[test]
    fn colors_stay_where_they_are() {
        let mut picture = plain((8, 2), [0, 0, 0]);
        picture.fill([4.0, 0.0], [8.0, 2.0], [0, 0, 255]);
        let [luma, blue, _] = planes(&picture);
        assert_eq!(luma, [[16, 16, 16, 16, 32, 32, 32, 32]; 2].concat());
        // The third value lies on the first blue column, with one black neighbor: three quarters of the way.
        assert_eq!(blue, [128, 128, 212, 240]);
    }

    #[test]
    fn a_film_has_all_pictures_for_as_long_as_they_shall_be_seen() {
        for frames_per_second in [25, 7] {
            let mut video = Video::new(Vec::new(), SIZE, frames_per_second).unwrap();
            (0..12).for_each(|number| video.add(&scene(number)).unwrap());
            let bytes = video.finish().unwrap();
            assert_eq!(&bytes[4..8], b"ftyp");
            let seconds = 12.0 / f64::from(frames_per_second);
            for path in [&["moov", "mvhd"] as &[_], &["moov", "trak", "mdia", "mdhd"]] {
                let head = inside(&bytes, path);
                let (scale, duration) = (f64::from(number(head, 12)), f64::from(number(head, 16)));
                // Half a tick for the start of the last picture, and one for its duration, which equals the previous one.
                assert!(
                    (duration - seconds * scale).abs() <= 1.5,
                    "{path:?}: {duration} of {scale} a second"
                );
            }
            let table = inside(&bytes, &["moov", "trak", "mdia", "minf", "stbl"]);
            let sizes = inside(table, &["stsz"]);
            assert_eq!(number(sizes, 8), 12);
            let lengths: Vec<u32> = (0..12).map(|sample| number(sizes, 12 + 4 * sample)).collect();
            let samples = inside(&bytes, &["mdat"]);
            assert_eq!(lengths.iter().sum::<u32>() as usize, samples.len());
            // The first sample begins with the sequence header; none has a delimiter.
            assert_eq!(samples[0] >> 3, 1);
            let mut at = 0;
            for length in lengths {
                assert_ne!(samples[at] >> 3, 2);
                at += length as usize;
            }
            let jumps = inside(table, &["stss"]);
            assert_eq!((number(jumps, 4), number(jumps, 8)), (1, 1));
            let entry = inside(&inside(table, &["stsd"])[8..], &["av01"]);
            let side = |at: usize| u32::from(u16::from_be_bytes([entry[at], entry[at + 1]]));
            assert_eq!((side(24), side(26)), SIZE);
        }
    }

    #[test]
    fn what_players_show_is_what_was_drawn() {
        let mut encoder = encoder(SIZE, 25).unwrap();
        let mut shown = Vec::new();
        for picture in (0..12).map(scene) {
            let mut frame = encoder.new_frame();
            for ((plane, bytes), width) in frame.planes.iter_mut().zip(&planes(&picture)).zip([64, 32, 32]) {
                plane.copy_from_raw_u8(bytes, width, 1);
            }
            encoder.send_frame(frame).unwrap();
        }
        encoder.send_frame(None).unwrap();
        loop {
            match encoder.receive_packet() {
                Ok(packet) => shown.push(packet.rec.unwrap()),
                Err(EncoderStatus::LimitReached) => break,
                Err(status) => assert_eq!(status, EncoderStatus::Encoded),
            }
        }
        assert_eq!(shown.len(), 12);
        for (number, frame) in (0..12).zip(shown) {
            for ((plane, bytes), (width, height)) in frame.planes.iter().zip(planes(&scene(number))).zip([(64, 48), (32, 24), (32, 24)]) {
                let mut seen = vec![0; bytes.len()];
                plane.copy_to_raw_u8(&mut seen, width, 1);
                let squares = seen.iter().zip(&bytes).map(|(&a, &b)| f64::from(a.abs_diff(b)).powi(2));
                let error = (squares.sum::<f64>() / (width * height) as f64).sqrt();
                assert!(error < 4.0, "picture {number}: off by {error} of 255");
            }
        }
    }

    #[test]
    fn what_cannot_be_a_film_is_refused() {
        let refused = |size| Video::new(Vec::new(), size, 25).err().unwrap().to_string();
        assert_eq!(
            refused((1601, 1000)),
            "a film of 1601 × 1000 pixels cannot be encoded: both sides must be even; try --size 1602x1000"
        );
        assert!(refused((64, 49)).ends_with("try --size 64x50"));
        let mut video = Video::new(Vec::new(), SIZE, 25).unwrap();
        let other = video.add(&plain((64, 64), [0; 3])).unwrap_err().to_string();
        assert!(other.contains("64 × 64") && other.contains("64 × 48"), "{other}");
        video.add(&scene(0)).unwrap();
        assert!(video.finish().unwrap_err().to_string().ends_with("two pictures or more, not 1"));
    }
}
