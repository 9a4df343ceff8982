//! How an example ends: with its exit code, or with an error that a person can read.

use std::process::ExitCode;

/// Prints an error as one line, from the whole to the cause.
pub(crate) fn exit_code(result: anyhow::Result<ExitCode>) -> ExitCode {
    result.unwrap_or_else(|error| {
        let mut text = String::new();
        for cause in error.chain().map(ToString::to_string) {
            // Some errors of sqlx say themselves what their source says again.
            if !text.ends_with(&cause) {
                text.push_str(if text.is_empty() { "error: " } else { ": " });
                text.push_str(&cause);
            }
        }
        eprintln!("{text}");
        ExitCode::FAILURE
    })
}
