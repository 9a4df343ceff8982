//! What a consumer loop does with a delivery whose handler returned an error.

use std::{error::Error as StdError, fmt, time::Duration};

use inbox_core::KeyError;

use crate::error::{Error, chain};

/// What to do with a delivery that was not handled. It is never acknowledged.
///
/// ```
/// use inbox_sqlx::{Disposition, Error, Key};
///
/// let missing_id = Error::from(Key::new("").unwrap_err());
/// assert_eq!(Disposition::of(&missing_id), Disposition::DeadLetter);
///
/// let outage = std::io::Error::other("no route to host");
/// assert_eq!(Disposition::of(&outage), Disposition::Retry { after: None });
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Disposition {
    /// Let the broker deliver it again.
    Retry {
        /// Not before this long, if that is known; otherwise by the broker's own policy.
        after: Option<Duration>,
    },
    /// Reject it without requeueing: delivering it again cannot help, a person has to look.
    DeadLetter,
}

impl Disposition {
    /// Looks for the inbox's error in the chain of sources of any error.
    ///
    /// An error that does not come from the inbox is [`Retry`](Self::Retry): the inbox does not know
    /// better. For `anyhow::Error` and `Box<dyn Error>` pass `error.as_ref()`.
    pub fn of(error: &(dyn StdError + 'static)) -> Self {
        chain(error)
            .find_map(|error| {
                if let Some(error) = error.downcast_ref::<Error>() {
                    Some(error.disposition())
                } else if let Some(remedy) = error.downcast_ref::<Remedy>() {
                    Some(remedy.0)
                } else {
                    error.is::<KeyError>().then_some(Self::DeadLetter)
                }
            })
            .unwrap_or(Self::Retry { after: None })
    }
}

/// What is to be done about an error, as the last link of its chain.
///
/// It stands there because a `#[error(transparent)]` variant shows its source in place of itself: what
/// [`Disposition::of`] must know has to be in the source, too.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Remedy(Disposition);

impl Remedy {
    pub(crate) fn redeliver(after: Duration) -> Self {
        Self(Disposition::Retry { after: Some(after) })
    }

    pub(crate) fn dead_letter() -> Self {
        Self(Disposition::DeadLetter)
    }
}

impl fmt::Display for Remedy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Disposition::Retry { after: Some(after) } => {
                write!(f, "do not acknowledge it; deliver it again in {after:?}")
            }
            Disposition::Retry { after: None } => {
                f.write_str("do not acknowledge it; deliver it again")
            }
            Disposition::DeadLetter => {
                f.write_str("do not acknowledge it; dead-letter it, a person has to decide")
            }
        }
    }
}

impl StdError for Remedy {}
