//! Saves pictures of a window beside the run.

use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

use seixo_files::{FilesError, layer::FileLayer};

/// Saves a picture in a folder, as the first of `view-000000.png`, `view-000001.png` and so on that does not exist; returns its path.
///
/// # Errors
/// If it cannot be written; then no file is left.
pub fn save(layer: &dyn FileLayer, folder: &Path, png: &[u8]) -> Result<PathBuf, FilesError> {
    let mut number = 0_u64;
    loop {
        let path = folder.join(format!("view-{number:06}.png"));
        let source = match layer.create_new(&path) {
            Ok(mut file) => match file.write_all(png).and_then(|()| file.sync()) {
                Ok(()) => return Ok(path),
                Err(source) => {
                    drop(file);
                    // Only the first error is returned.
                    let _ = layer.remove(&path);
                    source
                }
            },
            Err(source) if source.kind() == ErrorKind::AlreadyExists => {
                number += 1;
                continue;
            }
            Err(source) => source,
        };
        return Err(FilesError::Disk {
            path,
            action: "save the picture",
            source,
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use seixo_files::layer::Disk;

    #[test]
    fn a_picture_takes_the_place_of_no_file_that_is_there() {
        let folder = tempfile::tempdir().unwrap();
        let file = |number: u32| folder.path().join(format!("view-{number:06}.png"));
        std::fs::write(file(1), "of before").unwrap();
        for (picture, number) in [("first", 0), ("second", 2)] {
            assert_eq!(save(&Disk, folder.path(), picture.as_bytes()).unwrap(), file(number));
            assert_eq!(std::fs::read_to_string(file(number)).unwrap(), picture);
        }
        assert_eq!(std::fs::read_to_string(file(1)).unwrap(), "of before");
    }

    #[test]
    fn where_no_picture_can_be_saved_the_file_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let error = save(&Disk, &folder.path().join("gone"), b"picture").unwrap_err().to_string();
        assert!(error.contains("gone/view-000000.png: cannot save the picture"), "{error}");
    }
}
