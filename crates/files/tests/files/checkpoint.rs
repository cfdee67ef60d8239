//! Checkpoints: what was written comes back to the bit, what is damaged is refused, and no fault of the disk loses both.

use proptest::prelude::*;
use seixo_engine::state::{Column, State};
use seixo_files::FilesError;
use seixo_files::checkpoint::{self, Header};
use seixo_files::layer::{Disk, Fault, FaultyDisk, FileLayer, Unsynced, remove_temporaries};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

const FOLDER: &str = "/run/checkpoints";

fn current() -> &'static Path {
    Path::new("/run/checkpoints/state.checkpoint")
}

fn header(steps: u64) -> Header {
    let outputs = serde_json::json!({ "frames": steps, "energies": { "bytes": 123, "blake3": "ab" } });
    Header {
        version: "0.1.0".into(),
        scene_hash: "scene".into(),
        time: steps as f64 * 0.1,
        steps,
        outputs,
    }
}

fn state(steps: u64) -> State {
    let position = vec![0.1, -0.0, f64::MIN_POSITIVE / 2.0, f64::INFINITY, 1e300, steps as f64];
    State {
        sections: vec![
            ("position".into(), Column::F64(position)),
            ("id".into(), Column::U32(vec![0, 7, u32::MAX])),
            ("steps".into(), Column::U64(vec![steps, u64::MAX])),
            ("bonds".into(), Column::F64(vec![])),
        ],
    }
}

fn write(layer: &dyn FileLayer, folder: &Path, header: &Header, state: State) -> Result<PathBuf, FilesError> {
    checkpoint::write(layer, folder, header, |to| {
        state.put_to(to);
        Ok(())
    })
}

#[test]
fn the_file_does_not_depend_on_the_threads_that_pack_it() {
    // More than two blocks, the last one not full; sections around it, one of which shrinks more than a reader believes.
    let position: Vec<f64> = (0..1_200_000u32).map(|k| f64::from(k).sqrt()).collect();
    let state = State {
        sections: vec![
            ("id".into(), Column::U32((0..300_000).collect())),
            ("force".into(), Column::F64(vec![0.0; 700_000])),
            ("position".into(), Column::F64(position)),
            ("bonds".into(), Column::F64(vec![])),
            ("steps".into(), Column::U64(vec![7])),
        ],
    };
    let [one, three, many] = [1, 3, 20].map(|threads| {
        let disk = FaultyDisk::new();
        let written = checkpoint::write_on_threads(&disk, Path::new(FOLDER), threads, &header(3), |to| {
            state.clone().put_to(to);
            Ok::<(), FilesError>(())
        });
        disk.read(&written.unwrap()).unwrap()
    });
    assert!(one == three && one == many);
    assert!(read_bytes(&one).unwrap() == (header(3), state));
}

fn put(layer: &dyn FileLayer, path: &Path, bytes: &[u8]) {
    let mut file = layer.create(path).unwrap();
    file.write_all(bytes).unwrap();
    file.sync().unwrap();
    layer.sync_dir(path.parent().unwrap()).unwrap();
}

fn written() -> Vec<u8> {
    let disk = FaultyDisk::new();
    write(&disk, Path::new(FOLDER), &header(3), state(3)).unwrap();
    disk.read(current()).unwrap()
}

fn read_bytes(bytes: &[u8]) -> Result<(Header, State), FilesError> {
    let disk = FaultyDisk::new();
    disk.create_dir_all(Path::new(FOLDER)).unwrap();
    put(&disk, current(), bytes);
    checkpoint::read(&disk, current())
}

#[test]
fn comes_back_to_the_bit_from_the_real_disk() {
    let folder = tempfile::tempdir().unwrap();
    for steps in [1, 2, 3] {
        write(&Disk, folder.path(), &header(steps), state(steps)).unwrap();
    }
    let (path, found, restored) = checkpoint::newest_valid(&Disk, folder.path()).unwrap();
    assert_eq!((found, &restored), (header(3), &state(3)));
    assert_eq!(checkpoint::digest(&restored), checkpoint::digest(&state(3)));
    let previous = checkpoint::read(&Disk, &path.with_file_name("state.checkpoint.prev")).unwrap();
    assert_eq!(previous, (header(2), state(2)));
    assert_eq!(Disk.list(folder.path()).unwrap().len(), 2, "no third file is left");
}

#[test]
fn digest_reports_states_apart_that_differ_in_one_bit_or_name() {
    let digest = |name: &str, column| {
        checkpoint::digest(&State {
            sections: vec![(name.into(), column)],
        })
    };
    let digests = [
        digest("a", Column::F64(vec![0.0])),
        digest("a", Column::F64(vec![-0.0])),
        digest("b", Column::F64(vec![0.0])),
        digest("a", Column::U64(vec![0])),
        digest("a", Column::U32(vec![0, 0])),
    ];
    for (index, one) in digests.iter().enumerate() {
        assert!(digests[index + 1..].iter().all(|other| other != one));
    }
}

#[test]
fn a_large_state_of_zeros_comes_back() {
    let zeros = State {
        sections: vec![("history".into(), Column::F64(vec![0.0; 10_000_000]))],
    };
    let folder = tempfile::tempdir().unwrap();
    let path = write(&Disk, folder.path(), &header(1), zeros.clone()).unwrap();
    assert_eq!(checkpoint::read(&Disk, &path).unwrap().1, zeros);
}

/// Writes checkpoints 1, 2, 3; gives the newest that was acknowledged (0 = none).
fn write_three(disk: &FaultyDisk) -> u64 {
    let done = [1, 2, 3].map(|steps| write(disk, Path::new(FOLDER), &header(steps), state(steps)).map_or(0, |_| steps));
    done.into_iter().max().unwrap()
}

fn faults(at: u64) -> [Fault; 5] {
    [
        Fault::Fail {
            at,
            error: ErrorKind::Other,
        },
        Fault::FailFrom {
            from: at,
            error: ErrorKind::StorageFull,
        },
        Fault::FailFrom {
            from: at,
            error: ErrorKind::ReadOnlyFilesystem,
        },
        Fault::ShortWrite { at },
        Fault::Crash { after: at },
    ]
}

const CRASHES: [Unsynced; 3] = [Unsynced::Lost, Unsynced::NamesKept, Unsynced::CachedResponse];

#[test]
fn no_fault_at_any_operation_loses_an_acknowledged_checkpoint() {
    let counter = FaultyDisk::new();
    assert_eq!(write_three(&counter), 3);
    let operations = counter.operations();
    assert!(operations > 20);
    for fault in (0..=operations).flat_map(faults) {
        let disk = FaultyDisk::with_fault(fault);
        let acknowledged = write_three(&disk);
        for crash in CRASHES {
            let disk = disk.reopen_with(crash);
            match checkpoint::newest_valid(&disk, Path::new(FOLDER)) {
                Ok((_, found, restored)) => {
                    assert!(
                        found.steps >= acknowledged,
                        "{fault:?} {crash:?}: {} after {acknowledged}",
                        found.steps
                    );
                    assert_eq!(restored, state(found.steps));
                    remove_temporaries(&disk, Path::new(FOLDER)).unwrap();
                    assert!(
                        disk.list(Path::new(FOLDER))
                            .unwrap()
                            .iter()
                            .all(|path| path.extension().unwrap() != "tmp")
                    );
                    assert!(checkpoint::newest_valid(&disk, Path::new(FOLDER)).is_ok());
                }
                Err(error) => assert_eq!(acknowledged, 0, "{fault:?} {crash:?}: {error}"),
            }
        }
    }
}

#[test]
fn a_damaged_current_checkpoint_does_not_push_out_the_good_one_before_it() {
    let prepare = || {
        let disk = FaultyDisk::new();
        for steps in [1, 2] {
            write(&disk, Path::new(FOLDER), &header(steps), state(steps)).unwrap();
        }
        put(&disk, current(), b"damaged");
        disk
    };
    let disk = prepare();
    let (path, found, _) = checkpoint::newest_valid(&disk, Path::new(FOLDER)).unwrap();
    assert_eq!((path.extension().unwrap(), found.steps), ("prev".as_ref(), 1));
    for fault in (0..20).flat_map(faults) {
        let disk = prepare();
        disk.set_fault(Some(fault));
        let _ = write(&disk, Path::new(FOLDER), &header(3), state(3));
        for crash in CRASHES {
            let disk = disk.reopen_with(crash);
            let (_, found, restored) = checkpoint::newest_valid(&disk, Path::new(FOLDER)).unwrap();
            assert_eq!(restored, state(found.steps), "{fault:?} {crash:?}");
            remove_temporaries(&disk, Path::new(FOLDER)).unwrap();
            assert!(checkpoint::newest_valid(&disk, Path::new(FOLDER)).is_ok());
        }
    }
}

#[test]
fn every_cut_and_every_flipped_bit_is_refused() {
    let bytes = written();
    for length in 0..bytes.len() {
        assert!(read_bytes(&bytes[..length]).is_err(), "cut to {length}");
    }
    for bit in 0..bytes.len() * 8 {
        let mut flipped = bytes.clone();
        flipped[bit / 8] ^= 1 << (bit % 8);
        let message = read_bytes(&flipped).unwrap_err().to_string();
        assert!(message.contains("state.checkpoint"), "bit {bit}: {message}");
    }
    assert!(read_bytes(&[&bytes[..], b"more"].concat()).is_err());
}

/// A checkpoint with true checksums around one section that lies.
fn forged(count: u64, stored: &[u8], encoding: &str) -> Vec<u8> {
    let section = serde_json::json!({ "name": "position", "kind": "f64", "encoding": encoding, "count": count,
        "stored": stored.len(), "blake3": blake3::hash(stored).to_string() });
    let mut bytes = [b"SEIXOCKP", &2u32.to_le_bytes()[..]].concat();
    for preface in [serde_json::to_string(&header(1)).unwrap(), section.to_string()] {
        bytes.extend((preface.len() as u32).to_le_bytes());
        bytes.extend(preface.as_bytes());
    }
    bytes.extend(stored);
    bytes.extend(0u32.to_le_bytes());
    bytes.extend(blake3::hash(&bytes).as_bytes());
    bytes
}

#[test]
fn bombs_are_refused_before_they_go_off() {
    let gigabyte = zstd::stream::encode_all(std::io::Read::take(std::io::repeat(0), 1 << 30), 1).unwrap();
    let cases = [
        (forged(1 << 27, &gigabyte, "zstd"), "claims to unpack to 1073741824 bytes"),
        (
            forged(u64::MAX, &gigabyte, "zstd"),
            "claims to unpack to 18446744073709551615 bytes",
        ),
        (forged(8, &gigabyte, "zstd"), "cannot be unpacked"),
        (forged(9, &[0; 64], "plain"), "holds 64 bytes instead of 72"),
        (
            [b"SEIXOCKP\x02\0\0\0\xff\xff\xff\xff".as_slice(), &[b'['; 100]].concat(),
            "preface of 4294967295 bytes",
        ),
        ([b"SEIXOCKP\x01\0\0\0".as_slice(), &[0; 100]].concat(), "format 1"),
        (vec![b'['; 1000], "not a Seixo checkpoint"),
    ];
    for (bytes, expected) in cases {
        let start = Instant::now();
        let message = read_bytes(&bytes).unwrap_err().to_string();
        assert!(message.contains(expected), "{message}");
        assert!(start.elapsed() < Duration::from_secs(1));
    }
    assert!(
        read_bytes(&forged(8, &[0; 64], "plain")).is_ok(),
        "the forgery itself is well-formed"
    );
}

#[test]
fn what_could_not_be_saved_leaves_the_checkpoint_before() {
    let folder = tempfile::tempdir().unwrap();
    write(&Disk, folder.path(), &header(1), state(1)).unwrap();
    let refused = checkpoint::write(&Disk, folder.path(), &header(2), |to| {
        to.put("position", Column::F64(vec![0.0]));
        Err(FilesError::NoCheckpoint {
            folder: "device".into(),
            reasons: "lost".into(),
        })
    });
    assert!(refused.unwrap_err().to_string().contains("lost"));
    assert_eq!(checkpoint::newest_valid(&Disk, folder.path()).unwrap().2, state(1));
    assert_eq!(Disk.list(folder.path()).unwrap().len(), 1, "nothing half is left");
}

#[test]
fn a_folder_without_a_checkpoint_says_what_it_lacks() {
    let message = checkpoint::newest_valid(&FaultyDisk::new(), Path::new(FOLDER))
        .unwrap_err()
        .to_string();
    assert!(message.contains(FOLDER) && message.contains("state.checkpoint.prev"), "{message}");
}

proptest! {
    #[test]
    fn any_state_comes_back(bits in prop::collection::vec(any::<u64>(), 0..200), time in any::<f64>(), steps in any::<u64>()) {
        let sections = vec![
            ("µ".to_owned(), Column::U32(bits.iter().map(|&bits| bits as u32).collect())),
            (String::new(), Column::F64(bits.iter().map(|&bits| f64::from_bits(bits)).collect())),
            ("u".to_owned(), Column::U64(bits)),
        ];
        let (disk, sent) = (FaultyDisk::new(), State { sections });
        let path = write(&disk, Path::new(FOLDER), &Header { time, steps, ..header(0) }, sent.clone()).unwrap();
        let (found, restored) = checkpoint::read(&disk, &path).unwrap();
        prop_assert_eq!(checkpoint::digest(&restored), checkpoint::digest(&sent));
        prop_assert!(found.steps == steps && (found.time == time || time.is_nan() && found.time.is_nan()));
    }

    #[test]
    fn arbitrary_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..400), keep in 0usize..400) {
        let start = written();
        let mixed = [&start[..keep.min(start.len())], &bytes].concat();
        prop_assert!(read_bytes(&bytes).is_err());
        prop_assert!(mixed == start || read_bytes(&mixed).is_err());
        let _ = read_bytes(&forged(bytes.len() as u64, &bytes, "zstd"));
    }
}
