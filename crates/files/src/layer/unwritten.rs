//! The real disk, for reading only: nothing is written.

use super::{Disk, FileLayer, LayerFile};
use std::io::{self, Read, Sink, sink};
use std::path::{Path, PathBuf};

/// The file system of this machine as it is; what is written or changed goes nowhere, and room never ends. For one of several processes that do the
/// same, of which another one writes.
#[derive(Clone, Copy, Debug, Default)]
pub struct Unwritten;

impl LayerFile for Sink {
    fn sync(&mut self) -> io::Result<()> {
        Ok(())
    }
    fn is_at(&self, _path: &Path) -> io::Result<bool> {
        Ok(true)
    }
}

impl FileLayer for Unwritten {
    fn create(&self, _path: &Path) -> io::Result<Box<dyn LayerFile>> {
        Ok(Box::new(sink()))
    }
    fn create_new(&self, _path: &Path) -> io::Result<Box<dyn LayerFile>> {
        Ok(Box::new(sink()))
    }
    fn append(&self, _path: &Path) -> io::Result<Box<dyn LayerFile>> {
        Ok(Box::new(sink()))
    }
    fn lock(&self, _path: &Path) -> io::Result<Option<Box<dyn LayerFile>>> {
        Ok(Some(Box::new(sink())))
    }
    fn open(&self, path: &Path) -> io::Result<Box<dyn Read + Send>> {
        Disk.open(path)
    }
    fn size(&self, path: &Path) -> io::Result<u64> {
        Disk.size(path)
    }
    fn rename(&self, _from: &Path, _to: &Path) -> io::Result<()> {
        Ok(())
    }
    fn remove(&self, _path: &Path) -> io::Result<()> {
        Ok(())
    }
    fn create_dir_all(&self, _path: &Path) -> io::Result<()> {
        Ok(())
    }
    fn sync_dir(&self, _path: &Path) -> io::Result<()> {
        Ok(())
    }
    fn truncate(&self, _path: &Path, _length: u64) -> io::Result<()> {
        Ok(())
    }
    fn exists(&self, path: &Path) -> io::Result<bool> {
        Disk.exists(path)
    }
    fn list(&self, dir: &Path) -> io::Result<Vec<PathBuf>> {
        Disk.list(dir)
    }
    fn free_space(&self, _dir: &Path) -> io::Result<u64> {
        Ok(u64::MAX)
    }
}
