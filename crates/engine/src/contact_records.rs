//! Records of single contacts, with contact histories and forces.

use crate::world::Vec3;

/// Partner of a grain in a contact.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Partner {
    /// The grain with this id.
    Grain(u32),
    /// The wall with this index into [`crate::world::World::walls`].
    Wall(u32),
}

/// A contact with force between grain a and its partner b.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ContactRecord {
    /// Id of grain a; in a pair of grains, the smaller id.
    pub a: u32,
    /// Partner of a.
    pub b: Partner,
    /// Center of a \[m\].
    pub center: Vec3,
    /// Contact point \[m\]: the middle of the overlap of two grains; the nearest point of a wall.
    pub point: Vec3,
    /// Vector from the center of b, or from the nearest point of the wall, to the center of a \[m\].
    pub branch: Vec3,
    /// Unit normal from b to a.
    pub normal: Vec3,
    /// Overlap δ \[m\].
    pub overlap: f64,
    /// Normal force on a \[N\].
    pub normal_force: Vec3,
    /// Tangential force on a \[N\].
    pub tangential_force: Vec3,
}

impl ContactRecord {
    /// Total force on a \[N\]; the force on b is opposite.
    pub fn force(&self) -> Vec3 {
        [0, 1, 2].map(|k| self.normal_force[k] + self.tangential_force[k])
    }

    /// The same contact as seen from b, if b is a grain: with exchanged ids and reversed vectors.
    pub(crate) fn turned(mut self) -> ContactRecord {
        if let Partner::Grain(id) = self.b {
            self.b = Partner::Grain(self.a);
            self.a = id;
            self.center = [0, 1, 2].map(|k| self.center[k] - self.branch[k]);
            for vector in [
                &mut self.branch,
                &mut self.normal,
                &mut self.normal_force,
                &mut self.tangential_force,
            ] {
                *vector = vector.map(|x| -x);
            }
        }
        self
    }
}
