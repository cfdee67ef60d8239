//! The grains of a domain, with their neighbor lists and contacts.

use crate::border::BorderParts;
use crate::broad_phase::BoundingVolumes;
use crate::contact_list::ContactList;
use crate::fields::Fields;
use crate::prepared_grains::PreparedGrains;
use crate::search::{Cells, Pairs, SkinTuning};
use crate::state::{Column, PendingColumns, Sections, State};
use crate::world::ExpectedGrains;
use seixo_sweeps::contact::PowerSums;
use seixo_sweeps::layout::EXTENDED_HISTORY_STRIDE;
use seixo_sweeps::motion::MotionReport;
use std::collections::BTreeMap;

/// The grains of a domain, with their neighbor lists and contacts.
pub(crate) struct GrainState {
    pub fields: Fields,
    /// Whether a GPU steps them: then fields, lists and contacts here are those of the last observation.
    pub are_on_gpu: bool,
    /// Whether some grains are ghost particles, which [`Fields::member`] marks.
    pub has_ghosts: bool,
    /// In a subdomain, the parts of its own grains that ghost particles act on.
    pub border: BorderParts,
    pub cells: Cells,
    /// Present unless the skin of the lists is given.
    pub skin_tuning: Option<SkinTuning>,
    pub pairs: Pairs,
    /// Whether only the subdomains on GPUs that own the observed grains have their contacts; then there are no pairs here.
    pub are_pairs_elsewhere: bool,
    /// Bodies that each body may contact until the next rebuild.
    pub bounding_volumes: BoundingVolumes,
    /// Number of rebuilds of the neighbor lists.
    pub rebuilds: u64,
    /// Contact history of the second grain of each pair, where it is not the opposite of that of the first.
    pub of_second: Vec<(u32, u32, [f64; EXTENDED_HISTORY_STRIDE])>,
    /// One report for each part of the grains.
    pub motion_reports: Vec<MotionReport<f64>>,
    pub contact_power_sums: Vec<PowerSums<f64>>,
    /// Contacts of a step, if forces are assembled by a list of contacts.
    pub contact_list: ContactList,
    pub wall_power_sums: Vec<PowerSums<f64>>,
    /// Whether grains were moved and their forces are not yet computed.
    pub forces_pending: bool,
    /// Kinds of grains that may be added.
    pub expected: Vec<ExpectedGrains>,
    /// What grains may come. The whole simulation has them.
    pub prepared: PreparedGrains,
    /// Smallest id above all that were used.
    pub next_id: u64,
    /// Masses that are given \[kg\], by ids. The whole simulation has them for changes between two steps; elsewhere the masses in the fields suffice.
    pub given_masses: BTreeMap<u32, f64>,
    pub disabled: DisabledGrains,
}

impl GrainState {
    /// No grains yet, with empty lists.
    pub fn new(fields: Fields, cells: Cells, expected: Vec<ExpectedGrains>, next_id: u64) -> GrainState {
        GrainState {
            fields,
            are_on_gpu: false,
            has_ghosts: false,
            border: BorderParts::default(),
            cells,
            skin_tuning: None,
            pairs: Pairs::default(),
            are_pairs_elsewhere: false,
            bounding_volumes: BoundingVolumes::default(),
            rebuilds: 0,
            of_second: Vec::new(),
            motion_reports: Vec::new(),
            contact_power_sums: Vec::new(),
            contact_list: ContactList::default(),
            wall_power_sums: Vec::new(),
            forces_pending: false,
            expected,
            prepared: PreparedGrains::default(),
            next_id,
            given_masses: BTreeMap::new(),
            disabled: DisabledGrains::default(),
        }
    }
}

/// Grains of disabled groups, which take no part in the simulation.
#[derive(Clone, Default)]
pub(crate) struct DisabledGrains {
    /// Their fields, as those of free grains without forces; velocities at half steps are those at whole steps.
    pub fields: Fields,
    /// Bonds between grains that were disabled together, by their indices in the table of the bond network.
    pub bonds: Vec<u32>,
}

/// Start of the names of their sections in a checkpoint.
const DISABLED: &str = "disabled/";

impl DisabledGrains {
    /// Copies everything into a checkpoint; without disabled grains there is nothing to copy.
    pub fn save(&self, to: &mut dyn Sections) {
        if self.fields.len() == 0 {
            return;
        }
        self.fields.save(None, &mut SectionsOfDisabled(to));
        to.put(&format!("{DISABLED}bonds"), Column::U32(self.bonds.clone()));
    }

    /// Reads everything from a checkpoint; `Err` contains the name of a section that is missing or of the wrong size.
    pub fn load(state: &State) -> Result<DisabledGrains, String> {
        let named = |(name, column): &(String, Column)| Some((name.strip_prefix(DISABLED)?.to_owned(), column.clone()));
        let own = State {
            sections: state.sections.iter().filter_map(named).collect(),
        };
        if own.sections.is_empty() {
            return Ok(DisabledGrains::default());
        }
        let Some(Column::U32(bonds)) = own.get("bonds") else {
            return Err(format!("{DISABLED}bonds"));
        };
        Ok(DisabledGrains {
            fields: Fields::load(&own).map_err(|name| format!("{DISABLED}{name}"))?,
            bonds: bonds.clone(),
        })
    }
}

/// Sections of a checkpoint under the names of those of disabled grains.
struct SectionsOfDisabled<'a>(&'a mut dyn Sections);

impl Sections for SectionsOfDisabled<'_> {
    fn put(&mut self, name: &str, column: Column) {
        self.0.put(&format!("{DISABLED}{name}"), column);
    }

    fn put_pending(&mut self, columns: PendingColumns) {
        let all: &mut dyn Sections = self;
        columns(all);
    }
}
