//! Servos of decomposition-invariant runs. Their loads are sums of whole numbers, which are the same in any order and for any number of subdomains. In
//! other runs a GPU sums in the order of its list, in one launch.

use super::posted_words::PostedWords;
use super::{GpuGrains, Number, numbers};
use crate::exchange::{DecodeError, enclose, unfold};
use crate::populations::Populations;
use seixo_device::gpu::{Buffer, Copies, Gpu, GpuError, Ticket, units};
use seixo_laws::Coordinate;
use seixo_sweeps::kernels::THREADS;
use seixo_sweeps::kernels::servos::{LOAD_WORDS, add_words, control_by_loads, sum_of_words, sum_servo_loads};

/// Loads on the walls with servos, as whole numbers.
pub(super) struct ServoLoads<C> {
    /// 1 over the set value of each servo, and zero for walls without servo.
    per_set: Buffer<C>,
    /// The load on each wall, see [`LOAD_WORDS`].
    words: Buffer<u32>,
}

impl<C: Number> ServoLoads<C> {
    /// Loads on the walls of the host; `None` if another kernel sums them, or no wall has a servo.
    pub fn new(gpu: &Gpu, host: &Populations) -> Result<Option<ServoLoads<C>>, GpuError> {
        if !sums_whole_numbers(host) {
            return Ok(None);
        }
        let walls = &host.walls.given;
        let per_set = walls
            .iter()
            .map(|wall| wall.motion.servo.map_or(0.0, |servo| 1.0 / servo.target.value()));
        Ok(Some(ServoLoads {
            per_set: gpu.upload(&numbers::<C>(per_set), "walls")?,
            words: gpu.zeros(LOAD_WORDS * walls.len(), "walls")?,
        }))
    }
}

/// The loads of all subdomains on GPUs, which sum them without their hosts.
pub(crate) enum SharedServoLoads {
    /// All subdomains are on one GPU: the words of each, for either parity of steps.
    OnOneGpu(Vec<[Buffer<u32>; 2]>),
    /// Each subdomain has its own GPU. Each posts its words to all, if all can write to all others; otherwise the GPUs sum them.
    OnOwnGpus(Vec<Gpu>, Option<PostedWords>),
}

impl SharedServoLoads {
    /// For subdomains on these GPUs, which can copy between each other: all on one, or each on its own; with this many walls. With `linked`, each can also
    /// write to all others.
    pub fn of(gpus: &[Gpu], walls: usize, linked: bool) -> Result<SharedServoLoads, GpuError> {
        let room = LOAD_WORDS * walls.max(1);
        if !gpus.iter().all(|gpu| gpu.is_same(&gpus[0])) {
            let posted = linked.then(|| PostedWords::of(gpus, room)).transpose()?;
            return Ok(SharedServoLoads::OnOwnGpus(gpus.to_vec(), posted));
        }
        let words = || gpus[0].zeros::<u32>(room, "domains");
        let both = || -> Result<[Buffer<u32>; 2], GpuError> { Ok([words()?, words()?]) };
        let all: Result<Vec<[Buffer<u32>; 2]>, GpuError> = gpus.iter().map(|_| both()).collect();
        Ok(SharedServoLoads::OnOneGpu(all?))
    }
}

/// Queues the sum of the words of so many subdomains, which stand one after the other.
fn sum_domains(gpu: &Gpu, all: &Buffer<u32>, domains: usize, sums: &Buffer<u32>) {
    let (count, dim) = units(sums.len());
    sum_of_words::launch(
        gpu.client(),
        count,
        dim,
        all.argument(),
        sums.argument(),
        domains as u32,
        sums.len() as u32,
    );
}

/// Whether the loads on servos are sums of whole numbers.
fn sums_whole_numbers(host: &Populations) -> bool {
    host.context.settings.decomposition_invariant && host.walls.has_servos()
}

impl<C: Number + Coordinate<R>, R: Number> GpuGrains<C, R> {
    /// The loads on servos, if they are sums of whole numbers.
    fn servo_loads(&self) -> Option<&ServoLoads<C>> {
        self.walls.as_ref().and_then(|near| near.servo_loads.as_ref())
    }

    /// Sums the loads of the grains here on servos. Advances the servos with them, unless there are other subdomains. Returns whether the loads are sums
    /// of whole numbers.
    pub(super) fn control_by_whole_numbers(&self, host: &Populations, parity: u32) -> bool {
        let (Some(near), Some(loads)) = (&self.walls, self.servo_loads()) else {
            return false;
        };
        let walls = host.walls.given.len();
        let (count, dim) = units(walls * THREADS);
        sum_servo_loads::launch::<C>(
            self.gpu.client(),
            count,
            dim,
            near.wall_contacts.argument(),
            near.list.argument(),
            near.elements.argument(),
            near.poses.argument(),
            near.servos.argument(),
            loads.per_set.argument(),
            loads.words.argument(),
            self.flags.argument(),
            near.entries as u32,
            walls as u32,
            parity,
        );
        if !host.grains.has_ghosts {
            self.control_servos_of(host, parity);
        }
        true
    }

    /// Advances the servos by a step of this parity, with the sum of the loads of all subdomains.
    pub(super) fn control_servos_of(&self, host: &Populations, parity: u32) {
        let (Some(near), Some(loads)) = (&self.walls, self.servo_loads()) else {
            return;
        };
        let walls = host.walls.given.len();
        let (count, dim) = units(walls);
        control_by_loads::launch::<C>(
            self.gpu.client(),
            count,
            dim,
            loads.words.argument(),
            loads.per_set.argument(),
            near.elements.argument(),
            near.servos.argument(),
            self.flags.argument(),
            walls as u32,
            C::of(host.context.stepping.dt),
            parity,
        );
    }

    /// As [`super::DomainBackend::send_servo_loads`].
    pub(super) fn send_servo_words(&self, shared: &SharedServoLoads, rank: usize, ahead: u32) -> Result<bool, GpuError> {
        let Some(loads) = self.servo_loads() else { return Ok(false) };
        match shared {
            SharedServoLoads::OnOneGpu(all) => {
                self.gpu.copy(&loads.words, loads.words.len(), &all[rank][ahead as usize & 1]);
                Ok(true)
            }
            SharedServoLoads::OnOwnGpus(_, Some(posted)) => {
                posted.post(&self.gpu, &loads.words, rank);
                Ok(false)
            }
            SharedServoLoads::OnOwnGpus(all, None) => {
                let words = &loads.words;
                self.gpu.start_sum(words, words, words.len(), all).map(|()| false)
            }
        }
    }

    /// As [`super::DomainBackend::receive_servo_loads`].
    pub(super) fn receive_servo_words(&self, shared: &SharedServoLoads, rank: usize, ahead: u32) -> Result<(), GpuError> {
        let Some(loads) = self.servo_loads() else { return Ok(()) };
        let all = match shared {
            SharedServoLoads::OnOneGpu(all) => all,
            SharedServoLoads::OnOwnGpus(_, None) => return self.gpu.await_sums(),
            SharedServoLoads::OnOwnGpus(all, Some(posted)) => {
                sum_domains(&self.gpu, posted.collected(&self.gpu, rank), all.len(), &loads.words);
                return Ok(());
            }
        };
        let others = all.iter().enumerate().filter(|(other, _)| *other != rank);
        for (_, words) in others {
            let (count, dim) = units(loads.words.len());
            add_words::launch(
                self.gpu.client(),
                count,
                dim,
                words[ahead as usize & 1].argument(),
                loads.words.argument(),
                loads.words.len() as u32,
            );
        }
        Ok(())
    }

    /// As [`super::DomainBackend::servo_load_message`].
    pub(super) fn message_with_servo_loads(&self) -> Result<Vec<u8>, GpuError> {
        let mut message = Vec::new();
        if let Some(loads) = self.servo_loads() {
            enclose(&mut message, &self.gpu.download(&loads.words)?);
        }
        Ok(message)
    }

    /// As [`super::DomainBackend::take_servo_loads`].
    pub(super) fn sum_servo_messages(&self, messages: &[Vec<u8>]) -> Result<(), DecodeError> {
        let Some(loads) = self.servo_loads() else { return Ok(()) };
        let mut sum = vec![0u32; loads.words.len()];
        for message in messages {
            let words: Vec<u32> = unfold(&mut &message[..])?;
            if words.len() != sum.len() {
                return Err(DecodeError);
            }
            sum.iter_mut().zip(words).for_each(|(sum, word)| *sum = sum.wrapping_add(word));
        }
        self.gpu.write(&loads.words, &sum);
        Ok(())
    }

    /// As [`super::GpuBackend::send_servos`].
    pub(super) fn send_servos_of(&self, host: &Populations) {
        if let Some(near) = &self.walls {
            self.gpu.write(&near.servos, &numbers::<C>(host.walls.servos.iter().copied()));
        }
    }

    /// Requests the servos that the GPU advanced, if there are any.
    pub(super) fn request_servos(&self, host: &Populations, copies: &mut Copies) -> Option<Ticket<C>> {
        let near = self.walls.as_ref().filter(|_| host.walls.has_servos())?;
        Some(copies.add(&near.servos, 0..near.servos.len()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use seixo_sweeps::kernels::FLAGS;
    use seixo_sweeps::layout::{ELEMENT, WALL_CONTACT};
    use seixo_sweeps::wall_pose::{POSE, SERVO};

    /// The largest load of a contact, relative to the set value: larger ones count as much.
    const MOST: f32 = 1_048_576.0;

    /// Software Vulkan suffices; without any adapter this test fails.
    #[test]
    fn words_of_domains_are_summed_one_by_one() {
        let gpu = Gpu::open(None).unwrap();
        let all = gpu.upload(&[1, 2, u32::MAX, 30, 40, 1, 500, 600, 7], "words").unwrap();
        // What was there before does not count.
        let sums = gpu.upload(&[9; 3], "words").unwrap();
        sum_domains(&gpu, &all, 3, &sums);
        assert_eq!(gpu.download(&sums).unwrap(), [531, 642, 7]);
    }

    /// Software Vulkan suffices; without any adapter this test fails.
    #[test]
    fn the_load_of_contacts_may_be_a_multiple_of_a_word() {
        let gpu = Gpu::open(None).unwrap();
        // Their sum is above 2³² times the set value.
        let contacts = 5000;
        let mut contact = [0.0_f32; WALL_CONTACT];
        (contact[4], contact[7]) = (MOST, 1.0);
        let mut pose = [0.0_f32; POSE];
        // The servo is on.
        pose[12] = 1.0;
        let mut servo = [0.0_f32; SERVO];
        // It presses along x with 1 N on an area of two constant extents of 1 m.
        for k in [0, 3, 14, 17] {
            servo[k] = 1.0;
        }
        let upload = |numbers: &[f32]| gpu.upload(numbers, "walls").unwrap();
        let (wall_contacts, elements) = (upload(&contact.repeat(contacts)), upload(&[0.0; ELEMENT]));
        let (poses, servos, per_set) = (upload(&pose), upload(&servo), upload(&[1.0]));
        let list = gpu.zeros::<u32>(contacts, "walls").unwrap();
        let flags = gpu.zeros::<u32>(FLAGS, "walls").unwrap();
        let words = gpu.zeros::<u32>(LOAD_WORDS, "walls").unwrap();
        let (count, dim) = units(THREADS);
        sum_servo_loads::launch::<f32>(
            gpu.client(),
            count,
            dim,
            wall_contacts.argument(),
            list.argument(),
            elements.argument(),
            poses.argument(),
            servos.argument(),
            per_set.argument(),
            words.argument(),
            flags.argument(),
            contacts as u32,
            1,
            0,
        );
        let (count, dim) = units(1);
        control_by_loads::launch::<f32>(
            gpu.client(),
            count,
            dim,
            words.argument(),
            per_set.argument(),
            elements.argument(),
            servos.argument(),
            flags.argument(),
            1,
            1.0,
            0,
        );
        // What is missing is the load, but for the set value, which is less than the last digit.
        assert_eq!(gpu.download(&servos).unwrap()[18], -5000.0 * MOST);
    }
}
