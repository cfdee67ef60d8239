//! How a world is cut: slabs along one axis, one for each domain.

use crate::refusal::Refusal;
use crate::world::{Domain, Vec3};
use seixo_sweeps::domain::is_within;

/// How many times its share a slab may have before planes move \[-\].
const TOLERATED: f64 = 1.05;

/// Slabs between planes across an axis. The first and the last reach as far as there is anything, but for a periodic axis, along which the first is
/// beside the last.
#[derive(Clone, Debug, PartialEq)]
pub struct Slabs {
    axis: usize,
    /// The planes between them, in their order \[m\].
    planes: Vec<f64>,
    /// The ends of a periodic axis \[m\].
    ends: Option<[f64; 2]>,
    /// Distance from which on nothing in a slab feels what is outside of it \[m\].
    reach: f64,
}

/// Part of the axis across which slabs are cut, see [`is_within()`].
#[derive(Clone, Copy, Debug)]
pub struct Stretch {
    /// Index of the axis.
    pub axis: usize,
    /// Where it begins \[m\].
    pub low: f64,
    /// Where it ends \[m\].
    pub high: f64,
    /// What images are apart, along a periodic axis; else zero \[m\].
    pub length: f64,
}

impl Stretch {
    /// Whether a place \[m\] is in it.
    fn holds(&self, place: &[f64]) -> bool {
        is_within::<f64>(place[self.axis], self.low, self.high, self.length)
    }
}

impl Slabs {
    /// So many slabs with equally many of these places \[m\] in each, none of which is narrower than `reach`, across the axis along which there is most
    /// room for them. It is never one along which sides slide: what meets across these is anywhere along it.
    ///
    /// # Errors
    /// If there is too little room.
    pub fn cut(places: &[Vec3], count: usize, reach: f64, domain: Option<&Domain>) -> Result<Slabs, Refusal> {
        let periodic = |axis: usize| domain.filter(|domain| domain.periodic[axis]);
        let extent = |axis: usize| {
            let [low, high] = places.iter().fold([f64::INFINITY, f64::NEG_INFINITY], |[low, high], place| {
                [low.min(place[axis]), high.max(place[axis])]
            });
            periodic(axis).map_or([low, high], |domain| [domain.min[axis], domain.max[axis]])
        };
        let length = |axis: &usize| {
            let [low, high] = extent(*axis);
            high - low
        };
        let flow = domain.and_then(|domain| domain.shear).map(|shear| shear.flow);
        let across = (0..3).filter(|axis| Some(*axis) != flow);
        let axis = across.max_by(|a, b| length(a).total_cmp(&length(b))).unwrap_or(0);
        let room = length(&axis);
        if room < count as f64 * reach {
            return Err(Refusal::Division(format!(
                "{count} domains are too many: along {} there is anything over {room:.3e} m only, and a domain is at least {reach:.3e} m wide, as far as \
                 what is in it feels others; use at most {}",
                ["x", "y", "z"][axis],
                (room / reach).floor().max(1.0)
            )));
        }
        let mut along: Vec<f64> = places.iter().map(|place| place[axis]).collect();
        along.sort_unstable_by(f64::total_cmp);
        let mut planes: Vec<f64> = (1..count).map(|k| along[k * along.len() / count]).collect();
        widen(&mut planes, extent(axis), reach);
        Ok(Slabs {
            axis,
            planes,
            ends: periodic(axis).map(|domain| [domain.min[axis], domain.max[axis]]),
            reach,
        })
    }

    /// Slabs with planes where each has about as many grains as any other, as samples tell that each stand for so many: of each slab how many grains it
    /// has, and where some of them are \[m\], in their order and as many before each as behind it. None where slabs are nearly alike already, or room
    /// is missing. A place goes to a slab beside its own, at most.
    pub fn balanced(&self, samples: &[(usize, Vec<f64>)]) -> Option<Slabs> {
        let total: usize = samples.iter().map(|(grains, _)| grains).sum();
        let share = total as f64 / samples.len() as f64;
        let most = samples.iter().map(|(grains, _)| *grains).max()?;
        if most as f64 <= TOLERATED * share {
            return None;
        }
        let mut weighed: Vec<(f64, f64)> = samples
            .iter()
            .flat_map(|(grains, places)| places.iter().map(|place| (*place, *grains as f64 / places.len() as f64)))
            .collect();
        weighed.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
        let (mut planes, mut below) = (Vec::new(), 0.0);
        for (place, weight) in weighed {
            below += weight;
            if planes.len() < self.planes.len() && below >= share * (planes.len() + 1) as f64 {
                planes.push(place);
            }
        }
        if planes.len() < self.planes.len() {
            return None;
        }
        let between = |k: usize| {
            let low = k.checked_sub(1).map_or(f64::NEG_INFINITY, |below| self.planes[below]);
            [low, self.planes.get(k + 1).copied().unwrap_or(f64::INFINITY)]
        };
        for (k, plane) in planes.iter_mut().enumerate() {
            let [low, high] = between(k);
            *plane = plane.clamp(low, high);
        }
        widen(&mut planes, self.ends.unwrap_or([f64::NEG_INFINITY, f64::INFINITY]), self.reach);
        let is_near = |(k, plane): (usize, &f64)| (between(k)[0]..=between(k)[1]).contains(plane);
        let is_wide = planes.windows(2).all(|pair| pair[1] - pair[0] >= 0.999 * self.reach);
        (is_wide && planes.iter().enumerate().all(is_near)).then(|| Slabs { planes, ..self.clone() })
    }

    /// Where a place is along the axis \[m\].
    pub fn along(&self, place: &[f64]) -> f64 {
        place[self.axis]
    }

    /// Whether the first is beside the last.
    pub fn is_ring(&self) -> bool {
        self.ends.is_some()
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.planes.len() + 1
    }

    /// The slab that a place \[m\] is in.
    pub fn owner(&self, place: &[f64]) -> usize {
        self.planes.partition_point(|plane| *plane <= place[self.axis])
    }

    /// The slabs beside one, in their order.
    pub fn beside(&self, slab: usize) -> Vec<usize> {
        let (count, is_ring) = (self.count(), self.ends.is_some());
        let mut beside: Vec<usize> = [(slab + count - 1, slab > 0 || is_ring), (slab + 1, slab + 1 < count || is_ring)]
            .into_iter()
            .filter(|(_, is_there)| *is_there)
            .map(|(other, _)| other % count)
            .filter(|other| *other != slab)
            .collect();
        beside.sort_unstable();
        beside.dedup();
        beside
    }

    /// Whether something at a place \[m\] may be felt in a slab.
    pub fn is_felt_in(&self, slab: usize, place: &[f64]) -> bool {
        self.felt(slab).holds(place)
    }

    /// What a slab owns.
    pub fn owned(&self, slab: usize) -> Stretch {
        let [low, high] = self.bounds(slab, [f64::NEG_INFINITY, f64::INFINITY]);
        Stretch {
            axis: self.axis,
            low,
            high,
            length: 0.0,
        }
    }

    /// What is felt in a slab.
    pub fn felt(&self, slab: usize) -> Stretch {
        let [low, high] = self.bounds(slab, self.ends.unwrap_or([f64::NEG_INFINITY, f64::INFINITY]));
        self.periodic([low - self.reach, high + self.reach])
    }

    /// What a slab and those beside it own; none where that is all there is.
    pub fn near(&self, slab: usize) -> Option<Stretch> {
        let count = self.count();
        if self.beside(slab).len() + 1 == count {
            return None;
        }
        let length = self.ends.map_or(0.0, |[first, last]| last - first);
        let ends = self.ends.unwrap_or([f64::NEG_INFINITY, f64::INFINITY]);
        let below = slab.checked_sub(1).map(|below| self.bounds(below, ends)[0]);
        let above = (slab + 1 < count).then(|| self.bounds(slab + 1, ends)[1]);
        let around = [self.bounds(count - 1, ends)[0] - length, self.bounds(0, ends)[1] + length];
        let [low, high] = if self.ends.is_some() { around } else { ends };
        Some(self.periodic([below.unwrap_or(low), above.unwrap_or(high)]))
    }

    /// Where a slab begins and ends; all of them together begin and end there.
    fn bounds(&self, slab: usize, [first, last]: [f64; 2]) -> [f64; 2] {
        let low = slab.checked_sub(1).map(|below| self.planes[below]);
        let high = self.planes.get(slab).copied();
        [low.unwrap_or(first), high.unwrap_or(last)]
    }

    fn periodic(&self, [low, high]: [f64; 2]) -> Stretch {
        Stretch {
            axis: self.axis,
            low,
            high,
            length: self.ends.map_or(0.0, |[first, last]| last - first),
        }
    }
}

/// Makes all slabs between two ends as wide as they must be, from below and then from above.
fn widen(planes: &mut [f64], [low, high]: [f64; 2], reach: f64) {
    for k in 0..planes.len() {
        let below = if k == 0 { low } else { planes[k - 1] };
        planes[k] = planes[k].max(below + reach);
    }
    for k in (0..planes.len()).rev() {
        let above = planes.get(k + 1).copied().unwrap_or(high);
        planes[k] = planes[k].min(above - reach);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::world::{Leaving, Shear};

    fn row(count: u32) -> Vec<Vec3> {
        (0..count).map(|k| [0.0, f64::from(k) * 0.1, 0.0]).collect()
    }

    #[test]
    fn everything_has_one_owner_and_is_felt_by_all_within_reach() {
        let places = row(100);
        for periodic in [false, true] {
            let mut domain = Domain::open([-1.0, -0.05, -1.0], [1.0, 9.95, 1.0], Leaving::Delete);
            domain.periodic[1] = periodic;
            let slabs = Slabs::cut(&places, 4, 0.7, Some(&domain)).unwrap();
            let owned = |slab: usize| places.iter().filter(|place| slabs.owner(*place) == slab).count();
            assert_eq!([0, 1, 2, 3].map(owned), [25; 4]);
            for a in &places {
                for b in &places {
                    let mut apart = (a[1] - b[1]).abs();
                    if periodic {
                        apart = apart.min(10.0 - apart);
                    }
                    let (from, to) = (slabs.owner(a), slabs.owner(b));
                    if apart < 0.7 {
                        assert!(slabs.is_felt_in(to, a));
                        assert!(from == to || slabs.beside(from).contains(&to));
                    }
                    let is_near = from == to || slabs.beside(from).contains(&to);
                    assert_eq!(slabs.near(from).is_none_or(|near| near.holds(b)), is_near);
                    assert_eq!(slabs.owned(to).holds(a), from == to);
                }
            }
        }
    }

    #[test]
    fn sides_that_slide_do_so_along_slabs() {
        let places = row(100);
        let mut domain = Domain::open([-1.0, -0.05, -2.0], [1.0, 9.95, 2.0], Leaving::Delete);
        domain.periodic = [true; 3];
        for (flow, gradient, axis) in [(1, 2, 2), (1, 0, 2), (2, 1, 1)] {
            let rate = 1.0;
            domain.shear = Some(Shear { flow, gradient, rate });
            let slabs = Slabs::cut(&places, 2, 0.5, Some(&domain)).unwrap();
            assert_eq!(slabs.axis, axis);
        }
    }

    #[test]
    fn slabs_narrower_than_what_is_felt_are_refused() {
        let refusal = Slabs::cut(&row(11), 4, 0.3, None).unwrap_err().to_string();
        assert!(
            refusal.contains("4 domains are too many") && refusal.contains("use at most 3"),
            "{refusal}"
        );
        // However crowded it is at one end, all are wide enough.
        let crowded: Vec<Vec3> = (0..100).map(|k| [f64::from(k).powi(4) * 1e-8, 0.0, 0.0]).collect();
        let slabs = Slabs::cut(&crowded, 3, 0.3, None).unwrap();
        assert!(slabs.planes[0] >= 0.3 && slabs.planes[1] - slabs.planes[0] >= 0.3 - 1e-12 && slabs.planes[1] <= 0.961 - 0.3);
    }

    #[test]
    fn planes_follow_the_grains_a_slab_at_a_time() {
        let mut slabs = Slabs::cut(&row(100), 4, 0.3, None).unwrap();
        // All went to one end.
        let places: Vec<Vec3> = (0..1000).map(|k| [0.0, 7.0 + f64::from(k) * 2e-3, 0.0]).collect();
        let count = |slabs: &Slabs, slab: usize| places.iter().filter(|place| slabs.owner(*place) == slab).count();
        for _ in 0..4 {
            let samples: Vec<(usize, Vec<f64>)> = (0..4)
                .map(|slab| {
                    let mut own = places.iter().filter(|place| slabs.owner(*place) == slab);
                    (count(&slabs, slab), own.by_ref().map(|place| place[1]).step_by(7).collect())
                })
                .collect();
            let Some(moved) = slabs.balanced(&samples) else { break };
            let strides = places.iter().map(|place| slabs.owner(place).abs_diff(moved.owner(place)));
            assert!(strides.max() <= Some(1));
            slabs = moved;
        }
        let counts = [0, 1, 2, 3].map(|slab| count(&slabs, slab));
        assert!(counts.iter().all(|count| (230..270).contains(count)), "{counts:?}");
        assert_eq!(slabs.balanced(&counts.map(|count| (count, vec![0.0]))), None);
    }
}
