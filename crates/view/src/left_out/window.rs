//! In place of windows, in a build without them.

use std::{convert::Infallible, sync::Arc};

use crate::{FrameSource, PictureOptions, ViewError};

/// Controls of a window: none.
pub const KEYS: [(&str, &str); 0] = [];

/// A display that no build without windows opens.
pub struct Display {
    never: Infallible,
}

impl Display {
    /// Refuses to open a display.
    ///
    /// # Errors
    /// Always: this build has no windows.
    pub fn open(_options: &PictureOptions) -> Result<Display, ViewError> {
        Err(ViewError::LeftOut {
            what: "windows",
            feature: "window",
            instead: "draw pictures with `seixo picture`",
        })
    }

    /// Shows nothing: there is no display.
    pub fn show(self, _show: Arc<dyn FrameSource>, _opened: impl FnOnce() + 'static) -> Result<(), ViewError> {
        match self.never {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_build_without_windows_says_how_to_get_them() {
        let refused = Display::open(&PictureOptions::default()).err().unwrap().to_string();
        assert_eq!(
            refused,
            "this program was built without windows; install it with `cargo install --path crates/seixo --features window`, or draw pictures with \
             `seixo picture`"
        );
    }
}
