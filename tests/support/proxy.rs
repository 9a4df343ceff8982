//! A TCP proxy between a test and its database, which counts flights and breaks connections at a chosen moment.
//!
//! It knows nothing of the protocol, so it serves every database.
//!
//! **A client flight** is a burst of client bytes after the server has spoken: per connection, the counter goes up
//! when the client sends and the last to have spoken was the server (or nobody). Packets do not matter, so the count is
//! exact for a client that waits for each answer. For one that sends more without waiting, set a delay: what arrives
//! while a burst is held back belongs to it, as on a network where the answer takes that long. Connecting costs flights
//! too, and so does the farewell; a test takes the difference of two readings.

use std::io;
use std::net::Ipv4Addr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::{JoinHandle, JoinSet};
use tokio::time::{sleep, timeout};
use url::Url;

/// Silence of this length means that nobody has anything more to say.
const QUIET: Duration = Duration::from_millis(150);

/// What happens to the next client bytes that contain the armed text, once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fault {
    /// They are lost, with everything sent together with them, and the connection ends.
    CutBefore(Ending),
    /// The server gets them and answers; the answer is lost, and the connection ends.
    CutAfter(Ending),
    /// They are held back, and nothing moves on any connection, until [`Proxy::resume`] or [`Proxy::cut`].
    Stall,
}

/// How a connection ends, on both sides.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ending {
    /// As when a host vanishes: "connection reset by peer".
    Reset,
    /// As when a process ends: end of file.
    Close,
}

/// Forwards to one server until it is dropped, which ends its connections and refuses new ones: "database down".
#[derive(Debug)]
pub(crate) struct Proxy {
    url: String,
    state: Arc<State>,
    accepting: JoinHandle<()>,
}

#[derive(Debug)]
struct State {
    flights: AtomicUsize,
    connections: AtomicUsize,
    armed: Mutex<Option<(Fault, Vec<u8>)>>,
    delay: Mutex<Duration>,
    last_moved: Mutex<Instant>,
    fired: watch::Sender<bool>,
    stalled: watch::Sender<bool>,
    cut: watch::Sender<()>,
}

impl Proxy {
    /// Listens on a port of its own and forwards to the server of `database_url`.
    pub(crate) async fn start(database_url: &str) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        let mut url = Url::parse(database_url).expect("the URL of a database");
        let server = (
            url.host_str().expect("a host in the URL").to_owned(),
            url.port().expect("a port in the URL"),
        );
        url.set_host(Some("127.0.0.1")).unwrap();
        url.set_port(Some(listener.local_addr().unwrap().port()))
            .unwrap();

        let state = Arc::new(State {
            flights: AtomicUsize::new(0),
            connections: AtomicUsize::new(0),
            armed: Mutex::new(None),
            delay: Mutex::new(Duration::ZERO),
            last_moved: Mutex::new(Instant::now()),
            fired: watch::Sender::new(false),
            stalled: watch::Sender::new(false),
            cut: watch::Sender::new(()),
        });
        let accepting = tokio::spawn(accept(listener, server, Arc::clone(&state)));
        Self {
            url: url.into(),
            state,
            accepting,
        }
    }

    /// The URL that was given, by way of this proxy.
    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    /// Client flights so far, on all connections.
    pub(crate) fn flights(&self) -> usize {
        self.state.flights.load(Ordering::SeqCst)
    }

    /// The same, once nothing has moved for a while: pools ping and reset connections in the background.
    pub(crate) async fn quiet_flights(&self) -> usize {
        loop {
            let silence = lock(&self.state.last_moved).elapsed();
            let Some(rest) = QUIET.checked_sub(silence) else {
                return self.flights();
            };
            sleep(rest).await;
        }
    }

    /// Connections accepted so far.
    pub(crate) fn connections(&self) -> usize {
        self.state.connections.load(Ordering::SeqCst)
    }

    /// Lets `fault` happen to the next client bytes that contain `text`, upper or lower case.
    pub(crate) fn arm(&self, fault: Fault, text: &str) {
        self.state.fired.send_replace(false);
        *lock(&self.state.armed) = Some((fault, text.as_bytes().to_vec()));
    }

    /// Waits until the armed fault has happened.
    pub(crate) async fn fired(&self) {
        let mut fired = self.state.fired.subscribe();
        fired
            .wait_for(|fired| *fired)
            .await
            .expect("the sender lives in `self`");
    }

    /// Holds every burst of the client back for this long, as a slow network does.
    pub(crate) fn set_delay(&self, delay: Duration) {
        *lock(&self.state.delay) = delay;
    }

    /// From now on nothing moves, in either direction, and nobody is told.
    pub(crate) fn stall(&self) {
        self.state.stalled.send_replace(true);
    }

    /// What was held back moves on.
    pub(crate) fn resume(&self) {
        self.state.stalled.send_replace(false);
    }

    /// Resets every connection there is, a stalled one too; new ones are accepted.
    pub(crate) fn cut(&self) {
        self.state.cut.send_replace(());
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}

async fn accept(listener: TcpListener, server: (String, u16), state: Arc<State>) {
    // Aborts its tasks, and so closes their sockets, when this future is dropped.
    let mut connections = JoinSet::new();
    loop {
        let (client, _) = listener.accept().await.unwrap();
        state.connections.fetch_add(1, Ordering::SeqCst);
        let mut cut = state.cut.subscribe();
        let (server, state) = (server.clone(), Arc::clone(&state));
        connections.spawn(async move {
            // Without a server behind it, a proxy can only hang up.
            let Ok(server) = TcpStream::connect(server).await else {
                return;
            };
            let mut line = Line {
                client,
                server,
                last: Side::Server,
            };
            let ending = tokio::select! {
                ending = line.carry(&state) => ending.unwrap_or(Ending::Close),
                _ = cut.changed() => Ending::Reset,
            };
            line.end(ending);
        });
    }
}

/// One connection of the client, and the one to the server that belongs to it.
struct Line {
    client: TcpStream,
    server: TcpStream,
    /// Who has spoken last.
    last: Side,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    Client,
    Server,
}

impl Line {
    /// Forwards until somebody hangs up or a fault ends it.
    async fn carry(&mut self, state: &State) -> io::Result<Ending> {
        self.client.set_nodelay(true)?;
        self.server.set_nodelay(true)?;
        let mut stalled = state.stalled.subscribe();
        // Large enough for what a client sends at once, so that no text to look for is split.
        let mut from_client = Vec::with_capacity(1 << 16);
        let mut from_server = Vec::with_capacity(1 << 16);
        loop {
            stalled
                .wait_for(|stalled| !stalled)
                .await
                .map_err(io::Error::other)?;
            let (speaker, count) = tokio::select! {
                biased;    // an answer that is here already came before what the client says next
                count = self.server.read_buf(&mut from_server) => (Side::Server, count?),
                count = self.client.read_buf(&mut from_client) => (Side::Client, count?),
            };
            if count == 0 {
                return Ok(Ending::Close);
            }
            *lock(&state.last_moved) = Instant::now();
            let turn = speaker != self.last;
            self.last = speaker;
            if speaker == Side::Server {
                stalled
                    .wait_for(|stalled| !stalled)
                    .await
                    .map_err(io::Error::other)?;
                self.client.write_all(&from_server).await?;
                from_server.clear();
                continue;
            }
            if turn {
                state.flights.fetch_add(1, Ordering::SeqCst);
            }
            let delay = *lock(&state.delay);
            if !delay.is_zero() {
                sleep(delay).await;
                while self
                    .client
                    .try_read_buf(&mut from_client)
                    .is_ok_and(|count| count > 0)
                {}
            }
            match state.fault_in(&from_client) {
                Some(Fault::CutBefore(ending)) => {
                    state.fired.send_replace(true);
                    return Ok(ending);
                }
                Some(Fault::CutAfter(ending)) => {
                    self.server.write_all(&from_client).await?;
                    self.swallow_answer().await?;
                    state.fired.send_replace(true);
                    return Ok(ending);
                }
                Some(Fault::Stall) => {
                    state.stalled.send_replace(true);
                    state.fired.send_replace(true);
                }
                None => {}
            }
            stalled
                .wait_for(|stalled| !stalled)
                .await
                .map_err(io::Error::other)?;
            self.server.write_all(&from_client).await?;
            from_client.clear();
        }
    }

    /// Several statements in one message are answered one by one: the whole answer is there when silence follows it.
    async fn swallow_answer(&mut self) -> io::Result<()> {
        let mut answer = [0; 4096];
        let mut count = self.server.read(&mut answer).await?;
        while count > 0 {
            match timeout(QUIET, self.server.read(&mut answer)).await {
                Ok(more) => count = more?,
                Err(_) => break,
            }
        }
        Ok(())
    }

    fn end(self, ending: Ending) {
        if ending == Ending::Reset {
            // With nothing to linger for, closing a socket sends RST instead of FIN.
            self.client.set_zero_linger().ok();
            self.server.set_zero_linger().ok();
        }
    }
}

impl State {
    /// Takes the armed fault, if these bytes contain its text.
    fn fault_in(&self, bytes: &[u8]) -> Option<Fault> {
        let mut armed = lock(&self.armed);
        let (fault, text) = armed.as_ref()?;
        let hit = bytes
            .windows(text.len())
            .any(|part| part.eq_ignore_ascii_case(text));
        let fault = hit.then_some(*fault)?;
        *armed = None;
        Some(fault)
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().expect("no panic while it is held")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A server that answers whatever arrives with `ok`, and hands on what it got; it keeps one connection.
    async fn start() -> (Proxy, watch::Receiver<String>, TcpStream) {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        let address = listener.local_addr().unwrap();
        let (got, gets) = watch::channel(String::new());
        tokio::spawn(async move {
            let (mut connection, _) = listener.accept().await.unwrap();
            let mut bytes = [0; 1024];
            while let Ok(count @ 1..) = connection.read(&mut bytes).await {
                let text = String::from_utf8_lossy(&bytes[..count]).into_owned();
                got.send_modify(|all| all.push_str(&text));
                connection.write_all(b"ok").await.unwrap();
            }
        });
        let proxy = Proxy::start(&format!("echo://{address}/")).await;
        let url = Url::parse(proxy.url()).unwrap();
        let client = TcpStream::connect((url.host_str().unwrap(), url.port().unwrap()))
            .await
            .unwrap();
        (proxy, gets, client)
    }

    async fn ask(client: &mut TcpStream, question: &str) -> io::Result<String> {
        client.write_all(question.as_bytes()).await?;
        let mut answer = [0; 2];
        client.read_exact(&mut answer).await?;
        Ok(String::from_utf8_lossy(&answer).into_owned())
    }

    #[tokio::test]
    async fn a_flight_is_a_question_that_waits_for_its_answer() {
        let (proxy, _gets, mut client) = start().await;
        for flights in 1..=3 {
            assert_eq!(ask(&mut client, "question").await.unwrap(), "ok");
            assert_eq!(proxy.flights(), flights);
        }
        assert_eq!(proxy.quiet_flights().await, 3);
        assert_eq!(proxy.connections(), 1);
    }

    #[tokio::test]
    async fn what_is_sent_without_waiting_is_one_flight() {
        let (proxy, mut gets, mut client) = start().await;
        proxy.set_delay(Duration::from_millis(200));
        for part in ["one ", "two ", "three"] {
            client.write_all(part.as_bytes()).await.unwrap();
            sleep(Duration::from_millis(5)).await;
        }
        gets.wait_for(|got| got == "one two three").await.unwrap();
        assert_eq!(proxy.quiet_flights().await, 1);
    }

    #[tokio::test]
    async fn cut_before_keeps_the_message_from_the_server() {
        for (ending, seen) in [
            (Ending::Reset, io::ErrorKind::ConnectionReset),
            (Ending::Close, io::ErrorKind::UnexpectedEof),
        ] {
            let (proxy, mut gets, mut client) = start().await;
            proxy.arm(Fault::CutBefore(ending), "commit");
            ask(&mut client, "insert").await.unwrap();
            let error = ask(&mut client, "COMMIT").await.unwrap_err();
            proxy.fired().await;
            assert_eq!(error.kind(), seen);
            // The server ends when its connection does, and with it the channel.
            while gets.changed().await.is_ok() {}
            assert_eq!(*gets.borrow(), "insert");
        }
    }

    #[tokio::test]
    async fn cut_after_keeps_the_answer_from_the_client() {
        for (ending, seen) in [
            (Ending::Reset, io::ErrorKind::ConnectionReset),
            (Ending::Close, io::ErrorKind::UnexpectedEof),
        ] {
            let (proxy, gets, mut client) = start().await;
            proxy.arm(Fault::CutAfter(ending), "commit");
            let error = ask(&mut client, "commit").await.unwrap_err();
            proxy.fired().await;
            assert_eq!(error.kind(), seen);
            assert_eq!(*gets.borrow(), "commit");
        }
    }

    #[tokio::test]
    async fn a_stalled_message_arrives_after_resume() {
        let (proxy, gets, mut client) = start().await;
        proxy.arm(Fault::Stall, "commit");
        let (answer, ()) = tokio::join!(ask(&mut client, "commit"), async {
            proxy.fired().await;
            sleep(Duration::from_millis(50)).await;
            assert_eq!(*gets.borrow(), "");
            proxy.resume();
        });
        assert_eq!(answer.unwrap(), "ok");
    }

    #[tokio::test]
    async fn cut_ends_a_stalled_connection() {
        let (proxy, _gets, mut client) = start().await;
        proxy.arm(Fault::Stall, "commit");
        let (answer, ()) = tokio::join!(ask(&mut client, "commit"), async {
            proxy.fired().await;
            proxy.cut();
        });
        assert_eq!(answer.unwrap_err().kind(), io::ErrorKind::ConnectionReset);
    }

    #[tokio::test]
    async fn a_dropped_proxy_refuses_connections() {
        let (proxy, _gets, mut client) = start().await;
        ask(&mut client, "hello").await.unwrap();
        let address = client.peer_addr().unwrap();
        drop(proxy);
        ask(&mut client, "hello").await.unwrap_err();
        assert_eq!(
            TcpStream::connect(address).await.unwrap_err().kind(),
            io::ErrorKind::ConnectionRefused
        );
    }
}
