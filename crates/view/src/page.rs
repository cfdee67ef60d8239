//! A page for browsers on this machine, or at the other end of an SSH tunnel: what a show has to show, turned by hand, frame after frame.

mod door;
mod letter;
mod server;
mod wire;
mod wish;

use std::{
    net::{Ipv4Addr, SocketAddr},
    sync::Arc,
};

use axum::serve;
use rand::{TryRng, rngs::SysRng};
use tokio::{
    net::TcpListener,
    runtime::{Builder, Runtime},
};

use crate::{Snapshot, ViewError, show::Show};
pub(crate) use door::{Deadlines, Door};
pub(crate) use server::router;
#[cfg(test)]
pub(crate) use server::{Known, answer};
use wire::Around;
use wish::Wish;

/// A server on 127.0.0.1 that shows frames to browsers, for as long as it lives. It has threads of its own, answers only those who know its
/// address with the token in it, reads nothing but the show, and writes nothing.
pub struct Page {
    /// Always there until the page is dropped.
    runtime: Option<Runtime>,
    address: String,
}

impl Page {
    /// Opens a page of `show` at this port of 127.0.0.1, 0 = any that is free.
    ///
    /// # Errors
    /// If the port is taken or not allowed, or the system has no threads or random numbers to give.
    pub fn open(show: Arc<dyn Show>, port: u16) -> Result<Page, ViewError> {
        let failed = |source| ViewError::Listen {
            address: SocketAddr::from((Ipv4Addr::LOCALHOST, port)).to_string(),
            source,
        };
        let token = token().map_err(&failed)?;
        let listener = std::net::TcpListener::bind((Ipv4Addr::LOCALHOST, port)).map_err(&failed)?;
        listener.set_nonblocking(true).map_err(&failed)?;
        let address = format!("http://{}/?token={token}", listener.local_addr().map_err(&failed)?);
        let runtime = Builder::new_multi_thread()
            .worker_threads(2)
            .max_blocking_threads(server::MOST_CLIENTS)
            .thread_name("page")
            .enable_all()
            .build()
            .map_err(&failed)?;
        let listener = {
            let _inside = runtime.enter();
            TcpListener::from_std(listener).map_err(&failed)?
        };
        let router = router(show, &token);
        runtime.spawn(async move { serve(Door::new(listener, Deadlines::USUAL), router).await });
        Ok(Page {
            runtime: Some(runtime),
            address,
        })
    }

    /// The address to open in a browser: `http://127.0.0.1:PORT/?token=TOKEN`. Whoever knows it may look.
    pub fn address(&self) -> String {
        self.address.clone()
    }
}

impl Drop for Page {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

/// 128 random bits in hexadecimal.
fn token() -> std::io::Result<String> {
    let mut bits = [0; 16];
    SysRng
        .try_fill_bytes(&mut bits)
        .map_err(|cause| std::io::Error::other(cause.to_string()))?;
    Ok(bits.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// Bytes that a page is sent of a snapshot when it has seen none before.
///
/// # Errors
/// If its spheres cannot be brought here.
pub fn bytes_of_frame(snapshot: &Snapshot) -> Result<usize, ViewError> {
    Ok(wire::encode(snapshot.here()?, &Wish::default(), &Around::default(), None).0.len())
}
