//! The real disk.

use super::{FileLayer, LayerFile};
use std::fs::{self, File, Metadata, OpenOptions, TryLockError};
use std::io::{self, Read};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// The file system of this machine.
#[derive(Clone, Copy, Debug, Default)]
pub struct Disk;

impl LayerFile for File {
    fn sync(&mut self) -> io::Result<()> {
        self.sync_all()
    }
    fn is_at(&self, path: &Path) -> io::Result<bool> {
        let own = self.metadata()?;
        match fs::metadata(path) {
            Ok(there) => Ok((there.dev(), there.ino()) == (own.dev(), own.ino())),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(error) => Err(error),
        }
    }
}

/// What a path that is no regular file is, in words; `None` for a regular file.
pub(crate) fn irregular(metadata: &Metadata) -> Option<&'static str> {
    if metadata.is_file() {
        None
    } else if metadata.is_dir() {
        Some("a folder")
    } else {
        Some("a pipe, socket or device")
    }
}

/// Looks before opening, because opening a pipe waits for its other end.
fn regular(path: &Path) -> io::Result<Metadata> {
    let metadata = fs::metadata(path)?;
    match irregular(&metadata) {
        None => Ok(metadata),
        Some(found) => Err(io::Error::new(io::ErrorKind::InvalidInput, format!("this is {found}, not a file"))),
    }
}

/// Number of attempts to open a file that other processes remove while it is locked.
const ATTEMPTS_TO_LOCK: u32 = 100;

/// The file to lock, and whether it was made for that.
fn to_lock(path: &Path) -> io::Result<(File, bool)> {
    match File::create_new(path) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            regular(path)?;
            Ok((OpenOptions::new().write(true).open(path)?, false))
        }
        made => Ok((made?, true)),
    }
}

/// Whether the file system has no locks: some say so by what a lock manager says that is not there.
fn has_no_locks(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::Unsupported || error.raw_os_error() == Some(rustix::io::Errno::NOLCK.raw_os_error())
}

impl FileLayer for Disk {
    fn create(&self, path: &Path) -> io::Result<Box<dyn LayerFile>> {
        Ok(Box::new(File::create(path)?))
    }
    fn create_new(&self, path: &Path) -> io::Result<Box<dyn LayerFile>> {
        Ok(Box::new(File::create_new(path)?))
    }
    fn append(&self, path: &Path) -> io::Result<Box<dyn LayerFile>> {
        regular(path)?;
        Ok(Box::new(OpenOptions::new().append(true).open(path)?))
    }
    fn lock(&self, path: &Path) -> io::Result<Option<Box<dyn LayerFile>>> {
        for _ in 0..ATTEMPTS_TO_LOCK {
            let (file, is_new) = match to_lock(path) {
                Err(error) if error.kind() == io::ErrorKind::NotFound && path.parent().is_some_and(Path::is_dir) => continue,
                found => found?,
            };
            match file.try_lock() {
                Ok(()) if file.is_at(path)? => return Ok(Some(Box::new(file))),
                // Whoever had locked it has removed it in between.
                Ok(()) => {}
                Err(TryLockError::WouldBlock) => return Ok(None),
                Err(TryLockError::Error(error)) if has_no_locks(&error) => {
                    if is_new {
                        fs::remove_file(path)?;
                    }
                    return Err(io::ErrorKind::Unsupported.into());
                }
                Err(TryLockError::Error(error)) => return Err(error),
            }
        }
        Err(io::Error::other("it is removed again and again while it is locked"))
    }
    fn open(&self, path: &Path) -> io::Result<Box<dyn Read + Send>> {
        regular(path)?;
        Ok(Box::new(File::open(path)?))
    }
    fn size(&self, path: &Path) -> io::Result<u64> {
        Ok(regular(path)?.len())
    }
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        fs::rename(from, to)
    }
    fn remove(&self, path: &Path) -> io::Result<()> {
        fs::remove_file(path)
    }
    fn create_dir_all(&self, path: &Path) -> io::Result<()> {
        fs::create_dir_all(path)
    }
    fn sync_dir(&self, path: &Path) -> io::Result<()> {
        File::open(path)?.sync_all()
    }
    fn truncate(&self, path: &Path, length: u64) -> io::Result<()> {
        regular(path)?;
        let file = OpenOptions::new().write(true).open(path)?;
        file.set_len(length)?;
        file.sync_all()
    }
    fn exists(&self, path: &Path) -> io::Result<bool> {
        path.try_exists()
    }
    fn list(&self, dir: &Path) -> io::Result<Vec<PathBuf>> {
        let mut paths = fs::read_dir(dir)?.map(|entry| Ok(entry?.path())).collect::<io::Result<Vec<_>>>()?;
        paths.sort();
        Ok(paths)
    }
    fn free_space(&self, dir: &Path) -> io::Result<u64> {
        let disk = rustix::fs::statvfs(dir)?;
        Ok(disk.f_bavail.saturating_mul(disk.f_frsize))
    }
}
