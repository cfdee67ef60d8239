//! Pictures of a screen, and their comparison with stored pictures that were inspected by eye.

use std::collections::HashSet;
use std::io::Cursor;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// Largest width of a stored picture \[px\]: files are small, and edges, which drivers draw differently, have less weight.
const MOST_WIDTH: usize = 640;
/// Smallest visible difference of a channel.
const VISIBLE: u8 = 24;
/// Allowed difference for drivers and fonts of another machine: less than the change by moving grains within 20 ms.
const TOLERANCE: Difference = Difference { mean: 1.5, share: 0.02 };
/// A picture with fewer colors is that of an empty window.
const FEWEST_COLORS: usize = 1000;
/// Time limit until a picture stops changing, on a machine with other work.
const PATIENCE: Duration = Duration::from_secs(90);
/// Time for which a picture must stay the same.
const REST: Duration = Duration::from_millis(600);

/// An opaque image, rows from the top.
#[derive(Clone, PartialEq)]
pub struct Picture {
    /// Width \[px\].
    pub width: usize,
    /// Height \[px\].
    pub height: usize,
    /// Three bytes per pixel.
    pub rgb: Vec<u8>,
}

/// Difference of two pictures.
#[derive(Clone, Copy, Debug)]
pub struct Difference {
    /// Mean absolute difference of channels, of 255.
    pub mean: f64,
    /// Share of pixels that differ visibly in a channel.
    pub share: f64,
}

impl Picture {
    /// Decodes a PNG.
    pub fn from_png(bytes: &[u8]) -> Picture {
        let mut reader = png::Decoder::new(Cursor::new(bytes)).read_info().unwrap();
        let mut samples = vec![0; reader.output_buffer_size().unwrap()];
        let info = reader.next_frame(&mut samples).unwrap();
        samples.truncate(info.buffer_size());
        let rgb = match info.color_type {
            png::ColorType::Rgb => samples,
            png::ColorType::Rgba => samples.chunks_exact(4).flat_map(|pixel| &pixel[..3]).copied().collect(),
            color => panic!("a picture in {color:?}"),
        };
        Picture {
            width: info.width as usize,
            height: info.height as usize,
            rgb,
        }
    }

    fn png(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        let mut encoder = png::Encoder::new(&mut bytes, self.width as u32, self.height as u32);
        encoder.set_color(png::ColorType::Rgb);
        encoder.set_depth(png::BitDepth::Eight);
        encoder.set_compression(png::Compression::High);
        let mut writer = encoder.write_header().unwrap();
        writer.write_image_data(&self.rgb).unwrap();
        writer.finish().unwrap();
        bytes
    }

    fn pixel(&self, x: usize, y: usize) -> [u8; 3] {
        let at = 3 * (y * self.width + x);
        [self.rgb[at], self.rgb[at + 1], self.rgb[at + 2]]
    }

    /// Returns the part between shares of its width and of its height.
    pub fn part(&self, across: [f64; 2], down: [f64; 2]) -> Picture {
        let (columns, rows) = (between(across, self.width), between(down, self.height));
        let rgb = rows.clone().flat_map(|y| columns.clone().flat_map(move |x| self.pixel(x, y)));
        Picture {
            rgb: rgb.collect(),
            width: columns.len(),
            height: rows.len(),
        }
    }

    /// Whether the picture is nearly empty.
    fn is_empty(&self) -> bool {
        let colors: HashSet<[u8; 3]> = self.rgb.chunks_exact(3).map(|pixel| [pixel[0], pixel[1], pixel[2]]).collect();
        colors.len() < FEWEST_COLORS
    }

    /// Returns the middle of all pixels with a strong color between shares of its width and of its height \[px\].
    pub fn middle_of_colors(&self, across: [f64; 2], down: [f64; 2]) -> Option<[usize; 2]> {
        let is_colorful = |[red, green, blue]: [u8; 3]| red.max(green).max(blue) - red.min(green).min(blue) > 35;
        let (columns, rows) = (between(across, self.width), between(down, self.height));
        let places = rows.flat_map(|y| columns.clone().map(move |x| [x, y]));
        let places: Vec<[usize; 2]> = places.filter(|&[x, y]| is_colorful(self.pixel(x, y))).collect();
        let mean = |axis: usize| places.iter().map(|place| place[axis]).sum::<usize>().checked_div(places.len());
        Some([mean(0)?, mean(1)?])
    }

    /// Returns the difference from a picture of the same size.
    pub fn difference(&self, other: &Picture) -> Difference {
        assert_eq!([self.width, self.height], [other.width, other.height], "pictures of two sizes");
        let steps: Vec<u8> = self.rgb.iter().zip(&other.rgb).map(|(a, b)| a.abs_diff(*b)).collect();
        let visible = steps.chunks_exact(3).filter(|pixel| pixel.iter().any(|step| *step > VISIBLE));
        Difference {
            mean: steps.iter().map(|step| f64::from(*step)).sum::<f64>() / steps.len() as f64,
            share: visible.count() as f64 / (self.width * self.height) as f64,
        }
    }

    /// Averages blocks of pixels, so that the picture is narrow enough to be stored.
    fn reduced(&self) -> Picture {
        let side = self.width.div_ceil(MOST_WIDTH);
        let (width, height) = (self.width / side, self.height / side);
        let mut rgb = Vec::with_capacity(3 * width * height);
        for at in 0..width * height {
            let (left, top) = (at % width * side, at / width * side);
            for channel in 0..3 {
                let block = (0..side * side).map(|of| usize::from(self.pixel(left + of % side, top + of / side)[channel]));
                rgb.push((block.sum::<usize>() / (side * side)) as u8);
            }
        }
        Picture { width, height, rgb }
    }

    /// Asserts that the picture matches the stored picture with this name. With `SEIXO_GOLDEN=write` it replaces the stored one, which must then be
    /// inspected.
    pub fn assert_golden(&self, name: &str) {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/seixo/display/golden/{name}.png"));
        let reduced = self.reduced();
        if std::env::var("SEIXO_GOLDEN").is_ok_and(|wish| wish == "write") {
            write(&path, &reduced.png());
            panic!("{} was written: look at it, and test without SEIXO_GOLDEN", path.display());
        }
        let seen = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}.png"));
        write(&seen, &reduced.png());
        let golden = std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}; SEIXO_GOLDEN=write makes it", path.display()));
        let found = reduced.difference(&Picture::from_png(&golden));
        assert!(
            found.mean <= TOLERANCE.mean && found.share <= TOLERANCE.share,
            "{} does not look like {}: {found:?}, where {TOLERANCE:?} is accepted",
            seen.display(),
            path.display()
        );
    }
}

fn between([low, high]: [f64; 2], whole: usize) -> Range<usize> {
    let at = |share: f64| (share * whole as f64).round() as usize;
    at(low)..at(high)
}

fn write(path: &Path, bytes: &[u8]) {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, bytes).unwrap();
}

/// Returns the picture in a file that a program is about to write, once it is complete.
pub fn written(path: &Path) -> Picture {
    // End of every PNG.
    const END: &[u8] = b"IEND\xaeB`\x82";
    let begun = Instant::now();
    loop {
        match std::fs::read(path) {
            Ok(bytes) if bytes.ends_with(END) => return Picture::from_png(&bytes),
            _ => assert!(begun.elapsed() < PATIENCE, "{} is not there, or not whole", path.display()),
        }
        sleep(Duration::from_millis(50));
    }
}

/// Takes pictures until one is not empty and has stopped changing.
pub fn settled(mut take: impl FnMut() -> Picture) -> Picture {
    let begun = Instant::now();
    let mut last = take();
    loop {
        sleep(REST);
        let next = take();
        if next == last && !next.is_empty() {
            return next;
        }
        assert!(
            begun.elapsed() < PATIENCE,
            "the picture {} after {} s",
            if next == last { "is empty" } else { "still changes" },
            PATIENCE.as_secs()
        );
        last = next;
    }
}

/// Takes pictures until one differs visibly from an earlier one; `None` if none does in time.
pub fn changed(before: &Picture, take: impl FnMut() -> Picture) -> Option<Picture> {
    changed_within(PATIENCE, before, take)
}

/// As [`changed`], within a time that suffices on an idle machine: for what may rightly stay the same.
pub fn changed_soon(before: &Picture, take: impl FnMut() -> Picture) -> Option<Picture> {
    changed_within(Duration::from_secs(6), before, take)
}

fn changed_within(time: Duration, before: &Picture, mut take: impl FnMut() -> Picture) -> Option<Picture> {
    let begun = Instant::now();
    while begun.elapsed() < time {
        let now = take();
        if now.difference(before).share > 0.0 {
            return Some(now);
        }
        sleep(Duration::from_millis(30));
    }
    None
}
