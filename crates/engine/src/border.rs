//! What of the grains of a domain feels copies of those of others: the rest need not wait for these.

use crate::fields::parts;
use crate::simulation::Simulation;
use seixo_device::Strided;
use seixo_sweeps::bodies::is_ghost;

/// Which parts of grains a pass is about.
#[derive(Clone, Copy)]
pub(crate) enum Which {
    All,
    Inner,
    AtBorder,
}

impl Which {
    /// Whether it is about this part, of parts of which these are at a border.
    pub fn means(self, at_border: &[bool], part: usize) -> bool {
        match self {
            Which::All => true,
            Which::Inner => !at_border[part],
            Which::AtBorder => at_border[part],
        }
    }
}

/// What parts of the grains of a domain feel copies of those of others, and what is known in the midst of a step.
#[derive(Default)]
pub(crate) struct Border {
    /// Whether each does.
    pub parts: Vec<bool>,
    /// Whether forces between all other grains are those of this step already.
    pub inner_is_done: bool,
    /// The margin with which pairs were picked in this step, if they were.
    pub margin: Option<f64>,
}

impl Simulation {
    /// Finds which parts of the grains of a domain feel copies, in the lists just made.
    pub(crate) fn find_border(&mut self) {
        let (n, member, pairs) = (self.fields.len(), &self.fields.member[..], &self.pairs);
        self.border.parts.resize(parts(n), false);
        let data = Strided {
            items: &mut self.border.parts[..],
            per_part: 1,
        };
        self.device.run(parts(n), data, |part, is_at_border: Strided<bool>| {
            let entries = pairs.part_row[part] as usize..pairs.part_row[part + 1] as usize;
            is_at_border.items[0] = pairs.neighbors[entries].iter().any(|&j| is_ghost(member[j as usize]));
        });
    }
}
