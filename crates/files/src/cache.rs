//! What is slow to make and always comes out the same, kept in the user's cache folder. Losing it costs time and nothing else, so nothing that
//! goes wrong here is an error.
//!
//! ```
//! use seixo_files::cache::{Cache, Key};
//! use seixo_files::layer::FaultyDisk;
//! use std::path::Path;
//!
//! let disk = FaultyDisk::new();
//! let cache = Cache::in_folder(&disk, Path::new("/cache"));
//! let mut key = Key::default();
//! key.add(b"mesh");
//! assert_eq!(cache.get(&key), None);
//! cache.put(&key, b"spheres");
//! assert_eq!(cache.get(&key).as_deref(), Some(&b"spheres"[..]));
//! ```

use crate::layer::{FileLayer, replace};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// Longest file that is read back \[bytes\].
const LONGEST: u64 = 1 << 30;

/// What a result depends on, as a digest.
#[derive(Clone, Default)]
pub struct Key(blake3::Hasher);

impl Key {
    /// Adds bytes that it depends on.
    pub fn add(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }
}

/// A folder of results, each under its [`Key`].
pub struct Cache<'a> {
    layer: &'a dyn FileLayer,
    folder: Option<PathBuf>,
}

impl<'a> Cache<'a> {
    /// That of the user for one kind of results: `$XDG_CACHE_HOME/seixo/KIND`, or `~/.cache/seixo/KIND`; it keeps nothing where there is neither.
    pub fn of_user(layer: &'a dyn FileLayer, kind: &str) -> Cache<'a> {
        let absolute = |path: OsString| Some(PathBuf::from(path)).filter(|path| path.is_absolute());
        let home = || Some(absolute(std::env::var_os("HOME")?)?.join(".cache"));
        let folder = std::env::var_os("XDG_CACHE_HOME").and_then(absolute).or_else(home);
        Cache {
            layer,
            folder: folder.map(|folder| folder.join("seixo").join(kind)),
        }
    }

    /// That in a folder.
    pub fn in_folder(layer: &'a dyn FileLayer, folder: &Path) -> Cache<'a> {
        Cache {
            layer,
            folder: Some(folder.to_owned()),
        }
    }

    /// The result under a key, if it is there, whole.
    pub fn get(&self, key: &Key) -> Option<Vec<u8>> {
        let path = self.path(key)?;
        if self.layer.size(&path).ok()? > LONGEST {
            return None;
        }
        let mut bytes = self.layer.read(&path).ok()?;
        let (content, seal) = bytes.split_last_chunk::<{ blake3::OUT_LEN }>()?;
        if blake3::hash(content) != *seal {
            return None;
        }
        let length = content.len();
        bytes.truncate(length);
        Some(bytes)
    }

    /// Keeps a result under a key, if the disk lets it.
    pub fn put(&self, key: &Key, result: &[u8]) {
        if let (Some(folder), Some(path)) = (&self.folder, self.path(key)) {
            let sealed = [result, blake3::hash(result).as_bytes()].concat();
            let _ = self.layer.create_dir_all(folder).and_then(|()| replace(self.layer, &path, &sealed));
        }
    }

    fn path(&self, key: &Key) -> Option<PathBuf> {
        Some(self.folder.as_ref()?.join(key.0.finalize().to_string()))
    }
}
