//! A page for browsers on this machine, or at the other end of an SSH tunnel. It shows the frames of a source in 3D.

mod connection_limits;
mod frame_encoder;
mod frame_request;
mod frame_writer;
mod server;

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

use crate::{Snapshot, ViewError, frame_source::FrameSource};
pub(crate) use connection_limits::{ConnectionLimits, ConnectionTimeouts};
use frame_encoder::FrameContext;
use frame_request::FrameRequest;
pub(crate) use server::router;
#[cfg(test)]
pub(crate) use server::{PageOptions, answer};

/// A server on 127.0.0.1 that shows frames to browsers while it exists. It has its own threads, answers only requests with its token, reads only the
/// frame source, and writes nothing.
pub struct Page {
    /// `Some` until the drop.
    runtime: Option<Runtime>,
    address: String,
}

impl Page {
    /// Opens a page of `show` at this port of 127.0.0.1; 0 = any free port.
    ///
    /// # Errors
    /// If the port is in use or not allowed, or the system cannot provide threads or random numbers.
    pub fn open(show: Arc<dyn FrameSource>, port: u16) -> Result<Page, ViewError> {
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
            .max_blocking_threads(server::MAX_CLIENTS)
            .thread_name("page")
            .enable_all()
            .build()
            .map_err(&failed)?;
        let listener = {
            let _inside = runtime.enter();
            TcpListener::from_std(listener).map_err(&failed)?
        };
        let router = router(show, &token);
        runtime.spawn(async move { serve(ConnectionLimits::new(listener, ConnectionTimeouts::DEFAULT), router).await });
        Ok(Page {
            runtime: Some(runtime),
            address,
        })
    }

    /// The address to open in a browser: `http://127.0.0.1:PORT/?token=TOKEN`. Anyone with this address may view the page.
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

/// Size of the message for a snapshot to a page that has seen none before \[bytes\].
///
/// # Errors
/// If its spheres cannot be downloaded.
pub fn bytes_of_frame(snapshot: &Snapshot) -> Result<usize, ViewError> {
    Ok(
        frame_encoder::encode(snapshot.here()?, &FrameRequest::default(), &FrameContext::default(), None)
            .0
            .len(),
    )
}
