//! A user's crate outside this workspace, in an older edition, on this database.

use std::process::Command;

use crate::dialect;

/// Generated code must not need anything that only this workspace has.
#[tokio::test]
async fn a_crate_outside_this_workspace_compiles_and_dedupes() {
    let database = dialect::fresh_database().await;
    let manifest = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/outside/Cargo.toml");
    let output = Command::new(env!("CARGO"))
        .args(["run", "--quiet", "--locked", "--manifest-path", manifest])
        .args(["--features", dialect::FEATURE, "--", database.url()])
        // One target directory for the three databases, kept between runs.
        .env(
            "CARGO_TARGET_DIR",
            concat!(env!("CARGO_TARGET_TMPDIR"), "/outside"),
        )
        .output()
        .expect("cargo, which runs this test");
    let said = String::from_utf8_lossy(&output.stdout);
    let complained = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}{complained}");
    assert_eq!(said.trim(), "processed, then a duplicate", "{complained}");
}
