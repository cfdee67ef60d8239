//! A disk in memory on which files take as long as a test wants.

use seixo::files::layer::{FaultyDisk, FileLayer, LayerFile};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// A disk in memory that does something before it creates a file, such as to wait.
pub struct SlowDisk<'a> {
    pub disk: FaultyDisk,
    before: Box<dyn Fn(&Path) + Send + Sync + 'a>,
}

impl<'a> SlowDisk<'a> {
    /// An empty disk that calls `before` with the path of each file that it is about to create.
    pub fn new(before: impl Fn(&Path) + Send + Sync + 'a) -> SlowDisk<'a> {
        SlowDisk {
            disk: FaultyDisk::new(),
            before: Box::new(before),
        }
    }
}

impl FileLayer for SlowDisk<'_> {
    fn create(&self, path: &Path) -> io::Result<Box<dyn LayerFile>> {
        (self.before)(path);
        self.disk.create(path)
    }
    fn create_new(&self, path: &Path) -> io::Result<Box<dyn LayerFile>> {
        self.disk.create_new(path)
    }
    fn append(&self, path: &Path) -> io::Result<Box<dyn LayerFile>> {
        self.disk.append(path)
    }
    fn lock(&self, path: &Path) -> io::Result<Option<Box<dyn LayerFile>>> {
        self.disk.lock(path)
    }
    fn open(&self, path: &Path) -> io::Result<Box<dyn Read + Send>> {
        self.disk.open(path)
    }
    fn size(&self, path: &Path) -> io::Result<u64> {
        self.disk.size(path)
    }
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.disk.rename(from, to)
    }
    fn remove(&self, path: &Path) -> io::Result<()> {
        self.disk.remove(path)
    }
    fn create_dir_all(&self, path: &Path) -> io::Result<()> {
        self.disk.create_dir_all(path)
    }
    fn sync_dir(&self, path: &Path) -> io::Result<()> {
        self.disk.sync_dir(path)
    }
    fn truncate(&self, path: &Path, length: u64) -> io::Result<()> {
        self.disk.truncate(path, length)
    }
    fn exists(&self, path: &Path) -> io::Result<bool> {
        self.disk.exists(path)
    }
    fn list(&self, dir: &Path) -> io::Result<Vec<PathBuf>> {
        self.disk.list(dir)
    }
    fn free_space(&self, dir: &Path) -> io::Result<u64> {
        self.disk.free_space(dir)
    }
}
