//! Runs resume after their folder, or the files of their scenes, were moved.

use crate::command_line::stage::Stage;
use std::fs;

/// A scene in `tree`, with a plate from a mesh below the box, and its run until 10 ms.
fn stage() -> Stage {
    let stage = Stage::new();
    fs::create_dir_all(stage.path("tree/meshes")).unwrap();
    stage.write(
        "tree/meshes/plate.obj",
        "v -0.02 -0.02 -0.01\nv 0.02 -0.02 -0.01\nv 0.02 0.02 -0.01\nv -0.02 0.02 -0.01\nf 1 2 3\nf 1 3 4\n",
    );
    let plate = "[wall.plate]\nmaterial = \"clay\"\nmesh = \"meshes/plate.obj\"\n[wall.box]";
    stage.write("tree/heap.toml", &stage.read("heap.toml").replace("[wall.box]", plate));
    stage.succeed("run tree/heap.toml --quiet --until 0.01 --out tree/runs/heap.out");
    stage
}

#[test]
fn a_tree_that_was_moved_goes_on_as_if_it_had_stayed() {
    let stage = stage();
    stage.succeed("run tree/heap.toml --quiet --until 0.03 --out stayed");
    fs::create_dir_all(stage.path("other")).unwrap();
    fs::rename(stage.path("tree"), stage.path("other/place")).unwrap();
    stage.succeed("resume other/place/runs/heap.out --quiet --until 0.02");
    // And again from the new position.
    fs::rename(stage.path("other/place"), stage.path("back")).unwrap();
    stage.succeed("resume back/runs/heap.out --quiet --until 0.03");
    let ((there, moved), (here, stayed)) = (stage.checkpoint("back/runs/heap.out"), stage.checkpoint("stayed"));
    assert_eq!((there.steps, moved), (here.steps, stayed));
}

#[test]
fn a_run_folder_that_was_moved_alone_finds_files_where_they_were() {
    let stage = stage();
    fs::rename(stage.path("tree/runs/heap.out"), stage.path("archived")).unwrap();
    stage.succeed("resume archived --quiet --until 0.02");
}

#[test]
fn a_file_that_is_missing_is_named_and_found_where_one_says() {
    let stage = stage();
    fs::rename(stage.path("tree/meshes"), stage.path("elsewhere")).unwrap();
    let done = stage.seixo("resume tree/runs/heap.out --until 0.02");
    assert_eq!(done.code, 2);
    let [file, above] = ["tree/meshes/plate.obj", "tree/meshes"].map(|name| stage.path(name).display().to_string());
    for part in [file, format!("seixo resume tree/runs/heap.out --moved {above}=NEW")] {
        assert!(done.err.contains(&part), "without \"{part}\": {}", done.err);
    }
    stage.succeed("resume tree/runs/heap.out --quiet --until 0.02 --moved tree/meshes=elsewhere");
    fs::rename(stage.path("elsewhere/plate.obj"), stage.path("sheet.obj")).unwrap();
    stage.succeed("resume tree/runs/heap.out --quiet --until 0.03 --moved tree/meshes/plate.obj=sheet.obj");

    // A path that the user gives must exist, with the same content.
    let done = stage.seixo("resume tree/runs/heap.out --until 0.04 --moved tree/meshes=nowhere");
    assert!(done.code == 2 && done.err.contains("nowhere/plate.obj"), "{}", done.err);
    let mesh = stage.read("sheet.obj").replace("-0.01", "-0.02");
    stage.write("sheet.obj", &mesh);
    let done = stage.seixo("resume tree/runs/heap.out --until 0.04 --moved tree/meshes/plate.obj=sheet.obj");
    assert!(done.code == 2 && done.err.contains("or a file that it names"), "{}", done.err);
    let done = stage.seixo("resume tree/runs/heap.out --moved nonsense");
    assert!(done.code == 2 && done.err.contains("OLD=NEW"), "{}", done.err);
}
