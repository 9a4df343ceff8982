//! Every misuse is a file under `ui/fail`, and what the compiler says about it is the file beside it.
//!
//! The words belong to one compiler, the oldest that is supported: there they are compared to the letter. Others have
//! words of their own: there, every misuse must still be refused, which is what the files are about.
//!
//! `TRYBUILD=overwrite cargo test --test ui` writes what the compiler says now. Review it like prose: would a newcomer
//! know what to type? `cargo test --test ui -- every trybuild=pool` tries the files with `pool` in their names.

use std::{
    env, fs,
    io::{self, Write as _},
    path::{Path, PathBuf},
    process::Command,
};

/// The files have a manifest of their own, so that this one's features make no difference to what the compiler says.
const CASES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/ui");

/// Set for the process that compiles them: where they are.
const WHERE: &str = "INBOX_TEST_UI_CASES";

#[test]
fn every_misuse_is_refused_in_the_reviewed_words() {
    if let Some(cases) = env::var_os(WHERE) {
        let cases = PathBuf::from(cases).join("fail/**/*.rs");
        trybuild::TestCases::new().compile_fail(cases);
    } else {
        start_again_among_the_cases();
    }
}

/// trybuild compiles for the manifest that Cargo has named to its process.
fn start_again_among_the_cases() {
    let mut process = Command::new(env::current_exe().expect("the path of this program"));
    process
        .args(["--exact", "every_misuse_is_refused_in_the_reviewed_words"])
        .arg("--nocapture")
        .args(env::args().filter(|argument| argument.starts_with("trybuild=")))
        .env("CARGO_MANIFEST_DIR", CASES)
        .env(WHERE, "")
        .current_dir(CASES);
    let (version, reviewed) = (compiler_version(), env!("CARGO_PKG_RUST_VERSION"));
    // `1.95.0`, not `1.95.0-nightly`
    if !version.starts_with(&format!("{reviewed}.")) || version.contains('-') {
        // Not through `eprintln!`, which is shown only when the test fails.
        let notice = format!(
            "the words of Rust {version} are not compared: those of Rust {reviewed} were reviewed"
        );
        writeln!(io::stderr(), "{notice}").expect("an open standard error");
        process
            .env(WHERE, without_words())
            .env("TRYBUILD", "overwrite");
    }
    let status = process.status().expect("this program once more");
    assert!(status.success(), "see above");
}

/// Of the compiler that Cargo calls.
fn compiler_version() -> String {
    let rustc = env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let output = Command::new(rustc).arg("--version").output();
    let output = output.expect("rustc, which Cargo calls, too");
    // `rustc 1.95.0 (59807616e 2026-04-14)`
    let said = String::from_utf8_lossy(&output.stdout);
    said.split(' ').nth(1).unwrap_or_default().to_owned()
}

/// A copy of the cases, into which words may be written.
fn without_words() -> PathBuf {
    let copy = Path::new(env!("CARGO_TARGET_TMPDIR")).join("ui");
    if copy.exists() {
        fs::remove_dir_all(&copy).expect("what an earlier run has left can be removed");
    }
    copy_programs(&Path::new(CASES).join("fail"), &copy.join("fail"))
        .expect("cases to copy, and space");
    copy
}

fn copy_programs(from: &Path, to: &Path) -> io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let path = entry?.path();
        let target = to.join(path.file_name().expect("an entry has a name"));
        if path.is_dir() {
            copy_programs(&path, &target)?;
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            fs::copy(&path, &target)?;
        }
    }
    Ok(())
}
