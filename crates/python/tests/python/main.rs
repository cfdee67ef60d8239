//! The library as a module of Python. What it does is tested in `python/tests`.

#[test]
fn python_finds_the_entry_of_the_module() {
    let program = std::env::current_exe().unwrap();
    let name = format!("{}_seixo{}", std::env::consts::DLL_PREFIX, std::env::consts::DLL_SUFFIX);
    let library = program.with_file_name(name);
    let bytes = std::fs::read(&library).unwrap_or_else(|error| panic!("{}: {error}", library.display()));
    let entry = b"PyInit__seixo";
    assert!(bytes.windows(entry.len()).any(|found| found == entry), "{}", library.display());
}
