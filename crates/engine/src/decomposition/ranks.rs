//! Subdomains that are processes of their own, and the transport between them.

use super::report::Report;
use super::step_errors::{decode_step_error, encode_step_error};
use crate::exchange::{DecodeError, HaltReason, encode, read};
use crate::ranks::Ranks;
use crate::state::State;
use crate::world::Settings;
use seixo_transport::{Channels, Transport};

impl Ranks {
    /// The reports of all ranks, in their order.
    pub(super) fn all_reports(&mut self, own: Vec<Report>) -> Result<Vec<Report>, HaltReason> {
        let own = own.into_iter().next().map_or_else(State::default, Report::into_state);
        let messages = self.gather(encode(&own))?;
        let reports = messages.iter().map(|message| Report::from_state(read(message)?));
        Ok(reports.collect::<Result<Vec<Report>, DecodeError>>()?)
    }

    /// The cause of a halt of all ranks, which only some of them have: that of the first of these.
    pub(super) fn explained(&mut self, halt: HaltReason) -> HaltReason {
        let own = match &halt {
            HaltReason::Stopped(stop) => encode_step_error(stop),
            HaltReason::Elsewhere => Vec::new(),
            HaltReason::Lost(_) | HaltReason::Unreached(_) | HaltReason::Refused(_) => return halt,
        };
        let reported = match self.gather(own) {
            Ok(reported) => reported,
            Err(lost) => return lost.into(),
        };
        let first = reported.iter().find(|message| !message.is_empty());
        match first.and_then(|message| decode_step_error(message).ok()) {
            Some(stop) => HaltReason::Stopped(Box::new(stop)),
            None => halt,
        }
    }
}

impl Settings {
    /// Sets one subdomain per rank. As several ranks may share a machine, a rank uses no more of its cores than the settings allow.
    pub(crate) fn limit_to_ranks(&mut self) {
        if let Some(ranks) = &self.ranks {
            (self.domains, self.threads) = (ranks.ranks(), self.threads.max(1));
        }
    }

    /// The transports between subdomains, one for each subdomain of this process.
    pub(crate) fn transports(&self) -> Vec<Box<dyn Transport>> {
        match &self.ranks {
            Some(ranks) => vec![Box::new(ranks.clone())],
            None => Channels::all(self.domains)
                .into_iter()
                .map(|way| Box::new(way) as Box<dyn Transport>)
                .collect(),
        }
    }
}
