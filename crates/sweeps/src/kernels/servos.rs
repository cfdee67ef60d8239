//! Servos of decomposition-invariant runs. The load on a wall is a sum of whole numbers: these are the same in any order, so subdomains can sum the loads
//! of their own grains.
//!
//! The load of a contact is split into digits of base 4096, relative to the set value of the servo. The sum of a digit over a million contacts fits into
//! a word.

use super::walls::is_of_wall;
use super::{DONE, THREADS, is_halted};
use crate::layout::load;
use crate::wall_pose::{load_of_contact, servo_axis, steer};
use cubecl::prelude::*;
use seixo_laws::{Real, larger, smaller};

/// Words of the load on a wall: five digits of what presses, five of what pulls, the number of contacts, and whether the servo is on.
pub const LOAD_WORDS: usize = 12;

/// Words of the loads of all threads of a block.
const WORDS_OF_BLOCK: usize = THREADS * LOAD_WORDS;

/// Sums the loads of the listed contacts on each wall, one block for each, into its [`LOAD_WORDS`] `words`. `per_set` has 1 over the set value of each
/// servo, and zero for walls without servo. For the other arguments see [`control()`](crate::kernels::walls::control()).
#[cube(launch)]
#[expect(clippy::too_many_arguments, reason = "a kernel's arguments are the buffers it reads and writes")]
pub fn sum_servo_loads<C: Real>(
    wall_contacts: &[C],
    list: &[u32],
    elements: &[C],
    poses: &[C],
    servos: &[C],
    per_set: &[C],
    words: &mut [u32],
    flags: &mut [u32],
    entries: u32,
    walls: u32,
    parity: u32,
) {
    let wall = CUBE_POS;
    let unit = UNIT_POS as usize;
    let mut shared = Shared::<[u32]>::new_slice(WORDS_OF_BLOCK);
    if !is_halted(flags, parity) {
        for word in 0..12usize {
            shared[unit * 12usize + word] = 0u32;
        }
        let own = min(wall, walls as usize - 1usize);
        let servo = own * 20usize;
        let pose = ((flags[DONE] * walls) as usize + own) * 24usize;
        let direction = load::<C>(servos, servo);
        let axis = servo_axis::<C>(poses, pose, servos[servo + 11usize]);
        let through = load::<C>(poses, pose);
        let mut k = UNIT_POS as usize;
        while k < entries as usize {
            if is_of_wall::<C>(k, wall, list, elements) && wall_contacts[k * 8usize + 7usize] > C::new(0.0) {
                let force = load::<C>(wall_contacts, k * 8usize + 4usize);
                let point = load::<C>(wall_contacts, k * 8usize);
                let pressed = load_of_contact::<C>(&force, &point, &direction, &axis, &through) * per_set[own];
                let mut digits = unit * 12usize;
                if pressed < C::new(0.0) {
                    digits += 5usize;
                }
                let mut rest = smaller::<C>(larger::<C>(pressed, C::new(0.0) - pressed), C::new(1048576.0));
                for digit in 0..5usize {
                    let whole = C::whole(rest);
                    shared[digits + digit] += whole;
                    // Exact, as no digit is lost.
                    rest = (rest - C::counted(whole)) * C::new(4096.0);
                }
                shared[unit * 12usize + 10usize] += 1u32;
            }
            k += THREADS;
        }
        sync_cube();
        if unit < 12usize && wall < walls as usize {
            let mut sum = 0u32;
            for thread in 0..THREADS {
                sum += shared[thread * 12usize + unit];
            }
            if unit == 11usize {
                sum = C::whole(poses[pose + 12usize]);
            }
            words[wall * 12usize + unit] = sum;
        }
    }
}

/// Adds the n words of another subdomain to those of this one.
#[cube(launch)]
pub fn add_words(others: &[u32], words: &mut [u32], n: u32) {
    if ABSOLUTE_POS < n as usize {
        words[ABSOLUTE_POS] += others[ABSOLUTE_POS];
    }
}

/// A number from its five digits, from word `first` on. The factor is 1/4096.
#[cube]
fn from_digits<C: Real>(words: &[u32], first: usize) -> C {
    let mut number = C::counted(words[first + 4usize]);
    #[unroll]
    for digit in 0..4usize {
        number = number * C::new(0.00024414063) + C::counted(words[first + 3usize - digit]);
    }
    number
}

/// Advances the servos by one step, one thread each, with the loads of all subdomains, see [`sum_servo_loads()`].
#[cube(launch)]
#[expect(clippy::too_many_arguments, reason = "a kernel's arguments are the buffers it reads and writes")]
pub fn control_by_loads<C: Real>(
    words: &[u32],
    per_set: &[C],
    elements: &[C],
    servos: &mut [C],
    flags: &mut [u32],
    walls: u32,
    dt: C,
    parity: u32,
) {
    let wall = ABSOLUTE_POS;
    if wall < walls as usize && !is_halted(flags, parity) {
        let share = per_set[wall];
        if share != C::new(0.0) {
            let first = wall * 12usize;
            let pressed = from_digits::<C>(words, first) - from_digits::<C>(words, first + 5usize);
            let touching = C::counted(words[first + 10usize]);
            let is_on = C::counted(min(words[first + 11usize], 1u32));
            steer::<C>(wall, pressed / share, touching, is_on, dt, elements, servos);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::from_digits;

    #[test]
    fn digits_of_base_4096_make_a_number() {
        // Sums of digits may exceed the base: 4096 of a digit are one of the digit before.
        let words = [7, 2, 2048, 0, 4096, 0, 0, 1, 0, 0, 0];
        assert_eq!(from_digits::<f64>(&words, 1), 2.5 + 1.0 / 4096.0 / 4096.0);
        assert_eq!(from_digits::<f64>(&words, 6), 1.0 / 4096.0);
    }
}
