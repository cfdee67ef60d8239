//! The one door through which files are written, so that tests can make every operation behind it fail.
//!
//! ```
//! use seixo_files::layer::{Fault, FaultyDisk, FileLayer, replace};
//! use std::path::Path;
//!
//! let (disk, path) = (FaultyDisk::new(), Path::new("/run.json"));
//! replace(&disk, path, b"old")?;
//! disk.set_fault(Some(Fault::Crash { after: 2 }));
//! assert!(replace(&disk, path, b"new").is_err());
//! assert_eq!(disk.reopen().read(path)?, b"old");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod disk;
mod faulty;
mod unwritten;

pub use disk::Disk;
pub(crate) use disk::irregular;
pub use faulty::{Fault, FaultyDisk, Unsynced};
pub use unwritten::Unwritten;

use std::ffi::OsString;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

/// A file being written.
pub trait LayerFile: Write + Send + Sync {
    /// Returns once the bytes written so far would survive a power cut.
    fn sync(&mut self) -> io::Result<()>;
    /// Whether `path` names this file, rather than another one or none: it may have been removed, moved or replaced since it was opened.
    fn is_at(&self, path: &Path) -> io::Result<bool>;
}

/// The operations on files that Seixo needs, and no others.
pub trait FileLayer: Send + Sync {
    /// A new file, or an old one emptied.
    fn create(&self, path: &Path) -> io::Result<Box<dyn LayerFile>>;
    /// A new file; an error where one exists.
    fn create_new(&self, path: &Path) -> io::Result<Box<dyn LayerFile>>;
    /// An existing file, written from its end on.
    fn append(&self, path: &Path) -> io::Result<Box<dyn LayerFile>>;
    /// A file that is locked for as long as the answer lives, made where there is none; `None` where it is locked already, by whichever process.
    /// An error of the kind [`Unsupported`](io::ErrorKind::Unsupported) where the file system has no locks; the file is not made then.
    fn lock(&self, path: &Path) -> io::Result<Option<Box<dyn LayerFile>>>;
    /// A regular file for reading; anything else (folder, pipe, device) is an error and is never waited for.
    fn open(&self, path: &Path) -> io::Result<Box<dyn Read + Send>>;
    /// Length of a regular file \[bytes\].
    fn size(&self, path: &Path) -> io::Result<u64>;
    /// Gives a file another name, in place of what had that name.
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;
    /// Removes a file.
    fn remove(&self, path: &Path) -> io::Result<()>;
    /// Creates a folder and those above it.
    fn create_dir_all(&self, path: &Path) -> io::Result<()>;
    /// Returns once the names in a folder (new files, renames, removals) would survive a power cut.
    fn sync_dir(&self, path: &Path) -> io::Result<()>;
    /// Cuts a file to `length` \[bytes\], for good.
    fn truncate(&self, path: &Path, length: u64) -> io::Result<()>;
    /// Whether there is a file or folder of this name.
    fn exists(&self, path: &Path) -> io::Result<bool>;
    /// Files and folders in a folder, sorted.
    fn list(&self, dir: &Path) -> io::Result<Vec<PathBuf>>;
    /// Space left for this user on the disk of a folder \[bytes\].
    fn free_space(&self, dir: &Path) -> io::Result<u64>;

    /// The whole of a regular file.
    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        self.open(path)?.read_to_end(&mut bytes)?;
        Ok(bytes)
    }
}

/// Puts `bytes` into `path` so that at any moment, crash or not, the old content or the new one is there, whole.
pub fn replace(layer: &dyn FileLayer, path: &Path, bytes: &[u8]) -> io::Result<()> {
    let temporary = write_temporary(layer, path, &mut |file| file.write_all(bytes))?;
    let moved = layer.rename(&temporary, path);
    if moved.is_err() {
        let _ = layer.remove(&temporary);
    }
    moved?;
    layer.sync_dir(folder_of(path))
}

/// Removes what writes cut short have left in a folder. Call it after [`crate::checkpoint::newest_valid`], which may need it.
pub fn remove_temporaries(layer: &dyn FileLayer, folder: &Path) -> io::Result<()> {
    for path in layer.list(folder)? {
        if path.extension().is_some_and(|extension| extension == "tmp") {
            layer.remove(&path)?;
        }
    }
    Ok(())
}

/// Writes and syncs a file beside `path`, of its name and `.tmp`; removes it again if that fails.
pub(crate) fn write_temporary(
    layer: &dyn FileLayer,
    path: &Path,
    write: &mut dyn FnMut(&mut dyn LayerFile) -> io::Result<()>,
) -> io::Result<PathBuf> {
    let temporary = temporary_of(path);
    let mut file = layer.create(&temporary)?;
    let written = write(file.as_mut()).and_then(|()| file.sync());
    drop(file);
    if written.is_err() {
        // The first error is the one worth reporting, and a leftover is swept up on resume.
        let _ = layer.remove(&temporary);
    }
    written.map(|()| temporary)
}

/// `path` with `ending` after its name.
pub(crate) fn beside(path: &Path, ending: &str) -> PathBuf {
    let mut name: OsString = path.into();
    name.push(ending);
    name.into()
}

pub(crate) fn temporary_of(path: &Path) -> PathBuf {
    beside(path, ".tmp")
}

/// The folder a file stands in.
pub(crate) fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}
