//! What can go wrong with a file, said so that the reader can repair it.

use std::collections::TryReserveError;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

/// A file could not be read or written; every message names the path, what is wrong and what to do.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FilesError {
    /// The operating system said no.
    #[error("{}: cannot {action}: {source}; {}", path.display(), remedy(source))]
    Disk {
        /// The file or folder.
        path: PathBuf,
        /// What was tried, as a verb.
        action: &'static str,
        /// The system's answer.
        source: io::Error,
    },
    /// A folder, pipe, socket or device where a file belongs.
    #[error("{}: this is {found}, not a file; give the path of a regular file", path.display())]
    NotAFile {
        /// What was given.
        path: PathBuf,
        /// What it is.
        found: &'static str,
    },
    /// More bytes than are accepted.
    #[error("{}: {size} bytes, but at most {limit} are accepted for {what}; split or simplify it", path.display())]
    TooLarge {
        /// The file.
        path: PathBuf,
        /// What kind of file it should be.
        what: &'static str,
        /// Its size \[bytes\].
        size: u64,
        /// The most that is accepted \[bytes\].
        limit: u64,
    },
    /// A line of a text file that makes no sense.
    #[error("{}:{line}: {problem}; {remedy}", path.display())]
    Line {
        /// The file.
        path: PathBuf,
        /// Line number, from 1.
        line: u64,
        /// What is wrong, with the column and the value.
        problem: String,
        /// What to do about it.
        remedy: String,
    },
    /// A file whose content as a whole is wrong.
    #[error("{}: {problem}; {remedy}", path.display())]
    Content {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        problem: String,
        /// What to do about it.
        remedy: &'static str,
    },
    /// No checkpoint of a folder can be read.
    #[error("{}: holds no readable checkpoint; start the run again\n{reasons}", folder.display())]
    NoCheckpoint {
        /// The folder.
        folder: PathBuf,
        /// One line for each candidate.
        reasons: String,
    },
}

impl FilesError {
    pub(crate) fn disk(path: &Path, action: &'static str) -> impl FnOnce(io::Error) -> FilesError {
        let path = path.to_owned();
        move |source| FilesError::Disk { path, action, source }
    }

    pub(crate) fn content(path: &Path, problem: impl Into<String>, remedy: &'static str) -> FilesError {
        FilesError::Content {
            path: path.to_owned(),
            problem: problem.into(),
            remedy,
        }
    }

    pub(crate) fn line(path: &Path, line: u64, problem: impl Into<String>, remedy: impl Into<String>) -> FilesError {
        FilesError::Line {
            path: path.to_owned(),
            line,
            problem: problem.into(),
            remedy: remedy.into(),
        }
    }
}

fn remedy(source: &io::Error) -> &'static str {
    match source.kind() {
        ErrorKind::NotFound => "check the path",
        ErrorKind::PermissionDenied => "check the permissions, or use another folder",
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => "free some space, or use another folder",
        ErrorKind::ReadOnlyFilesystem => "use a folder on a disk that can be written",
        ErrorKind::FileTooLarge => "raise the limit on the size of files (`ulimit -f unlimited`), or use a disk that holds larger ones",
        ErrorKind::AlreadyExists => "remove it, or use another folder",
        ErrorKind::OutOfMemory => "close other programs, or use a machine with more memory",
        _ => "check the disk, or use another folder",
    }
}

/// Why a file is refused while it is read, before its path is known.
pub(crate) enum Refused {
    Disk(io::Error),
    Content(String),
}

impl Refused {
    /// The error for the file at this path, with what was done to it; `short` says that it ends too early.
    pub(crate) fn at(self, (path, action): (&Path, &'static str), short: &str, remedy: &'static str) -> FilesError {
        match self {
            Refused::Disk(error) if error.kind() != ErrorKind::UnexpectedEof => FilesError::disk(path, action)(error),
            Refused::Disk(_) => FilesError::content(path, short, remedy),
            Refused::Content(problem) => FilesError::content(path, problem, remedy),
        }
    }
}

impl From<io::Error> for Refused {
    fn from(error: io::Error) -> Refused {
        Refused::Disk(error)
    }
}

impl From<TryReserveError> for Refused {
    fn from(_: TryReserveError) -> Refused {
        Refused::Disk(ErrorKind::OutOfMemory.into())
    }
}

impl From<String> for Refused {
    fn from(problem: String) -> Refused {
        Refused::Content(problem)
    }
}

/// Text of a user as it may stand in a message: quoted, control characters escaped, cut where it gets long.
pub(crate) fn quoted(text: &str) -> String {
    const LONGEST: usize = 40;
    let cut: String = text.chars().take(LONGEST).flat_map(char::escape_debug).collect();
    if text.chars().nth(LONGEST).is_some() {
        format!("`{cut}…`")
    } else {
        format!("`{cut}`")
    }
}
