//! Servos of decomposition-invariant runs. The load on a wall is a sum of whole numbers: these are the same in any order, so subdomains can sum the loads
//! of their own grains.
//!
//! The load of a contact is split into digits of base 4096, relative to the set value of the servo. A thread of a block sums up each digit in a word:
//! in a list of 2²⁸ entries a thread has 2²⁰ of them, whose digits are below 2³² together. The sum of a digit over the threads is passed on in two words,
//! its lower 16 bits and the rest. So the words of all subdomains can be summed one by one: with up to 65,536 subdomains, no sum carries over to another
//! word. The loads of all contacts may add up to 2⁴⁸ times the set value.

use super::walls::{load_of_entry, touches_wall};
use super::{DONE, THREADS, is_halted};
use crate::layout::load;
use crate::wall_pose::{servo_axis, steer};
use cubecl::prelude::*;
use seixo_laws::{Real, larger, smaller};

/// Words of the load on a wall: six digits of what presses, six of what pulls, and the number of contacts, each as its lower 16 bits and
/// the rest; and whether the servo is on.
pub const LOAD_WORDS: usize = 27;

/// Words of the loads of all threads of a block: 13 each.
const WORDS_OF_BLOCK: usize = THREADS * 13;

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
        for word in 0..13usize {
            shared[unit * 13usize + word] = 0u32;
        }
        let own = min(wall, walls as usize - 1usize);
        let servo = own * 20usize;
        let pose = ((flags[DONE] * walls) as usize + own) * 24usize;
        let direction = load::<C>(servos, servo);
        let axis = servo_axis::<C>(poses, pose, servos[servo + 11usize]);
        let through = load::<C>(poses, pose);
        let mut k = UNIT_POS as usize;
        while k < entries as usize {
            if touches_wall::<C>(k, wall, list, elements, wall_contacts) {
                let pressed = load_of_entry::<C>(k, wall_contacts, &direction, &axis, &through) * per_set[own];
                let mut digits = unit * 13usize;
                if pressed < C::new(0.0) {
                    digits += 6usize;
                }
                let mut rest = smaller::<C>(larger::<C>(pressed, C::new(0.0) - pressed), C::new(1048576.0));
                let times = C::whole(rest);
                shared[digits] += times >> 12u32;
                shared[digits + 1usize] += times & 4095u32;
                // Exact, as no digit is lost.
                rest = (rest - C::counted(times)) * C::new(4096.0);
                for digit in 0..4usize {
                    let whole = C::whole(rest);
                    shared[digits + 2usize + digit] += whole;
                    rest = (rest - C::counted(whole)) * C::new(4096.0);
                }
                shared[unit * 13usize + 12usize] += 1u32;
            }
            k += THREADS;
        }
        sync_cube();
        if unit < 27usize && wall < walls as usize {
            let digit = min(unit / 2usize, 12usize);
            let mut lower = 0u32;
            let mut upper = 0u32;
            for thread in 0..THREADS {
                let word = shared[thread * 13usize + digit];
                lower += word & 65535u32;
                upper += word >> 16u32;
            }
            let mut sum = lower & 65535u32;
            if unit % 2usize == 1usize {
                sum = upper + (lower >> 16u32);
            }
            if unit == 26usize {
                sum = C::whole(poses[pose + 12usize]);
            }
            words[wall * 27usize + unit] = sum;
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

/// Sums the n words of each of so many subdomains, which stand one after the other.
#[cube(launch)]
pub fn sum_of_words(all: &[u32], sums: &mut [u32], domains: u32, n: u32) {
    let k = ABSOLUTE_POS;
    if k < n as usize {
        let mut sum = 0u32;
        for domain in 0..domains {
            sum += all[(domain * n) as usize + k];
        }
        sums[k] = sum;
    }
}

/// A sum, given the sums of its lower 16 bits and of the rest in all subdomains. Below 2³² it is rounded once.
#[cube]
fn from_halves<C: Real>(lower: u32, upper: u32) -> C {
    let carried = upper + (lower >> 16u32);
    C::counted(carried >> 16u32) * C::new(65536.0) * C::new(65536.0) + C::counted((carried << 16u32) | (lower & 65535u32))
}

/// A number from its six digits, from word `first` on. The factor is 1/4096.
#[cube]
fn from_digits<C: Real>(words: &[u32], first: usize) -> C {
    let mut number = from_halves::<C>(words[first + 10usize], words[first + 11usize]);
    #[unroll]
    for digit in 0..3usize {
        let at = first + 8usize - 2usize * digit;
        number = number * C::new(0.00024414063) + from_halves::<C>(words[at], words[at + 1usize]);
    }
    // The first digit is added to the second as a whole number: 4096 times its lower 16 bits are four bits of the lower ones, and twelve of the rest.
    let carried = words[first + 1usize] + (words[first] >> 16u32);
    let rest = words[first] & 65535u32;
    let lower = words[first + 2usize] + ((rest & 15u32) << 12u32);
    let upper = words[first + 3usize] + (rest >> 4u32) + (carried << 12u32);
    number * C::new(0.00024414063) + from_halves::<C>(lower, upper)
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
            let first = wall * 27usize;
            let pressed = from_digits::<C>(words, first) - from_digits::<C>(words, first + 12usize);
            let touching = from_halves::<C>(words[first + 24usize], words[first + 25usize]);
            let is_on = C::counted(min(words[first + 26usize], 1u32));
            steer::<C>(wall, pressed / share, touching, is_on, dt, elements, servos);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{THREADS, from_digits, from_halves};

    /// Words of six digits, whose sums over the contacts of each of the threads of a block are given.
    fn words(of_thread: [u64; 6]) -> Vec<u32> {
        let halves = of_thread.map(|sum| {
            assert!(sum < 1 << 32, "a thread sums up a digit in one word");
            let all = sum * THREADS as u64;
            [all & 65535, all >> 16].map(|half| u32::try_from(half).unwrap())
        });
        halves.concat()
    }

    #[test]
    fn digits_of_base_4096_make_a_number() {
        // Sums of digits may exceed the base: 4096 of a digit are one of the digit before.
        let mut words = vec![7, 0, 0, 2, 0, 2048, 0, 0, 0, 4096, 0, 0, 0];
        assert_eq!(from_digits::<f64>(&words, 1), 2.5 + 1.0 / 4096.0 / 4096.0);
        words[1] = 3;
        assert_eq!(from_digits::<f64>(&words, 1), 3.0 * 4096.0 + 2.5 + 1.0 / 4096.0 / 4096.0);
        assert_eq!(from_halves::<f64>(70_000, 65_535), 65_536.0 * 65_535.0 + 70_000.0);
    }

    #[test]
    fn loads_of_two_hundred_and_sixty_million_contacts_have_a_sum() {
        // A whole list of 2²⁸ contacts, less one for each thread. All digits are the largest ones of a contact.
        let of_thread = (1 << 20) - 1;
        let contacts = (of_thread * THREADS as u64) as f64;
        let near_one = 1.0 - 1.0 / 4096_f64.powi(4);
        let whole = words([255, 4095, 4095, 4095, 4095, 4095].map(|digit| digit * of_thread));
        let sum = from_digits::<f64>(&whole, 0);
        let expected = contacts * (1_048_575.0 + near_one);
        assert!((sum / expected - 1.0).abs() < 1e-15, "{sum}, {expected}");
        // The largest load of a contact, and small ones.
        let most = from_digits::<f64>(&words([256 * of_thread, 0, 0, 0, 0, 0]), 0);
        assert_eq!(most, contacts * 1_048_576.0);
        let small = from_digits::<f64>(&words([0, 0, 4095, 4095, 4095, 4095].map(|digit| digit * of_thread)), 0);
        assert!((small / (contacts * near_one) - 1.0).abs() < 1e-15, "{small}");
    }
}
