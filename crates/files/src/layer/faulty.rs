//! A disk in memory that fails, fills up or crashes at a chosen operation.
//!
//! It keeps two views: what running programs see, and what a power cut would leave. Bytes pass from the first to the second
//! by [`LayerFile::sync`], names by [`FileLayer::sync_dir`].

use super::{FileLayer, LayerFile, folder_of};
use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Cursor, ErrorKind, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// What goes wrong, and at which operation; operations count from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// Operation `at` fails and does nothing; later ones work.
    Fail {
        /// Number of the operation.
        at: u64,
        /// The error it gives.
        error: ErrorKind,
    },
    /// Every changing operation from `from` on fails (disk full, gone read-only); reading and removing still work.
    FailFrom {
        /// Number of the first operation that fails.
        from: u64,
        /// The error it gives.
        error: ErrorKind,
    },
    /// Operation `at`, if it writes, takes half of the bytes; after it the disk is full.
    ShortWrite {
        /// Number of the operation.
        at: u64,
    },
    /// Operation `after` is the last; whatever follows fails until [`FaultyDisk::reopen`].
    Crash {
        /// Number of the operation.
        after: u64,
    },
}

/// What survives a crash of that which was not synced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unsynced {
    /// Neither bytes nor names.
    Lost,
    /// Names, not bytes: the file renamed into place is empty or old.
    NamesKept,
    /// All of it: the program was killed, the machine was not.
    CachedResponse,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Look,
    Remove,
    Change,
}

#[derive(Clone, Default)]
struct Content {
    seen: Vec<u8>,
    durable: Vec<u8>,
}

#[derive(Clone)]
struct Store {
    contents: Vec<Content>,
    seen: BTreeMap<PathBuf, usize>,
    durable: BTreeMap<PathBuf, usize>,
    folders: BTreeSet<PathBuf>,
    /// Contents that a process has locked; none where the disk has no locks.
    locked: Option<BTreeSet<usize>>,
    free_space: u64,
    operations: u64,
    fault: Option<Fault>,
}

impl Store {
    /// Counts an operation and lets it pass or not; `true` = a write takes half of its bytes.
    fn operate(&mut self, kind: Kind) -> io::Result<bool> {
        self.operations += 1;
        let now = self.operations;
        match self.fault {
            Some(Fault::Fail { at, error }) if now == at => Err(error.into()),
            Some(Fault::FailFrom { from, error }) if now >= from && kind == Kind::Change => Err(error.into()),
            Some(Fault::ShortWrite { at }) if now > at && kind == Kind::Change => Err(ErrorKind::StorageFull.into()),
            Some(Fault::ShortWrite { at }) => Ok(now == at),
            Some(Fault::Crash { after }) if now > after => Err(io::Error::other("the machine is down")),
            _ => Ok(false),
        }
    }

    fn find(&self, path: &Path) -> io::Result<usize> {
        self.seen.get(path).copied().ok_or_else(|| ErrorKind::NotFound.into())
    }

    fn new_content(&mut self, path: &Path) -> io::Result<usize> {
        if !self.folders.contains(folder_of(path)) {
            return Err(ErrorKind::NotFound.into());
        }
        self.contents.push(Content::default());
        self.seen.insert(path.to_owned(), self.contents.len() - 1);
        Ok(self.contents.len() - 1)
    }
}

/// A disk in memory with at most one [`Fault`].
#[derive(Clone)]
pub struct FaultyDisk {
    store: Arc<Mutex<Store>>,
}

impl Default for FaultyDisk {
    fn default() -> Self {
        FaultyDisk::new()
    }
}

impl FaultyDisk {
    /// An empty disk without a fault.
    pub fn new() -> FaultyDisk {
        let folders = ["/", "."].map(PathBuf::from).into();
        FaultyDisk::of(Store {
            contents: Vec::new(),
            seen: BTreeMap::new(),
            durable: BTreeMap::new(),
            folders,
            locked: Some(BTreeSet::new()),
            free_space: u64::MAX,
            operations: 0,
            fault: None,
        })
    }

    /// An empty disk with a fault.
    pub fn with_fault(fault: Fault) -> FaultyDisk {
        let disk = FaultyDisk::new();
        disk.set_fault(Some(fault));
        disk
    }

    /// Sets the fault and counts operations from zero again.
    pub fn set_fault(&self, fault: Option<Fault>) {
        let mut store = self.store();
        store.fault = fault;
        store.operations = 0;
    }

    /// Sets what [`FileLayer::free_space`] answers \[bytes\].
    pub fn set_free_space(&self, bytes: u64) {
        self.store().free_space = bytes;
    }

    /// Takes its locks away: [`FileLayer::lock`] is an error from now on.
    pub fn forget_locks(&self) {
        self.store().locked = None;
    }

    /// Operations since the start or the last [`FaultyDisk::set_fault`].
    pub fn operations(&self) -> u64 {
        self.store().operations
    }

    /// The disk after a power cut now, repaired: bytes and names not synced are gone.
    pub fn reopen(&self) -> FaultyDisk {
        self.reopen_with(Unsynced::Lost)
    }

    /// The disk after a crash now, repaired.
    pub fn reopen_with(&self, unsynced: Unsynced) -> FaultyDisk {
        let mut store = self.store().clone();
        for content in &mut store.contents {
            match unsynced {
                Unsynced::CachedResponse => content.durable = content.seen.clone(),
                Unsynced::Lost | Unsynced::NamesKept => content.seen = content.durable.clone(),
            }
        }
        match unsynced {
            Unsynced::Lost => store.seen = store.durable.clone(),
            Unsynced::CachedResponse | Unsynced::NamesKept => store.durable = store.seen.clone(),
        }
        store.locked.iter_mut().for_each(BTreeSet::clear);
        store.fault = None;
        store.operations = 0;
        FaultyDisk::of(store)
    }

    fn of(store: Store) -> FaultyDisk {
        FaultyDisk {
            store: Arc::new(Mutex::new(store)),
        }
    }

    fn store(&self) -> MutexGuard<'_, Store> {
        self.store.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The store, if this operation is to go through.
    fn operate(&self, kind: Kind) -> io::Result<MutexGuard<'_, Store>> {
        let mut store = self.store();
        store.operate(kind)?;
        Ok(store)
    }

    fn file(&self, content: usize) -> Box<dyn LayerFile> {
        Box::new(FaultyFile {
            disk: self.clone(),
            content,
            is_locked: false,
        })
    }
}

struct FaultyFile {
    disk: FaultyDisk,
    content: usize,
    is_locked: bool,
}

impl Drop for FaultyFile {
    fn drop(&mut self) {
        if self.is_locked {
            self.disk.store().locked.iter_mut().for_each(|locked| {
                locked.remove(&self.content);
            });
        }
    }
}

impl Write for FaultyFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut store = self.disk.store();
        let short = store.operate(Kind::Change)?;
        let taken = if short { &bytes[..bytes.len() / 2] } else { bytes };
        store.contents[self.content].seen.extend_from_slice(taken);
        // A write that takes nothing means something else to callers than a full disk.
        if taken.is_empty() && !bytes.is_empty() {
            Err(ErrorKind::StorageFull.into())
        } else {
            Ok(taken.len())
        }
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl LayerFile for FaultyFile {
    fn sync(&mut self) -> io::Result<()> {
        let mut store = self.disk.operate(Kind::Change)?;
        let content = &mut store.contents[self.content];
        content.durable = content.seen.clone();
        Ok(())
    }
    fn is_at(&self, path: &Path) -> io::Result<bool> {
        Ok(self.disk.operate(Kind::Look)?.seen.get(path) == Some(&self.content))
    }
}

impl FileLayer for FaultyDisk {
    fn create(&self, path: &Path) -> io::Result<Box<dyn LayerFile>> {
        let mut store = self.operate(Kind::Change)?;
        let content = match store.seen.get(path) {
            Some(&content) => content,
            None => store.new_content(path)?,
        };
        store.contents[content].seen.clear();
        Ok(self.file(content))
    }
    fn create_new(&self, path: &Path) -> io::Result<Box<dyn LayerFile>> {
        let mut store = self.operate(Kind::Change)?;
        if store.seen.contains_key(path) {
            return Err(ErrorKind::AlreadyExists.into());
        }
        let content = store.new_content(path)?;
        Ok(self.file(content))
    }
    fn append(&self, path: &Path) -> io::Result<Box<dyn LayerFile>> {
        let content = self.operate(Kind::Change)?.find(path)?;
        Ok(self.file(content))
    }
    fn lock(&self, path: &Path) -> io::Result<Option<Box<dyn LayerFile>>> {
        let mut store = self.operate(Kind::Change)?;
        if store.locked.is_none() {
            return Err(ErrorKind::Unsupported.into());
        }
        let content = match store.seen.get(path) {
            Some(&content) => content,
            None => store.new_content(path)?,
        };
        let is_locked = store.locked.as_mut().is_some_and(|locked| locked.insert(content));
        let disk = self.clone();
        Ok(is_locked.then(|| Box::new(FaultyFile { disk, content, is_locked }) as Box<dyn LayerFile>))
    }
    fn open(&self, path: &Path) -> io::Result<Box<dyn Read + Send>> {
        let store = self.operate(Kind::Look)?;
        let content = store.find(path)?;
        Ok(Box::new(Cursor::new(store.contents[content].seen.clone())))
    }
    fn size(&self, path: &Path) -> io::Result<u64> {
        let store = self.operate(Kind::Look)?;
        Ok(store.contents[store.find(path)?].seen.len() as u64)
    }
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        let mut store = self.operate(Kind::Change)?;
        let content = store.find(from)?;
        store.seen.remove(from);
        store.seen.insert(to.to_owned(), content);
        Ok(())
    }
    fn remove(&self, path: &Path) -> io::Result<()> {
        let mut store = self.operate(Kind::Remove)?;
        store.find(path)?;
        store.seen.remove(path);
        Ok(())
    }
    fn create_dir_all(&self, path: &Path) -> io::Result<()> {
        let folders = path.ancestors().filter(|folder| !folder.as_os_str().is_empty()).map(Path::to_owned);
        self.operate(Kind::Change)?.folders.extend(folders);
        Ok(())
    }
    fn sync_dir(&self, path: &Path) -> io::Result<()> {
        let mut store = self.operate(Kind::Change)?;
        let here: Vec<_> = store
            .seen
            .iter()
            .filter(|(name, _)| folder_of(name) == path)
            .map(|(name, &content)| (name.clone(), content))
            .collect();
        store.durable.retain(|name, _| folder_of(name) != path);
        store.durable.extend(here);
        Ok(())
    }
    fn truncate(&self, path: &Path, length: u64) -> io::Result<()> {
        let mut store = self.operate(Kind::Change)?;
        let content = store.find(path)?;
        let content = &mut store.contents[content];
        content.seen.truncate(usize::try_from(length).unwrap_or(usize::MAX));
        content.durable = content.seen.clone();
        Ok(())
    }
    fn exists(&self, path: &Path) -> io::Result<bool> {
        let store = self.operate(Kind::Look)?;
        Ok(store.seen.contains_key(path) || store.folders.contains(path))
    }
    fn list(&self, dir: &Path) -> io::Result<Vec<PathBuf>> {
        let store = self.operate(Kind::Look)?;
        if !store.folders.contains(dir) {
            return Err(ErrorKind::NotFound.into());
        }
        let names = store.seen.keys().chain(&store.folders);
        let here: BTreeSet<_> = names
            .filter(|name| folder_of(name) == dir && name.as_path() != dir)
            .cloned()
            .collect();
        Ok(here.into_iter().collect())
    }
    fn free_space(&self, _dir: &Path) -> io::Result<u64> {
        Ok(self.operate(Kind::Look)?.free_space)
    }
}
