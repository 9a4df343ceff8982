//! The handler, once for each answer to the question what to do when nobody knows whether a mail was sent.

use inbox_sqlx::{Backend, Claim, Inbox, Outcome, idempotent};
use serde::{Deserialize, Serialize};

use crate::{
    mailer::{MailError, Mailer},
    receipt::Receipt,
};

/// Never twice: what is not known is left to a person.
///
/// Lease and attempts are below the defaults, a minute and five, so that nobody has to watch for long.
#[idempotent(
    consumer = "email",
    key = msg.message_id,
    two_phase(on_unknown = park, classify = MailError::effect, lease = "1s", max_attempts = 2)
)]
async fn at_most_once<DB: Backend>(
    claim: &Claim<DB>,
    mailer: Mailer,
    msg: &Receipt,
) -> Result<(), MailError> {
    mailer.send(msg, claim.idempotency_key()).await
}

/// Never lost: what is not known is tried again with the same key, and the provider recognises the key.
#[idempotent(
    consumer = "email",
    key = msg.message_id,
    two_phase(
        on_unknown = retry,
        classify = MailError::effect,
        lease = "1s",
        max_attempts = 2,
        horizon = "1h",
    )
)]
async fn at_least_once<DB: Backend>(
    claim: &Claim<DB>,
    mailer: Mailer,
    msg: &Receipt,
) -> Result<(), MailError> {
    mailer.send(msg, claim.idempotency_key()).await
}

/// Which of the two.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Mode {
    Park,
    Retry,
}

impl Mode {
    pub(crate) const BOTH: [Self; 2] = [Self::Park, Self::Retry];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Park => "on_unknown = park",
            Self::Retry => "on_unknown = retry",
        }
    }

    /// Whether the provider this mode is shown with recognises idempotency keys: `retry` is for those only.
    pub(crate) fn provider_knows_keys(self) -> bool {
        self == Self::Retry
    }

    /// Handles one delivery.
    pub(crate) async fn handle<DB: Backend>(
        self,
        inbox: &Inbox<DB>,
        mailer: Mailer,
        receipt: &Receipt,
    ) -> Result<Outcome<()>, MailError> {
        match self {
            Self::Park => at_most_once(inbox, mailer, receipt).await,
            Self::Retry => at_least_once(inbox, mailer, receipt).await,
        }
    }
}
