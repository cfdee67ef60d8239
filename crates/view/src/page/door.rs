//! The door of a page: how many connections come in at once, and how long they may be silent.

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

/// Connections at once. A page in a browser has a few; the simulation in the same process needs the other files that it may have open.
const MOST_CONNECTIONS: usize = 96;

/// How long connections may go on without what they are for.
#[derive(Clone, Copy)]
pub struct Deadlines {
    /// From when one comes in to the first byte of an answer, whatever is said meanwhile: who has not asked for anything by then only takes a place \[s\].
    pub answer: Duration,
    /// While no byte goes either way: whoever holds it then is gone, or is no browser \[s\].
    pub silence: Duration,
}

impl Deadlines {
    /// Those of browsers.
    pub const USUAL: Deadlines = Deadlines {
        answer: Duration::from_secs(10),
        silence: Duration::from_secs(120),
    };
}

/// Where connections come in; those that find no room wait outside.
pub struct Door {
    listener: TcpListener,
    deadlines: Deadlines,
    room: Arc<Semaphore>,
}

impl Door {
    /// The door at which this one listens.
    pub fn new(listener: TcpListener, deadlines: Deadlines) -> Door {
        Door {
            listener,
            deadlines,
            room: Arc::new(Semaphore::new(MOST_CONNECTIONS)),
        }
    }
}

impl Listener for Door {
    type Io = Visit;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (Visit, SocketAddr) {
        // Nobody closes the semaphore, so this is never an error.
        let place = Arc::clone(&self.room).acquire_owned().await.ok();
        let (stream, address) = Listener::accept(&mut self.listener).await;
        // Without it answers are as right, only later.
        stream.set_nodelay(true).ok();
        let Deadlines { answer, silence } = self.deadlines;
        let visit = Visit {
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

/// A connection that ends when it is silent for too long, or asks for nothing.
pub struct Visit {
    stream: TcpStream,
    /// How long it may be yet before the first answer; `None` once there is one.
    unanswered: Option<Pin<Box<Sleep>>>,
    /// How long it may be silent yet.
    silent: Pin<Box<Sleep>>,
    /// The same, from the last byte on \[s\].
    silence: Duration,
    _place: Option<OwnedSemaphorePermit>,
}

impl Visit {
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

impl AsyncRead for Visit {
    fn poll_read(mut self: Pin<&mut Self>, context: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let moved = Pin::new(&mut self.stream).poll_read(context, buffer);
        self.heard(context, moved)
    }
}

impl AsyncWrite for Visit {
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
