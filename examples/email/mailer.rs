//! The client of the mail provider, and what its errors say about the mail.

use std::{io, time::Duration};

use inbox_sqlx::Effect;
use tokio::{
    io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader},
    net::TcpStream,
    time::timeout,
};

use crate::{
    process,
    protocol::{Call, Reply},
    receipt::Receipt,
};

/// How long the provider may take. Well below the lease.
const PATIENCE: Duration = Duration::from_millis(300);

/// Why a mail was not sent, as far as we know.
#[derive(Debug, thiserror::Error)]
pub(crate) enum MailError {
    #[error("the provider cannot be reached")]
    Unreachable(#[source] io::Error),
    #[error("the provider is busy and sent nothing")]
    Refused,
    #[error("the address does not exist")]
    Rejected,
    #[error("the provider did not answer in time")]
    TimedOut,
    #[error("the connection broke off before the answer")]
    NoAnswer(#[source] io::Error),
    #[error(transparent)]
    Inbox(#[from] inbox_sqlx::Error),
}

impl MailError {
    /// Only what is certain: after a timeout, or a lost connection, the mail may be on its way.
    pub(crate) fn effect(&self) -> Effect {
        match self {
            Self::Unreachable(_) | Self::Refused => Effect::NotHappened,
            Self::Rejected => Effect::Rejected,
            Self::TimedOut | Self::NoAnswer(_) | Self::Inbox(_) => Effect::Unknown,
        }
    }
}

/// The client.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Mailer {
    pub(crate) port: u16,
}

impl Mailer {
    /// Asks the provider to send a mail.
    pub(crate) async fn send(
        self,
        receipt: &Receipt,
        idempotency_key: &str,
    ) -> Result<(), MailError> {
        let stream = TcpStream::connect(("127.0.0.1", self.port))
            .await
            .map_err(MailError::Unreachable)?;
        let call = Call {
            idempotency_key: idempotency_key.to_owned(),
            receipt: receipt.clone(),
        };
        // From here on it may have been sent, unless the provider says that it was not.
        let reply = timeout(PATIENCE, ask(stream, &call))
            .await
            .map_err(|_| MailError::TimedOut)?;
        match reply.map_err(MailError::NoAnswer)? {
            Reply::Sent => Ok(()),
            Reply::Refused => Err(MailError::Refused),
            Reply::Rejected => Err(MailError::Rejected),
        }
    }
}

async fn ask(mut stream: TcpStream, call: &Call) -> io::Result<Reply> {
    stream.write_all(process::line(call)?.as_bytes()).await?;
    let mut line = String::new();
    BufReader::new(stream).read_line(&mut line).await?;
    Ok(serde_json::from_str(&line)?)
}
