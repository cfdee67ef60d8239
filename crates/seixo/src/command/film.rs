//! `seixo film`: draws frames of a run as a video, and as numbered images.

use super::picture::{LookArguments, check_ending, failure};
use super::watch::{bar, signals};
use super::{Done, Failure, write_file};
use crate::terminal;
use clap::Args;
use seixo_engine::world::WallPath;
use seixo_files::layer::{Disk, FileLayer};
use seixo_files::{FilesError, path_in};
use seixo_view::{Animation, Canvas, Film, Video, ViewError, frames_of};
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;

/// Draw frames of a run as a video (AV1 in an MP4 file), an animated GIF, or a series of PNG images
///
/// The whole film has one camera and one color scale. The picture contains everything visible at any time. Without --range the scale covers the
/// values of all frames. Damaged frames are reported and left out. Frames follow each other at --rate, independent of the simulated time between
/// them; each picture shows its simulated time. Encoding takes most of the time and uses all cores.
#[derive(Args)]
#[command(after_help = "\
Examples:
  seixo film silo.out                                       all frames, to silo.out/film.mp4
  seixo film silo.out --frames 50.. --every 2 --rate 50     the fifty-first, and every other from there on
  seixo film dam.out --surface --field speed --range 0,2    what seixo picture draws, with the same options
  seixo film drum.out --turn 360                            once around while it runs
  seixo film drum.out --path camera.csv                     seen from where a table says, with columns time [s], x, y, z
  seixo film silo.out --size 1920x1080 --out silo.mp4
  seixo film silo.out --size 800x500 --every 4 --out silo.gif   for slides and mail; a GIF is much larger than a video
  seixo film silo.out --pictures frames --no-video          frames/frame_000000.png and so on, for another program")]
pub struct FilmArguments {
    /// Folder of the run
    folder: PathBuf,
    #[command(flatten)]
    look: LookArguments,
    /// Range of frames, from 0, both ends included, such as 10..40, 10.. or ..40; default: all frames
    #[arg(long, value_name = "FIRST..LAST", value_parser = span)]
    frames: Option<Span>,
    /// Show every N-th frame of the range
    #[arg(long, value_name = "N", value_parser = above_zero, default_value = "1")]
    every: usize,
    /// Frames per second of the video, 1 to 240; at most 50 for a GIF
    #[arg(long, value_name = "FPS", value_parser = clap::value_parser!(u32).range(1..=240), default_value_t = 25)]
    rate: u32,
    /// Angle by which the camera turns about the vertical axis during the film, in degrees, from --view on. Positive angles are counterclockwise from
    /// above. Example: --turn 360
    #[arg(long, value_name = "DEGREES", value_parser = degrees, allow_hyphen_values = true)]
    turn: Option<f64>,
    /// Table of camera directions: columns time [s], x, y and z, one row for each simulated time. x, y, z point from the scene to the camera.
    /// Directions between rows are interpolated linearly
    #[arg(long, value_name = "FILE", conflicts_with_all = ["view", "turn"])]
    path: Option<PathBuf>,
    /// Folder for PNG images of the frames, numbered from 0 in the order of the film
    #[arg(long, value_name = "DIR")]
    pictures: Option<PathBuf>,
    /// Write only the images, no video
    #[arg(long, requires = "pictures", conflicts_with_all = ["out", "rate"])]
    no_video: bool,
    /// Video file, MP4, or animated GIF if the name ends in .gif; default: film.mp4 in the run folder
    #[arg(long, short, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Print errors only
    #[arg(long, short)]
    quiet: bool,
}

/// File of a film under construction.
enum FilmFile {
    Video(Box<Video<Vec<u8>>>),
    Animation(Animation<Vec<u8>>),
}

impl FilmFile {
    /// Starts a film in the format that the ending of its path names.
    fn new(path: &Path, size: (u32, u32), rate: u32) -> Result<FilmFile, Failure> {
        if path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("gif")) {
            let most = Animation::<Vec<u8>>::MAX_FRAMES_PER_SECOND;
            if rate > most {
                return Err(input(format!(
                    "--rate {rate}: a GIF shows at most {most} frames per second; write --rate {most}, or make a video: --out {}",
                    path.with_extension("mp4").display()
                )));
            }
            return Animation::new(Vec::new(), size, rate).map(FilmFile::Animation).map_err(failure);
        }
        let video = Video::new(Vec::new(), size, rate).map_err(failure)?;
        check_ending(path, "mp4", "films are AV1 in MP4, or GIF if the name ends in .gif")?;
        Ok(FilmFile::Video(Box::new(video)))
    }

    fn add(&mut self, picture: &Canvas) -> Result<(), ViewError> {
        match self {
            FilmFile::Video(video) => video.add(picture),
            FilmFile::Animation(animation) => animation.add(picture),
        }
    }

    fn finish(self) -> Result<Vec<u8>, ViewError> {
        match self {
            FilmFile::Video(video) => video.finish(),
            FilmFile::Animation(animation) => animation.finish(),
        }
    }
}

/// Range of frames, both ends included; a missing end is that of the recording.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Span {
    first: Option<usize>,
    last: Option<usize>,
}

fn span(text: &str) -> Result<Span, String> {
    let end = |text: &str| match text.trim() {
        "" => Some(None),
        number => number.parse().ok().map(Some),
    };
    let ends = text.split_once("..").and_then(|(first, last)| Some((end(first)?, end(last)?)));
    ends.map(|(first, last)| Span { first, last })
        .ok_or_else(|| "write the first and the last frame with two dots between them, such as 10..40, 10.. or ..40".to_owned())
}

fn above_zero(text: &str) -> Result<usize, String> {
    let number = text.parse().ok().filter(|&number| number > 0);
    number.ok_or_else(|| "write a whole number above 0".to_owned())
}

fn degrees(text: &str) -> Result<f64, String> {
    let number = text.parse().ok().filter(|number: &f64| number.is_finite());
    number.ok_or_else(|| "write a number of degrees, such as 360 or -90".to_owned())
}

fn input(error: impl ToString) -> Failure {
    Failure::Input(error.to_string())
}

impl FilmArguments {
    /// Returns the selected frames of a recording with `count` frames.
    fn chosen(&self, count: usize) -> Result<Vec<usize>, Failure> {
        let end = count.saturating_sub(1);
        let span = self.frames.unwrap_or_default();
        let (first, last) = (span.first.unwrap_or(0), span.last.unwrap_or(end));
        if let Some(frame) = [first, last].into_iter().find(|&frame| frame > end) {
            return Err(input(ViewError::FrameOutOfRange { frame, last: end }));
        }
        if first > last {
            return Err(input(format!(
                "--frames {first}..{last} ends before it begins; write {last}..{first}"
            )));
        }
        let frames: Vec<usize> = (first..=last).step_by(self.every).collect();
        if frames.len() < 2 && !self.no_video {
            return Err(input(format!(
                "of {count} frames this shows frame {first} alone, and a film needs two or more; widen --frames, lower --every, or draw it with seixo picture"
            )));
        }
        Ok(frames)
    }

    /// Returns the camera direction at each of these simulated times \[s\], or `None` for the default direction. `from` is the direction at the
    /// start.
    fn directions(&self, from: [f64; 3], times: &[f64]) -> Result<Vec<Option<[f64; 3]>>, Failure> {
        match (&self.path, self.turn) {
            (Some(path), _) => {
                let way = camera_path(path)?;
                times.iter().map(|&time| direction(&way, path, time).map(Some)).collect()
            }
            (None, Some(whole)) => {
                let steps = times.len().saturating_sub(1).max(1) as f64;
                let angles = (0..times.len()).map(|step| whole.to_radians() * step as f64 / steps);
                Ok(angles.map(|angle| Some(turned(from, angle))).collect())
            }
            (None, None) => Ok(vec![None; times.len()]),
        }
    }
}

/// Rotates a direction about the vertical axis by an angle \[rad\].
fn turned([x, y, z]: [f64; 3], angle: f64) -> [f64; 3] {
    let (sine, cosine) = angle.sin_cos();
    [cosine * x - sine * y, sine * x + cosine * y, z]
}

fn length(vector: [f64; 3]) -> f64 {
    vector.map(|part| part * part).iter().sum::<f64>().sqrt()
}

/// Reads a table of camera directions over simulated time.
fn camera_path(path: &Path) -> Result<WallPath, Failure> {
    let way = path_in::read(path).map_err(input)?;
    let refused = |what: String| Err(input(format!("{}: {what}", path.display())));
    if !way.angle.is_empty() {
        return refused("a camera has no column `angle`; remove it, or turn the camera with --turn".to_owned());
    }
    for (time, &position) in way.time.iter().zip(&way.position) {
        if length(position) == 0.0 {
            return refused(format!(
                "at {time} s all of x, y and z are 0, which is no direction; give one from the scene to the camera"
            ));
        }
    }
    Ok(way)
}

/// Returns the direction at a time \[s\]. Before the first and after the last row it is that of the nearest row.
fn direction(way: &WallPath, path: &Path, time: f64) -> Result<[f64; 3], Failure> {
    /// Smallest length of an interpolated direction, relative to the longer row. Opposite rows cancel each other.
    const NOTHING: f64 = 1e-6;
    let after = way.time.partition_point(|&row| row <= time);
    let (before, after) = (after.saturating_sub(1), after.min(way.time.len() - 1));
    let [from, to] = [before, after].map(|row| way.position[row]);
    let share = if after > before {
        ((time - way.time[before]) / (way.time[after] - way.time[before])).clamp(0.0, 1.0)
    } else {
        0.0
    };
    let between = std::array::from_fn(|axis| from[axis] + share * (to[axis] - from[axis]));
    if length(between) > NOTHING * length(from).max(length(to)) {
        return Ok(between);
    }
    Err(input(format!(
        "{}: at {time} s the camera would pass through the middle of the scene; add a row between {} s and {} s",
        path.display(),
        way.time[before],
        way.time[after]
    )))
}

/// Refuses a path that cannot be written, before the frames are drawn.
fn check_place(path: &Path) -> Done {
    if path.is_dir() {
        return Err(input(format!("{}: this is a folder; name the video file", path.display())));
    }
    let mut trial = path.as_os_str().to_owned();
    trial.push(".tmp");
    let trial = PathBuf::from(trial);
    let written = Disk.create(&trial).and_then(|_| Disk.remove(&trial));
    written.map_err(|source| {
        Failure::from(FilesError::Disk {
            path: path.to_owned(),
            action: "write it",
            source,
        })
    })
}

/// Refuses a folder that has pictures of a longer film: the old ones would follow the new ones.
fn check_pictures(folder: &Path, count: usize) -> Done {
    let number = |name: &str| name.strip_prefix("frame_")?.strip_suffix(".png")?.parse::<usize>().ok();
    for entry in folder.read_dir().into_iter().flatten().flatten() {
        let name = entry.file_name();
        if name.to_str().and_then(number).is_some_and(|number| number >= count) {
            return Err(input(format!(
                "{}: a picture of another film, which would follow on the {count} of this one; remove it, or name another folder",
                entry.path().display()
            )));
        }
    }
    Ok(())
}

/// Makes the film.
pub fn film(arguments: &FilmArguments) -> Done {
    let FilmArguments {
        folder, rate, pictures, ..
    } = arguments;
    let frames = arguments.chosen(frames_of(folder).map_err(failure)?.len())?;
    let options = arguments.look.options(None);
    let mut video = None;
    let out = arguments.out.clone().unwrap_or_else(|| folder.join("film.mp4"));
    if !arguments.no_video {
        video = Some(FilmFile::new(&out, options.size, *rate)?);
        check_place(&out)?;
    }
    if let Some(path) = pictures {
        Disk.create_dir_all(path).map_err(|source| FilesError::Disk {
            path: path.clone(),
            action: "create it",
            source,
        })?;
        check_pictures(path, frames.len())?;
    }
    let bar = bar(arguments.quiet);
    bar.set_message("looking through the frames");
    let mut film = Film::new(folder, options, &frames).map_err(failure)?;
    for damaged in film.damaged() {
        terminal::note(&format!("left out: {damaged}"));
    }
    let (frames, times): (Vec<usize>, Vec<f64>) = film.frames().iter().copied().unzip();
    let directions = arguments.directions(film.view(), &times)?;
    let control = signals()?;
    bar.set_length(frames.len() as u64);
    bar.reset_eta();
    for (index, ((&frame, &view), &time)) in frames.iter().zip(&directions).zip(&times).enumerate() {
        if control.stop.load(Ordering::Relaxed) {
            let kept = pictures.as_ref().map_or_else(
                || "nothing was written".to_owned(),
                |path| format!("pictures are in {}, but no video", path.display()),
            );
            let reported = format!("stopped after {index} of {}; {kept}", terminal::many(frames.len(), "frame"));
            return Err(Failure::Interrupted(reported));
        }
        bar.set_message(format!("frame {frame} · t = {}", terminal::scaled(time, "s")));
        let picture = film.picture(frame, view).map_err(failure)?;
        if let Some(path) = pictures {
            write_file(&path.join(format!("frame_{index:06}.png")), &picture.png().map_err(failure)?)?;
        }
        if let Some(video) = &mut video {
            video.add(&picture).map_err(failure)?;
        }
        bar.inc(1);
    }
    let mut reported = Vec::new();
    if let Some(path) = pictures {
        reported.push(format!("{}: {}", path.display(), terminal::many(frames.len(), "picture")));
    }
    if let Some(video) = video {
        bar.set_message("encoding the last frames");
        write_file(&out, &video.finish().map_err(failure)?)?;
        let seconds = frames.len() as f64 / f64::from(*rate);
        reported.push(format!(
            "{}: {}, {}",
            out.display(),
            terminal::many(frames.len(), "frame"),
            terminal::duration(seconds)
        ));
    }
    bar.finish_and_clear();
    if arguments.quiet {
        Ok(())
    } else {
        terminal::out(&reported.join("\n"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_near(found: [f64; 3], expected: [f64; 3]) -> bool {
        found.iter().zip(expected).all(|(found, expected)| (found - expected).abs() < 1e-12)
    }

    #[test]
    fn frames_are_named_by_either_end() {
        let found = |text: &str| span(text).map(|Span { first, last }| (first, last));
        assert_eq!(found("10..40"), Ok((Some(10), Some(40))));
        assert_eq!(found("10.."), Ok((Some(10), None)));
        assert_eq!(found(" .. 40"), Ok((None, Some(40))));
        for wrong in ["10", "10-40", "a..b", "-1..3", "1..2..3", "1...3"] {
            assert!(found(wrong).unwrap_err().contains("such as 10..40"), "{wrong}");
        }
        assert_eq!((above_zero("3"), above_zero("0").is_err()), (Ok(3), true));
        assert_eq!((degrees("-90"), degrees("nan").is_err()), (Ok(-90.0), true));
    }

    #[test]
    fn a_turn_begins_at_the_view_and_goes_counterclockwise() {
        assert!(is_near(turned([1.0, 0.0, 0.5], 90_f64.to_radians()), [0.0, 1.0, 0.5]));
        assert!(is_near(turned([0.4, -1.0, 0.5], 360_f64.to_radians()), [0.4, -1.0, 0.5]));
    }

    #[test]
    fn a_camera_goes_straight_from_row_to_row_and_not_through_the_scene() {
        let way = WallPath {
            time: vec![1.0, 2.0, 4.0],
            position: vec![[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, -1.0, 0.0]],
            ..WallPath::default()
        };
        let at = |time: f64| {
            direction(&way, "camera.csv".as_ref(), time).map_err(|failure| match failure {
                Failure::Input(text) => text,
                _ => String::new(),
            })
        };
        for (time, expected) in [
            (0.0, [1.0, 0.0, 0.0]),
            (1.0, [1.0, 0.0, 0.0]),
            (1.25, [0.75, 0.25, 0.0]),
            (2.0, [0.0, 1.0, 0.0]),
            (3.5, [0.0, -0.5, 0.0]),
            (4.0, [0.0, -1.0, 0.0]),
            (9.0, [0.0, -1.0, 0.0]),
        ] {
            assert!(is_near(at(time).unwrap(), expected), "{time}");
        }
        assert_eq!(
            at(3.0).unwrap_err(),
            "camera.csv: at 3 s the camera would pass through the middle of the scene; add a row between 2 s and 4 s"
        );
    }
}
