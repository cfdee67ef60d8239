//! The real disk.

use super::{FileLayer, LayerFile};
use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// The file system of this machine.
#[derive(Clone, Copy, Debug, Default)]
pub struct Disk;

impl LayerFile for File {
    fn sync(&mut self) -> io::Result<()> {
        self.sync_all()
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
