//! What a domain tells whoever looks at the whole.

use super::letters::Illegible;
use super::subdomain::Subdomain;
use crate::fields::Fields;
use crate::flow::Share;
use crate::guard::Stop;
use crate::measure::Work;
use crate::state::{Column, Sections, State};

/// How many grains a domain sent to others since somebody looked, and how many bytes its arrays hold.
const COUNTS: &str = "domain/counts";

/// What a domain tells.
pub struct Report {
    /// Its grains, as they stand.
    pub fields: Fields,
    /// What their contacts remember, what was booked since somebody looked, and what it counts.
    pub told: State,
    /// Its fluids, where they are asked for.
    pub fluids: Option<Share>,
}

impl Report {
    /// That of a domain, whose books begin anew, with its fluids or without.
    pub fn of(domain: &mut Subdomain, with_fluids: bool) -> Result<Report, Stop> {
        let mut told = State::default();
        domain.simulation.save_contacts(&mut told)?;
        domain.simulation.save_books(&mut told);
        domain.simulation.work = Work::default();
        told.sections.extend(domain.simulation.report_bonds().sections);
        domain.simulation.save_wear(&mut told);
        domain.simulation.walls.work.by_element.fill(0.0);
        domain.simulation.save_heat(&mut told);
        if let Some(heat) = &mut domain.simulation.heat {
            heat.forget();
        }
        let sent_away = std::mem::take(&mut domain.sent_away);
        told.put(COUNTS, Column::U64(vec![sent_away, domain.simulation.bytes()]));
        let (name, traffic) = domain.take_traffic().told();
        told.put(name, traffic);
        let flow = domain.simulation.flow.as_mut().filter(|_| with_fluids);
        let fluids = flow.map(|flow| flow.give_share());
        Ok(Report {
            fields: domain.own(),
            told,
            fluids,
        })
    }

    /// As named columns.
    pub fn into_state(mut self) -> State {
        self.fields.save(&mut self.told);
        self.fluids.iter().for_each(|fluids| fluids.save(&mut self.told));
        self.told
    }

    /// From named columns.
    pub fn from_state(mut told: State) -> Result<Report, Illegible> {
        let fields = Fields::load(&told).map_err(|_| Illegible)?;
        let fluids = Share::load(&told)?;
        told.sections
            .retain(|(name, _)| !["grains/", "fluid/"].iter().any(|table| name.starts_with(table)));
        Ok(Report { fields, told, fluids })
    }

    /// How many grains the domain sent to others since somebody looked, and how many bytes its arrays hold.
    pub fn counts(&self) -> Result<[u64; 2], Illegible> {
        match self.told.get(COUNTS) {
            Some(Column::U64(counts)) => counts.as_slice().try_into().map_err(|_| Illegible),
            _ => Err(Illegible),
        }
    }
}
