//! Renews the lease of a claim in the background for as long as its body runs.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use inbox_core::two_phase::{Held, Terms};
use tokio::sync::Notify;

use super::{clock::Moment, session::Session};
use crate::{
    backend::{Backend, leases::Leases as _},
    error::Error,
    inbox::Inbox,
};

/// What the claim's holder knows of its lease without asking the database.
#[derive(Debug)]
pub(super) struct Tenure {
    state: Mutex<TenureState>,
    lost: Notify,
}

#[derive(Debug, Clone, Copy)]
struct TenureState {
    /// Until when nobody else can have taken over, counted from before the statement was sent.
    until: Moment,
    lost: bool,
}

impl Tenure {
    pub(super) fn new(until: Moment) -> Arc<Self> {
        Arc::new(Self {
            state: Mutex::new(TenureState { until, lost: false }),
            lost: Notify::new(),
        })
    }

    fn state(&self) -> TenureState {
        *self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether the claim is certainly still ours.
    pub(super) fn is_held(&self) -> bool {
        let state = self.state();
        !state.lost && !state.until.left().is_zero()
    }

    fn extend(&self, until: Moment) {
        self.state
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .until = until;
    }

    fn lose(&self) {
        self.state
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .lost = true;
        self.lost.notify_waiters();
    }

    /// Completes when the claim is lost: somebody else has it, or its lease could not be renewed in time.
    pub(super) async fn ended(&self) {
        loop {
            let notified = self.lost.notified();
            let state = self.state();
            let left = state.until.left();
            if state.lost || left.is_zero() {
                return;
            }
            // The deadline moves with each renewal, so it is looked at again when it seems to be over.
            tokio::select! {
                () = notified => {}
                () = tokio::time::sleep(left) => {}
            }
        }
    }
}

/// The task that renews. Dropped, it stops: nothing renews a claim that has ended.
#[derive(Debug)]
pub(super) struct Renewal(tokio::task::JoinHandle<()>);

impl Drop for Renewal {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl Renewal {
    pub(super) fn start<DB: Backend>(
        inbox: &Inbox<DB>,
        row: i64,
        held: Held,
        terms: Terms,
        tenure: &Arc<Tenure>,
    ) -> Self {
        let (inbox, tenure) = (inbox.clone(), Arc::clone(tenure));
        Self(tokio::spawn(async move {
            let every = terms.renew_every();
            let mut pause = every;
            loop {
                tokio::time::sleep(pause).await;
                let sent = Moment::now();
                // One that hangs must not keep the next one from being tried.
                let tried = tokio::time::timeout(every, renew(&inbox, row, held, terms.lease()));
                match tried.await {
                    Ok(Ok(true)) => {
                        tenure.extend(sent.plus(terms.lease()));
                        pause = every;
                    }
                    Ok(Ok(false)) => {
                        tenure.lose();
                        return;
                    }
                    // The database is down or slow. The claim is ours until the deadline, so go on trying.
                    Ok(Err(error)) => {
                        tracing::warn!(
                            row,
                            error = &error as &dyn std::error::Error,
                            "renewing a lease failed"
                        );
                        pause = (every / 4).max(Duration::from_millis(1));
                    }
                    Err(_) => pause = Duration::from_millis(1),
                }
            }
        }))
    }
}

async fn renew<DB: Backend>(
    inbox: &Inbox<DB>,
    row: i64,
    held: Held,
    lease: Duration,
) -> Result<bool, Error> {
    let mut session = Session::open(inbox).await?;
    let renewed = DB::Driver::renew(session.connection(), inbox.leases(), row, held, lease)
        .await
        .map_err(|error| inbox.refusal(error))?;
    session.commit().await?;
    Ok(renewed)
}
