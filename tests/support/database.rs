//! One test's own database, removed when the test is over.

use std::fmt;
use std::future::Future;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::{process, thread};

/// A fresh, empty database that belongs to one test.
///
/// Declare it before everything that uses it, so that it is dropped last: dropping it ends the sessions that are left
/// and removes the database, also after a failed assertion.
pub(crate) struct TestDatabase {
    name: String,
    url: String,
    admin_url: String,
    remove: Option<Box<dyn FnOnce() + Send>>,
}

impl TestDatabase {
    pub(crate) fn new(
        name: String,
        url: String,
        admin_url: String,
        remove: impl FnOnce() + Send + 'static,
    ) -> Self {
        Self {
            name,
            url,
            admin_url,
            remove: Some(Box::new(remove)),
        }
    }

    /// Connects as an ordinary user who owns this database and nothing else, as an application should.
    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    /// Connects to the same database as a superuser, who sees and ends every session. On SQLite just [`Self::url`].
    pub(crate) fn admin_url(&self) -> &str {
        &self.admin_url
    }

    /// The name of the database, and of the ordinary user who owns it. On SQLite the path of the file.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }
}

impl Drop for TestDatabase {
    fn drop(&mut self) {
        if let Some(remove) = self.remove.take() {
            remove();
        }
    }
}

impl fmt::Debug for TestDatabase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("TestDatabase").field(&self.name).finish()
    }
}

/// A name that no other test uses, in this process or in another one on the same server.
pub(crate) fn unique_name() -> String {
    static NUMBER: AtomicUsize = AtomicUsize::new(1);
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    format!("inbox_test_{}_{number}", process::id())
}

/// Finishes `work` before it returns, from a place that cannot await, such as `drop`.
pub(crate) fn finish_in_drop(work: impl Future<Output = Result<(), sqlx::Error>> + Send + 'static) {
    let worker = thread::spawn(|| {
        tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .expect("a runtime for the clean-up")
            .block_on(work)
            .expect("a test database can be removed");
    });
    let removed = worker.join().is_ok();
    // A second panic would hide the assertion that is being unwound.
    assert!(
        removed || thread::panicking(),
        "a test database stays behind"
    );
}
