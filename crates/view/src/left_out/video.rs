//! In place of videos, in a build without their encoder.

use std::{convert::Infallible, io::Write, marker::PhantomData};

use crate::{ViewError, canvas::Canvas};

/// A video that no build without an encoder begins.
pub struct Video<W: Write> {
    never: Infallible,
    to: PhantomData<W>,
}

impl<W: Write> Video<W> {
    /// Refuses to begin a video.
    ///
    /// # Errors
    /// Always: this build has no encoder of videos.
    pub fn new(_to: W, _size: (u32, u32), _frames_per_second: u32) -> Result<Video<W>, ViewError> {
        Err(ViewError::LeftOut {
            what: "videos",
            feature: "film",
            instead: "write an animated GIF with `--out film.gif`, or images with `--pictures DIR --no-video`",
        })
    }

    /// Appends nothing: there is no video.
    pub fn add(&mut self, _picture: &Canvas) -> Result<(), ViewError> {
        match self.never {}
    }

    /// Writes nothing: there is no video.
    pub fn finish(self) -> Result<W, ViewError> {
        match self.never {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_build_without_videos_says_how_to_get_them_and_what_to_write_meanwhile() {
        let refused = Video::new(Vec::new(), (64, 64), 25).err().unwrap().to_string();
        assert_eq!(
            refused,
            "this program was built without videos; install it with `cargo install --path crates/seixo --features film`, or write an animated GIF \
             with `--out film.gif`, or images with `--pictures DIR --no-video`"
        );
    }
}
