//! Limits for connections to a page: their number, and how long they may be silent.

use std::{
    io,
    net::SocketAddr,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};

use axum::serve::Listener;
use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    net::{TcpListener, TcpStream},
    sync::{OwnedSemaphorePermit, Semaphore},
    time::{Instant, Sleep, sleep},
};

/// Most connections at once. A page in a browser has a few; the simulation in the same process needs the other file descriptors.
const MAX_CONNECTIONS: usize = 96;

/// Time limits of connections.
#[derive(Clone, Copy)]
pub struct ConnectionTimeouts {
    /// From the connection to the first byte of an answer, whatever arrives meanwhile. A client without a request by then only occupies a place
    /// \[s\].
    pub answer: Duration,
    /// Without a byte in either direction. By then the client is gone, or is not a browser \[s\].
    pub silence: Duration,
}

impl ConnectionTimeouts {
    /// Limits for browsers.
    pub const DEFAULT: ConnectionTimeouts = ConnectionTimeouts {
        answer: Duration::from_secs(10),
        silence: Duration::from_secs(120),
    };
}

/// Listener with a limited number of connections; further ones wait.
pub struct ConnectionLimits {
    listener: TcpListener,
    deadlines: ConnectionTimeouts,
    room: Arc<Semaphore>,
}

impl ConnectionLimits {
    /// Limits the connections of this listener.
    pub fn new(listener: TcpListener, deadlines: ConnectionTimeouts) -> ConnectionLimits {
        ConnectionLimits {
            listener,
            deadlines,
            room: Arc::new(Semaphore::new(MAX_CONNECTIONS)),
        }
    }
}

impl Listener for ConnectionLimits {
    type Io = LimitedConnection;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (LimitedConnection, SocketAddr) {
        // The semaphore is never closed, so this never fails.
        let place = Arc::clone(&self.room).acquire_owned().await.ok();
        let (stream, address) = Listener::accept(&mut self.listener).await;
        // If this fails, answers are still correct, only later.
        stream.set_nodelay(true).ok();
        let ConnectionTimeouts { answer, silence } = self.deadlines;
        let visit = LimitedConnection {
            stream,
            unanswered: Some(Box::pin(sleep(answer))),
            silent: Box::pin(sleep(silence)),
            silence,
            _place: place,
        };
        (visit, address)
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }
}

/// A connection that ends if it is silent for too long or sends no request.
pub struct LimitedConnection {
    stream: TcpStream,
    /// Time left until the first answer; `None` after it.
    unanswered: Option<Pin<Box<Sleep>>>,
    /// Time left until the silence is too long.
    silent: Pin<Box<Sleep>>,
    /// Longest silence after each byte \[s\].
    silence: Duration,
    _place: Option<OwnedSemaphorePermit>,
}

impl LimitedConnection {
    fn heard<T>(&mut self, context: &mut Context<'_>, moved: Poll<io::Result<T>>) -> Poll<io::Result<T>> {
        let late = |()| Err(io::Error::from(io::ErrorKind::TimedOut));
        if let Some(unanswered) = &mut self.unanswered
            && let Poll::Ready(over) = unanswered.as_mut().poll(context)
        {
            return Poll::Ready(late(over));
        }
        if moved.is_ready() {
            self.silent.as_mut().reset(Instant::now() + self.silence);
            return moved;
        }
        self.silent.as_mut().poll(context).map(late)
    }
}

impl AsyncRead for LimitedConnection {
    fn poll_read(mut self: Pin<&mut Self>, context: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let moved = Pin::new(&mut self.stream).poll_read(context, buffer);
        self.heard(context, moved)
    }
}

impl AsyncWrite for LimitedConnection {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let moved = Pin::new(&mut self.stream).poll_write(context, bytes);
        if let Poll::Ready(Ok(1..)) = moved {
            self.unanswered = None;
        }
        self.heard(context, moved)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}
