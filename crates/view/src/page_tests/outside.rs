//! Access from other machines and pages, and links to other folders.

use std::{fs, io::ErrorKind, net::TcpStream, os::unix::fs::symlink};

use super::{heap, opened};
use crate::{FrameSource, Particle, PictureOptions, Recording, ViewError, picture_tests::run_folder};

// Other systems have only 127.0.0.1 by default.
#[cfg(target_os = "linux")]
#[test]
fn a_page_listens_on_one_address_of_this_machine() {
    let (_page, host, _) = opened([heap(0, 1)]);
    let port: u16 = host.rsplit(':').next().unwrap().parse().unwrap();
    assert!(TcpStream::connect(("127.0.0.1", port)).is_ok());
    // All of 127.0.0.0/8 is this machine: a server on all addresses would answer there, too.
    let refused = TcpStream::connect(("127.0.0.2", port)).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::ConnectionRefused, "{refused}");
}

#[test]
fn each_page_has_a_token_of_its_own() {
    let tokens = [0; 8].map(|_| opened([heap(0, 1)]).2);
    for (k, token) in tokens.iter().enumerate() {
        assert!(!tokens[..k].contains(token), "{token}");
    }
}

#[test]
fn a_page_shows_nothing_that_lies_outside_the_run_folder() {
    let (run, elsewhere) = (run_folder(), run_folder());
    let fields = run.path().join("fields");
    let [first, last] = ["grains_000000.vtp", "grains_000001.vtp"].map(|name| fields.join(name));
    let open = || Recording::open(run.path()).unwrap();
    let look = |recording: &Recording| recording.frame(&PictureOptions::default(), None);
    let first_grain = Particle { id: 0, is_grain: true };
    let look_closely = |recording: &Recording| recording.details(1, first_grain);
    let assert_refused = |seen: Result<_, ViewError>, link: &std::path::Path| match seen.err() {
        Some(ViewError::Outside { path, to }) => {
            assert_eq!(path, link);
            assert!(to.starts_with(elsewhere.path().canonicalize().unwrap()), "{}", to.display());
        }
        other => panic!("{}: {other:?}", link.display()),
    };
    let page = open().confined().unwrap();
    assert!(look(&page).unwrap().is_some());
    assert!(!look_closely(&page).unwrap().values.is_empty());

    // A link to a file in the folder, or an alias of the folder itself, is allowed.
    fs::remove_file(&last).unwrap();
    symlink(&first, &last).unwrap();
    assert!(look(&page).unwrap().is_some());
    let alias = elsewhere.path().join("alias");
    symlink(run.path(), &alias).unwrap();
    assert!(look(&Recording::open(&alias).unwrap().confined().unwrap()).unwrap().is_some());

    // A link to a frame of another run is refused, by an open page and by one that opens; a window shows it.
    fs::remove_file(&last).unwrap();
    symlink(elsewhere.path().join("fields/grains_000001.vtp"), &last).unwrap();
    assert_refused(look(&page).map(drop), &last);
    assert_refused(look_closely(&page).map(drop), &last);
    assert_refused(open().confined().map(drop), &last);
    assert!(look(&open()).unwrap().is_some());

    fs::remove_dir_all(&fields).unwrap();
    symlink(elsewhere.path().join("fields"), &fields).unwrap();
    assert_refused(look(&page).map(drop), &fields);
    assert!(look(&open()).unwrap().is_some());
}
