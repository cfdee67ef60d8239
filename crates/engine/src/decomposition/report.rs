//! The report of a subdomain to the simulation of the whole world.

use super::subdomain::Subdomain;
use crate::diffusion::Diffusion;
use crate::exchange::DecodeError;
use crate::fields::Fields;
use crate::flow::FluidReport;
use crate::guard::StepError;
use crate::measure::Work;
use crate::state::{Column, Sections, State};

/// Number of grains that migrated from a subdomain since the last observation, and bytes of its arrays.
const COUNTS: &str = "domain/counts";

/// Work time of a grain and of a fluid particle in a step, and how often planes moved since the last observation.
const WORK: &str = "domain/work";

/// The report of a subdomain.
pub struct Report {
    /// Its own grains in their current state.
    pub fields: Fields,
    /// Its contact histories, its ledger since the last observation, and its counters.
    pub reported: State,
    /// Its fluids, if they are requested.
    pub fluids: Option<FluidReport>,
}

impl Report {
    /// The report of a subdomain, whose ledger is reset, with or without its fluids.
    pub fn of(domain: &mut Subdomain, with_fluids: bool) -> Result<Report, StepError> {
        let mut reported = State::default();
        domain.local.save_contacts(&mut reported)?;
        save_sums(domain, &mut reported);
        let flow = domain.local.populations.flow.as_mut().filter(|_| with_fluids);
        let fluids = flow.map(|flow| flow.report_share());
        Ok(Report {
            fields: domain.own(),
            reported,
            fluids,
        })
    }

    /// The report of a subdomain, whose ledger is reset, without grains, contact histories between them, and fluids.
    pub fn without_grains(domain: &mut Subdomain) -> Report {
        let mut reported = State::default();
        save_sums(domain, &mut reported);
        Report {
            fields: Fields::default(),
            reported,
            fluids: None,
        }
    }

    /// Converts the report to named columns.
    pub fn into_state(mut self) -> State {
        self.fields.save(None, &mut self.reported);
        self.fluids.iter().for_each(|fluids| fluids.save(&mut self.reported));
        self.reported
    }

    /// Reads a report from named columns.
    pub fn from_state(mut reported: State) -> Result<Report, DecodeError> {
        let fields = Fields::load(&reported).map_err(|_| DecodeError)?;
        let fluids = FluidReport::load(&reported)?;
        reported
            .sections
            .retain(|(name, _)| !["grains/", "fluid/"].iter().any(|table| name.starts_with(table)));
        Ok(Report { fields, reported, fluids })
    }

    /// Work time of a grain and of a fluid particle in a step \[s\], and how often planes moved since the last observation.
    pub fn work(&self) -> Result<([f64; 2], u64), DecodeError> {
        match self.reported.get(WORK) {
            Some(Column::F64(numbers)) => match numbers[..] {
                [grain, fluid, moves] => Ok(([grain, fluid], moves as u64)),
                _ => Err(DecodeError),
            },
            _ => Err(DecodeError),
        }
    }

    /// Number of grains that migrated from the subdomain since the last observation, and bytes of its arrays.
    pub fn counts(&self) -> Result<[u64; 2], DecodeError> {
        match self.reported.get(COUNTS) {
            Some(Column::U64(counts)) => counts.as_slice().try_into().map_err(|_| DecodeError),
            _ => Err(DecodeError),
        }
    }
}

/// Saves the ledger of a subdomain, which is reset, and its counters.
fn save_sums(domain: &mut Subdomain, reported: &mut State) {
    domain.local.populations.save_ledger(reported);
    domain.local.populations.ledger.work = Work::default();
    reported.sections.extend(domain.local.populations.report_bonds().sections);
    domain.local.populations.save_wear(reported);
    domain.local.populations.walls.work.by_element.fill(0.0);
    domain.local.populations.save_scalar_ledgers(reported);
    domain.local.populations.diffusions.iter_mut().for_each(Diffusion::forget);
    let sent_away = std::mem::take(&mut domain.migrated);
    reported.put(COUNTS, Column::U64(vec![sent_away, domain.local.bytes()]));
    let of_fluids = domain.fluids.as_mut().map(|fluids| &mut fluids.work);
    let (fluid_cost, fluid_moves) = of_fluids.map_or((0.0, 0), |work| (work.cost(), work.take_moves()));
    let moves = domain.work.take_moves() + fluid_moves;
    reported.put(WORK, Column::F64(vec![domain.work.cost(), fluid_cost, moves as f64]));
    let (name, traffic) = domain.take_communication().into_section();
    reported.put(name, traffic);
}
