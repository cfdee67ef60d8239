//! Particle data of grains for previews.

use crate::fields::{PART, parts};
use crate::populations::Populations;
use crate::preview::{ColorScalar, Preview};
use crate::world::{Vec3, vector};
use seixo_device::Strided;
use seixo_sweeps::layout::{RECORD, load};

impl Populations {
    pub(crate) fn preview_grains(&self, origin: Vec3, shade: ColorScalar) -> Preview {
        let (fields, origin) = (&self.grains.fields, vector(origin));
        let grains = fields.len();
        let mut preview = Preview {
            id: fields.id.clone(),
            places: vec![[0.0; 4]; grains],
            values: vec![0.0; grains],
            grains,
        };
        let data = (
            Strided {
                items: &mut preview.places,
                per_part: PART,
            },
            Strided {
                items: &mut preview.values,
                per_part: PART,
            },
        );
        let see = |part: usize, (places, values): (Strided<[f32; 4]>, Strided<f32>)| {
            for (k, (place, value)) in places.items.iter_mut().zip(values.items).enumerate() {
                let at = (part * PART + k) * RECORD;
                let from = load(&fields.position, at).minus(&origin);
                let radius = fields.position[at + 3];
                let v = &fields.velocity[at..at + 3];
                *place = [from.x, from.y, from.z, radius].map(|number| number as f32);
                *value = shade.of(radius, [v[0], v[1], v[2]]) as f32;
            }
        };
        self.context.device.run(parts(grains), data, see);
        preview
    }
}
