//! The file layer: `replace` is all or nothing, tables are cut back to their mark.

use seixo_files::layer::{Disk, Fault, FaultyDisk, FileLayer, Unsynced, Unwritten, replace};
use seixo_files::table::Table;
use std::io::ErrorKind;
use std::path::Path;

const FILE: &str = "/run/run.json";

fn prepared() -> FaultyDisk {
    let disk = FaultyDisk::new();
    disk.create_dir_all(Path::new("/run")).unwrap();
    replace(&disk, Path::new(FILE), b"old").unwrap();
    disk
}

#[test]
fn replace_leaves_the_old_or_the_new_content_whatever_fails() {
    for at in 0..8 {
        for fault in [
            Fault::Fail {
                at,
                error: ErrorKind::Other,
            },
            Fault::FailFrom {
                from: at,
                error: ErrorKind::StorageFull,
            },
            Fault::ShortWrite { at },
            Fault::Crash { after: at },
        ] {
            let disk = prepared();
            disk.set_fault(Some(fault));
            let done = replace(&disk, Path::new(FILE), b"the new one").is_ok();
            for crash in [Unsynced::Lost, Unsynced::NamesKept, Unsynced::CachedResponse] {
                let content = disk.reopen_with(crash).read(Path::new(FILE)).unwrap();
                assert!(content == b"the new one" || !done && content == b"old", "{fault:?} {crash:?}");
            }
            if !matches!(fault, Fault::Crash { .. }) {
                disk.set_fault(None);
                assert_eq!(
                    disk.list(Path::new("/run")).unwrap(),
                    [Path::new(FILE)],
                    "{fault:?} leaves a temporary file"
                );
            }
        }
    }
}

#[test]
fn replace_works_on_the_real_disk() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.json");
    for content in ["first", "second"] {
        replace(&Disk, &path, content.as_bytes()).unwrap();
        assert_eq!(Disk.read(&path).unwrap(), content.as_bytes());
    }
    assert_eq!(Disk.list(folder.path()).unwrap(), [path]);
    assert!(Disk.free_space(folder.path()).unwrap() > 0);
    assert!(Disk.read(folder.path()).unwrap_err().to_string().contains("a folder"));
}

#[test]
fn a_resumed_table_is_cut_back_to_its_mark_and_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("energies.csv");
    let mut table = Table::create(&Disk, &path, &["time [s]", "kinetic [J]"]).unwrap();
    table.row(&[0.0, 0.1 + 0.2]).unwrap();
    let mark = table.mark().unwrap();
    table.row(&[1.0, 5.0]).unwrap();
    table.line("half a li").unwrap();
    drop(table);

    let mut table = Table::resume(&Disk, &path, &mark).unwrap();
    table.row(&[1e-9, -1e300]).unwrap();
    let later = table.mark().unwrap();
    let text = String::from_utf8(Disk.read(&path).unwrap()).unwrap();
    assert_eq!(text, "time [s],kinetic [J]\n0.0,0.30000000000000004\n1e-9,-1e300\n");
    assert_eq!(later.blake3, blake3::hash(text.as_bytes()).to_string());
    assert!(
        Table::create(&Disk, &path, &["time [s]"]).is_err(),
        "an existing file is not overwritten"
    );

    std::fs::write(&path, text.replace("1e-9", "2e-9")).unwrap();
    assert!(
        Table::resume(&Disk, &path, &later)
            .err()
            .unwrap()
            .to_string()
            .contains("not those of the checkpoint")
    );
    assert!(Table::resume(&Disk, &path, &mark).is_ok(), "what changed lies after the mark");
    std::fs::write(&path, "time").unwrap();
    assert!(Table::resume(&Disk, &path, &mark).err().unwrap().to_string().contains("cut short"));
}

#[test]
fn what_a_mark_covers_survives_a_power_cut() {
    let disk = FaultyDisk::new();
    disk.create_dir_all(Path::new("/run")).unwrap();
    let path = Path::new("/run/log.jsonl");
    let mut log = Table::create_log(&disk, path).unwrap();
    log.line("{}").unwrap();
    let mark = log.mark().unwrap();
    log.line("{\"lost\":1}").unwrap();
    let disk = disk.reopen();
    Table::resume(&disk, path, &mark).unwrap().line("{\"again\":1}").unwrap();
    assert_eq!(disk.read(path).unwrap(), b"{}\n{\"again\":1}\n");
}

#[test]
fn a_table_that_is_not_there_any_more_has_no_mark() {
    let disk = FaultyDisk::new();
    disk.create_dir_all(Path::new("/run")).unwrap();
    let (path, aside) = (Path::new("/run/energies.csv"), Path::new("/run/aside.csv"));
    let mut table = Table::create(&disk, path, &["time [s]"]).unwrap();
    disk.rename(path, aside).unwrap();
    assert!(table.mark().unwrap_err().to_string().contains("was removed"));
    Table::create(&disk, path, &["time [s]"]).unwrap();
    assert!(table.mark().is_err(), "another file has its name");
    disk.rename(aside, path).unwrap();
    assert!(table.mark().is_ok());
}

#[test]
fn who_only_looks_sees_the_disk_and_changes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let (old, new) = (folder.path().join("old"), folder.path().join("new"));
    replace(&Disk, &old, b"as it was").unwrap();
    replace(&Unwritten, &old, b"otherwise").unwrap();
    replace(&Unwritten, &new, b"what is not there").unwrap();
    Table::create(&Unwritten, &new, &["time [s]"]).unwrap().row(&[1.0]).unwrap();
    Unwritten.truncate(&old, 2).unwrap();
    Unwritten.remove(&old).unwrap();
    assert_eq!(Unwritten.read(&old).unwrap(), b"as it was");
    assert_eq!(Disk.list(folder.path()).unwrap(), [old]);
}
