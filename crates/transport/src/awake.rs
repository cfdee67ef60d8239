//! Waits that keep their thread awake for a short time.
//!
//! A thread that sleeps takes about 50 µs to run again, in a virtual machine more. Domains on GPUs wait several times at each rebuild of their lists, and
//! most answers come sooner than that.
//!
//! ```
//! use std::sync::mpsc::channel;
//! let (sender, receiver) = channel();
//! assert_eq!(seixo_transport::receive_awake::<u32>(&receiver), None);
//! sender.send(7).unwrap();
//! assert_eq!(seixo_transport::receive_awake(&receiver), Some(7));
//! ```

use std::sync::mpsc::{Receiver, TryRecvError};
use std::thread;
use std::time::{Duration, Instant};

/// Time for which a thread stays awake. Longer waits are rare, and then a wake-up is a small part of them.
const AWAKE: Duration = Duration::from_micros(300);

/// The next item, if it comes soon; otherwise none, and the caller goes on with a wait that lets its thread sleep. Meanwhile other threads may use the
/// core. Without any sender there is none at once.
pub fn receive_awake<T>(receiver: &Receiver<T>) -> Option<T> {
    let begun = Instant::now();
    loop {
        match receiver.try_recv() {
            Ok(item) => return Some(item),
            Err(TryRecvError::Disconnected) => return None,
            Err(TryRecvError::Empty) => {}
        }
        if begun.elapsed() > AWAKE {
            return None;
        }
        thread::yield_now();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc::channel;

    #[test]
    fn nothing_is_awaited_from_a_channel_without_senders() {
        const WAITS: u32 = 1000;
        let (sender, receiver) = channel::<u32>();
        drop(sender);
        let begun = Instant::now();
        for _ in 0..WAITS {
            assert_eq!(receive_awake(&receiver), None);
        }
        assert!(begun.elapsed() < WAITS * AWAKE / 2, "{:?}", begun.elapsed());
    }
}
