//! Finds the parts of the grains of a subdomain that interact with ghost particles.

use crate::fields::parts;
use crate::populations::Populations;
use seixo_device::Strided;
use seixo_sweeps::bodies::is_ghost;

impl Populations {
    /// Finds the parts of the grains of a subdomain that interact with ghost particles, from the new lists.
    pub(crate) fn find_border(&mut self) {
        let (n, member, pairs) = (self.grains.fields.len(), &self.grains.fields.member[..], &self.grains.pairs);
        self.grains.border.parts.resize(parts(n), false);
        let data = Strided {
            items: &mut self.grains.border.parts[..],
            per_part: 1,
        };
        self.context.device.run(parts(n), data, |part, is_at_border: Strided<bool>| {
            let entries = pairs.part_row[part] as usize..pairs.part_row[part + 1] as usize;
            is_at_border.items[0] = pairs.neighbors[entries].iter().any(|&j| is_ghost(member[j as usize]));
        });
    }
}
