//! Which process writes into a folder: it locks a file there, which contains its identity.
//!
//! The lock is the operating system's (`flock`): it ends with the process, however that ends, so none is ever left behind. It reaches as far as the file
//! system says: over NFS and Lustre to all hosts, unless they are mounted with locks that stay on a host (`nolock`, `local_lock`, `localflock`), where
//! processes of other hosts are not seen. Where a file system has no locks at all, who makes the file has the folder, until the file is removed or its
//! process is known to have ended.
//!
//! ```
//! use seixo_files::layer::FaultyDisk;
//! use seixo_files::owner::{Owner, Ownership, holder};
//! use std::path::Path;
//!
//! let (disk, file) = (FaultyDisk::new(), Path::new("/lock"));
//! let owned = Ownership::claim(&disk, file)?.expect("no process has the folder");
//! assert_eq!(holder(&disk, file)?.and_then(|holder| holder.owner), Some(Owner::this()));
//! drop(owned);
//! assert_eq!(holder(&disk, file)?, None);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use crate::FilesError;
use crate::error::quoted;
use crate::layer::{Disk, FileLayer, LayerFile};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::io::{self, ErrorKind, Read};
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::Duration;

/// Most bytes of the file that are read.
const LONGEST: u64 = 64 << 10;
/// Number of checks of a process that has the lock but has not yet written its identity …
const ATTEMPTS: u32 = 20;
/// … and after which wall time.
const PAUSE: Duration = Duration::from_millis(50);

/// A process that writes into a folder, or did.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Owner {
    /// Its number.
    pub pid: u32,
    /// Name of the machine that it runs on.
    pub host: String,
    /// When it started, as the kernel counts: a later process of the same number has another start. `None` where the kernel does not say.
    pub start: Option<String>,
    /// What was called.
    pub command: String,
}

impl fmt::Display for Owner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Owner { pid, host, command, .. } = self;
        write!(f, "process {pid} on host {} ({})", quoted(host), quoted(command))
    }
}

impl Owner {
    /// This process.
    pub fn this() -> Owner {
        let mut words: Vec<String> = std::env::args_os().map(|word| word.to_string_lossy().into_owned()).collect();
        if let Some(program) = words.first_mut() {
            *program = Path::new(program.as_str())
                .file_name()
                .unwrap_or_default()
                .to_string_lossy()
                .into_owned();
        }
        let pid = std::process::id();
        Owner {
            pid,
            host: rustix::system::uname().nodename().to_string_lossy().into_owned(),
            start: start_of(pid),
            command: words.join(" "),
        }
    }

    /// The process that is named in a file; `None` where none is.
    pub fn named(layer: &dyn FileLayer, path: &Path) -> Option<Owner> {
        reported(layer, path).ok().and_then(|(_, owner)| owner)
    }

    /// Whether it is known to have ended: on this host, no process has its number and its start any more.
    fn has_ended(&self) -> bool {
        let this = Owner::this();
        self.host == this.host && this.start.is_some() && start_of(self.pid) != self.start
    }
}

/// When a process of this machine started \[ticks since the machine did\].
fn start_of(pid: u32) -> Option<String> {
    /// Which word it is, counted from 0 behind the name of the program, which is in brackets and may hold anything.
    const START: usize = 19;
    let bytes = Disk.read(Path::new(&format!("/proc/{pid}/stat"))).ok()?;
    let text = String::from_utf8_lossy(&bytes);
    let (_, behind) = text.rsplit_once(')')?;
    behind.split_whitespace().nth(START).map(str::to_owned)
}

/// Who has a folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Holder {
    /// The process; `None` if it has not said which.
    pub owner: Option<Owner>,
    /// Whether it is there for sure, as it has the lock; else the file system has no locks, and it may have ended on another host.
    pub is_certain: bool,
}

/// What the file says; `None` where it says nothing that makes sense.
fn reported(layer: &dyn FileLayer, path: &Path) -> io::Result<(Vec<u8>, Option<Owner>)> {
    let mut bytes = Vec::new();
    layer.open(path)?.take(LONGEST).read_to_end(&mut bytes)?;
    let owner = serde_json::from_slice(&bytes).ok();
    Ok((bytes, owner))
}

/// Who has the folder in which the file `path` is, if a process has; nothing is changed.
///
/// # Errors
/// If the file cannot be read or locked.
pub fn holder(layer: &dyn FileLayer, path: &Path) -> Result<Option<Holder>, FilesError> {
    let mut is_certain = true;
    for _ in 0..ATTEMPTS {
        if !layer.exists(path).map_err(FilesError::disk(path, "look at it"))? {
            return Ok(None);
        }
        is_certain = match layer.lock(path) {
            Ok(Some(_)) => return Ok(None),
            Ok(None) => true,
            Err(error) if error.kind() == ErrorKind::Unsupported => false,
            Err(error) => return Err(FilesError::disk(path, "lock it")(error)),
        };
        // It may be gone by now, or be about to be written.
        let owner = Owner::named(layer, path);
        let has_ended = owner.as_ref().map(Owner::has_ended);
        match (has_ended, is_certain) {
            (Some(false), _) => return Ok(Some(Holder { owner, is_certain })),
            (Some(true), false) => return Ok(None),
            _ => sleep(PAUSE),
        }
    }
    Ok(Some(Holder { owner: None, is_certain }))
}

/// A folder that is this process's, until this goes.
pub struct Ownership<'a> {
    layer: &'a dyn FileLayer,
    path: PathBuf,
    file: Box<dyn LayerFile>,
    before: Option<Owner>,
}

impl fmt::Debug for Ownership<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ownership").field("path", &self.path).finish_non_exhaustive()
    }
}

impl Drop for Ownership<'_> {
    fn drop(&mut self) {
        // Still locked: who opened it meanwhile finds, once it has the lock, that the file is gone. In a folder that was moved it stays, and names who ended.
        if self.file.is_at(&self.path).unwrap_or(false) {
            let _ = self.layer.remove(&self.path);
        }
    }
}

impl<'a> Ownership<'a> {
    /// Makes the folder in which the file `path` is this process's.
    ///
    /// # Errors
    /// Who has it, if a process has; or if the file cannot be written, or is of another kind.
    pub fn claim(layer: &'a dyn FileLayer, path: &Path) -> Result<Result<Ownership<'a>, Holder>, FilesError> {
        let mut is_certain = true;
        for _ in 0..ATTEMPTS {
            if let Some(holder) = holder(layer, path)? {
                return Ok(Err(holder));
            }
            match locked(layer, path)? {
                Ok((file, before)) => {
                    let mut owned = Ownership {
                        layer,
                        path: path.to_owned(),
                        file,
                        before,
                    };
                    owned.sign().map_err(FilesError::disk(path, "write it"))?;
                    return Ok(Ok(owned));
                }
                Err(is_locked) => is_certain = is_locked,
            }
            sleep(PAUSE);
        }
        Ok(Err(Holder { owner: None, is_certain }))
    }

    fn sign(&mut self) -> io::Result<()> {
        let line = serde_json::to_vec(&Owner::this())?;
        self.layer.truncate(&self.path, 0)?;
        self.file.write_all(&line)
    }

    /// Who had the folder before and ended without giving it back.
    pub fn before(&self) -> Option<&Owner> {
        self.before.as_ref()
    }

    /// An error unless the folder is still this process's, and where it was.
    ///
    /// # Errors
    /// If it was removed or moved, or another process has taken it.
    pub fn check(&self) -> Result<(), FilesError> {
        if self.file.is_at(&self.path).map_err(FilesError::disk(&self.path, "look at it"))? {
            return Ok(());
        }
        let folder = self.path.parent().unwrap_or(&self.path);
        Err(FilesError::content(
            folder,
            "the folder was removed, moved or replaced while it was written into",
            "start the run again, and leave its folder where it is until it ends",
        ))
    }
}

/// The file, locked, and who had it before and did not give it back; else whether it is locked, rather than there without locks.
type Locked = Result<(Box<dyn LayerFile>, Option<Owner>), bool>;

fn locked(layer: &dyn FileLayer, path: &Path) -> Result<Locked, FilesError> {
    let file = match layer.lock(path) {
        Err(error) if error.kind() == ErrorKind::Unsupported => return made(layer, path),
        file => file.map_err(FilesError::disk(path, "lock it"))?,
    };
    let Some(file) = file else { return Ok(Err(true)) };
    let (bytes, before) = reported(layer, path).map_err(FilesError::disk(path, "read it"))?;
    if before.is_none() && !bytes.is_empty() {
        return Err(FilesError::content(
            path,
            "this is not what a run puts there",
            "move it elsewhere, or use another folder",
        ));
    }
    Ok(Ok((file, before)))
}

/// The file, made: there are no locks, so that it must not be there, or be of a process that has ended.
fn made(layer: &dyn FileLayer, path: &Path) -> Result<Locked, FilesError> {
    let before = Owner::named(layer, path).filter(Owner::has_ended);
    if before.is_some() {
        layer.remove(path).map_err(FilesError::disk(path, "remove it"))?;
    }
    match layer.create_new(path) {
        Ok(file) => Ok(Ok((file, before))),
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(Err(false)),
        Err(error) => Err(FilesError::disk(path, "create it")(error)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layer::{FaultyDisk, replace};

    const FILE: &str = "/run/lock";

    fn disk() -> FaultyDisk {
        let disk = FaultyDisk::new();
        disk.create_dir_all(Path::new("/run")).unwrap();
        disk
    }

    fn claimed(disk: &FaultyDisk) -> Result<Ownership<'_>, Holder> {
        Ownership::claim(disk, Path::new(FILE)).unwrap()
    }

    /// As if this process had left the folder behind when it was killed.
    fn leave(disk: &FaultyDisk, owner: &Owner) {
        replace(disk, Path::new(FILE), &serde_json::to_vec(owner).unwrap()).unwrap();
    }

    /// A process of this host with the number of one that is there, and with another start.
    fn ended() -> Owner {
        Owner {
            start: Some("before all others".to_owned()),
            ..Owner::this()
        }
    }

    #[test]
    fn one_has_the_folder_and_who_comes_next_hears_which() {
        for has_locks in [true, false] {
            let disk = disk();
            if !has_locks {
                disk.forget_locks();
            }
            let owned = claimed(&disk).unwrap();
            assert_eq!(owned.before(), None);
            let expected = Holder {
                owner: Some(Owner::this()),
                is_certain: has_locks,
            };
            assert_eq!(claimed(&disk).unwrap_err(), expected);
            assert_eq!(holder(&disk, Path::new(FILE)).unwrap(), Some(expected));
            owned.check().unwrap();
            drop(owned);
            assert!(!disk.exists(Path::new(FILE)).unwrap(), "who gives it back leaves nothing");
            assert_eq!(holder(&disk, Path::new(FILE)).unwrap(), None);
            assert!(claimed(&disk).is_ok());
        }
    }

    #[test]
    fn what_a_killed_process_left_is_taken_over_and_reported() {
        for has_locks in [true, false] {
            let disk = disk();
            leave(&disk, &ended());
            if !has_locks {
                disk.forget_locks();
            }
            assert_eq!(holder(&disk, Path::new(FILE)).unwrap(), None);
            let owned = claimed(&disk).unwrap();
            assert_eq!(owned.before(), Some(&ended()));
            assert_eq!(Owner::named(&disk, Path::new(FILE)), Some(Owner::this()));
        }
    }

    #[test]
    fn without_locks_a_process_of_another_host_may_go_on() {
        let elsewhere = Owner {
            host: "elsewhere".to_owned(),
            ..ended()
        };
        let disk = disk();
        leave(&disk, &elsewhere);
        // A lock that is free says that it has ended, wherever it was.
        assert_eq!(claimed(&disk).unwrap().before(), Some(&elsewhere));
        leave(&disk, &elsewhere);
        disk.forget_locks();
        let expected = Holder {
            owner: Some(elsewhere.clone()),
            is_certain: false,
        };
        assert_eq!(claimed(&disk).unwrap_err(), expected);
        assert_eq!(Owner::named(&disk, Path::new(FILE)), Some(elsewhere));
    }

    #[test]
    fn a_file_of_another_kind_is_left_alone() {
        let disk = disk();
        replace(&disk, Path::new(FILE), b"mine").unwrap();
        let text = Ownership::claim(&disk, Path::new(FILE)).unwrap_err().to_string();
        assert!(text.starts_with(FILE) && text.contains("not what a run puts there"), "{text}");
        assert_eq!(disk.read(Path::new(FILE)).unwrap(), b"mine");
    }

    #[test]
    fn who_lost_the_folder_sees_it_and_leaves_the_next_one_alone() {
        let disk = disk();
        let lost = claimed(&disk).unwrap();
        disk.remove(Path::new(FILE)).unwrap();
        let text = lost.check().unwrap_err().to_string();
        assert!(text.starts_with("/run: ") && text.contains("was removed"), "{text}");
        let next = claimed(&disk).unwrap();
        drop(lost);
        next.check().unwrap();
    }

    #[test]
    fn the_real_disk_locks_for_one_only() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lock");
        let owned = Ownership::claim(&Disk, &path).unwrap().unwrap();
        let holder = Ownership::claim(&Disk, &path).unwrap().unwrap_err();
        assert_eq!(holder.owner, Some(Owner::this()));
        std::fs::rename(&path, folder.path().join("moved")).unwrap();
        assert!(owned.check().is_err());
        drop(owned);
        assert!(folder.path().join("moved").exists());
    }
}
