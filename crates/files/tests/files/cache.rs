//! The cache gives back what was put into it, or nothing, whatever the disk does.

use seixo_files::cache::{Cache, Key};
use seixo_files::layer::{Fault, FaultyDisk, FileLayer};
use std::io::{ErrorKind, Write as _};
use std::path::Path;

const FOLDER: &str = "/cache/seixo/things";

fn key(of: &[&[u8]]) -> Key {
    let mut key = Key::default();
    of.iter().for_each(|bytes| key.add(bytes));
    key
}

#[test]
fn results_are_found_under_what_they_were_made_from() {
    let disk = FaultyDisk::new();
    let cache = Cache::in_folder(&disk, Path::new(FOLDER));
    let (one, other) = (key(&[b"mesh", b"radius"]), key(&[b"mesh", b"another radius"]));
    assert_eq!(cache.get(&one), None);
    cache.put(&one, b"spheres");
    cache.put(&other, b"");
    assert_eq!(cache.get(&one).as_deref(), Some(&b"spheres"[..]));
    assert_eq!(cache.get(&other).as_deref(), Some(&b""[..]));
}

#[test]
fn a_damaged_result_is_none() {
    let disk = FaultyDisk::new();
    let cache = Cache::in_folder(&disk, Path::new(FOLDER));
    let key = key(&[b"mesh"]);
    cache.put(&key, b"spheres");
    let path = disk.list(Path::new(FOLDER)).unwrap().remove(0);
    let whole = disk.read(&path).unwrap();
    for at in 0..whole.len() {
        let mut damaged = whole.clone();
        damaged[at] ^= 1;
        disk.create(&path).unwrap().write_all(&damaged).unwrap();
        assert_eq!(cache.get(&key), None, "byte {at}");
        disk.create(&path).unwrap().write_all(&whole[..at]).unwrap();
        assert_eq!(cache.get(&key), None, "cut at {at}");
    }
    cache.put(&key, b"spheres");
    assert!(cache.get(&key).is_some());
}

#[test]
fn a_disk_that_fails_costs_the_result_and_nothing_else() {
    for at in 1..12 {
        for fault in [
            Fault::Fail {
                at,
                error: ErrorKind::PermissionDenied,
            },
            Fault::FailFrom {
                from: at,
                error: ErrorKind::ReadOnlyFilesystem,
            },
            Fault::ShortWrite { at },
            Fault::Crash { after: at },
        ] {
            let disk = FaultyDisk::new();
            disk.set_fault(Some(fault));
            let cache = Cache::in_folder(&disk, Path::new(FOLDER));
            let key = key(&[b"mesh"]);
            cache.put(&key, b"spheres");
            let found = cache.get(&key);
            assert!(found.is_none_or(|found| found == b"spheres"), "{fault:?}");
        }
    }
}
