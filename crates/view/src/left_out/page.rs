//! In place of pages, in a build without them.

use std::{convert::Infallible, sync::Arc};

use crate::{FrameSource, Snapshot, ViewError};

/// A page that no build without pages opens.
pub struct Page {
    never: Infallible,
}

impl Page {
    /// Refuses to open a page.
    ///
    /// # Errors
    /// Always: this build has no pages.
    pub fn open(_show: Arc<dyn FrameSource>, _port: u16) -> Result<Page, ViewError> {
        Err(left_out())
    }

    /// Has no address: there is no page.
    pub fn address(&self) -> String {
        match self.never {}
    }
}

/// Refuses to encode a frame for a page.
///
/// # Errors
/// Always: this build has no pages.
pub fn bytes_of_frame(_snapshot: &Snapshot) -> Result<usize, ViewError> {
    Err(left_out())
}

fn left_out() -> ViewError {
    ViewError::LeftOut {
        what: "pages for browsers",
        feature: "page",
        instead: "draw pictures with `seixo picture`",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::live::Live;

    #[test]
    fn a_build_without_pages_says_how_to_get_them() {
        let show = Arc::new(Live::new(String::new(), "silo.out".into(), false));
        let refused = [Page::open(show, 0).err(), bytes_of_frame(&Snapshot::default()).err()];
        for error in refused {
            assert_eq!(
                error.unwrap().to_string(),
                "this program was built without pages for browsers; install it with `cargo install --path crates/seixo --features page`, or draw \
                 pictures with `seixo picture`"
            );
        }
    }
}
