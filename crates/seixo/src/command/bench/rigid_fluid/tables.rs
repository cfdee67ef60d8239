//! Steps per second as printed in \[Silva 2010, tables 6.3 to 6.9\].

use clap::ValueEnum;

/// Device of a scene: a column of \[Silva 2010\].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Placement {
    /// An Intel Core 2 Quad Q6600.
    Cpu,
    /// An NVIDIA 9600 GT.
    Gpu,
    /// CPU and GPU at the same time; here with all of the bodies on the CPU.
    Heterogeneous,
    /// The same, with the split of work of \[Silva 2010, § 5.3\]: only the broad phase of bodies is on the CPU.
    Split,
}

impl Placement {
    /// All devices, in the order of the columns of a [`Line`].
    pub const ALL: [Placement; 4] = [Placement::Cpu, Placement::Gpu, Placement::Heterogeneous, Placement::Split];

    /// Name of the device.
    pub fn name(self) -> &'static str {
        match self {
            Placement::Cpu => "cpu",
            Placement::Gpu => "gpu",
            Placement::Heterogeneous => "heterogeneous",
            Placement::Split => "split",
        }
    }

    /// Its column in the tables of \[Silva 2010\], which have one split of work.
    fn printed(self) -> usize {
        match self {
            Placement::Split => Placement::Heterogeneous as usize,
            other => other as usize,
        }
    }
}

/// Steps per second on each device, in the order of [`Placement::ALL`].
pub type Reached = [Option<f64>; Placement::ALL.len()];

/// A scene of \[Silva 2010\], by its table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Table {
    /// Fluid alone: 2,048 to 32,768 particles
    #[value(name = "6.3")]
    Fluid,
    /// Rigid bodies alone: 26 to 430, in contact with each other and the floor
    #[value(name = "6.4")]
    Bodies,
    /// Fluid and bodies side by side without interaction: 4,096 or 8,192 particles, 200 or 400 bodies
    #[value(name = "6.5")]
    Apart,
    /// Bodies in fluid, with interaction: 6.6 on a GPU, 6.7 on a CPU, 6.8 on both at the same time; 6.9 compares 6.8 with 6.6
    #[value(name = "6.6", aliases = ["6.7", "6.8", "6.9"])]
    Together,
}

/// A line of a table.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Line {
    /// Number of fluid particles.
    pub fluid: usize,
    /// Number of bodies.
    pub bodies: usize,
    /// Steps per second.
    pub published: Reached,
    /// Pictures per second, likewise.
    pub published_pictures: Reached,
}

impl Table {
    /// Subject of the table.
    pub fn title(self) -> &'static str {
        match self {
            Table::Fluid => "fluid alone",
            Table::Bodies => "bodies alone",
            Table::Apart => "fluid and bodies that do not act on each other",
            Table::Together => "fluid and bodies that act on each other",
        }
    }

    /// Number of the table of \[Silva 2010\] for this device.
    pub fn number(self, placement: Placement) -> &'static str {
        match (self, placement) {
            (Table::Fluid, _) => "6.3",
            (Table::Bodies, _) => "6.4",
            (Table::Apart, _) => "6.5",
            (Table::Together, Placement::Gpu) => "6.6",
            (Table::Together, Placement::Cpu) => "6.7",
            (Table::Together, Placement::Heterogeneous | Placement::Split) => "6.8",
        }
    }

    /// Lines of the table. The source prints 16,394 particles instead of 16,384.
    pub fn lines(self) -> Vec<Line> {
        type Printed = (usize, usize, &'static [f64], &'static [f64]);
        let lines: &[Printed] = match self {
            Table::Fluid => &[
                (2048, 0, &[28.9, 410.5], &[28.8, 242.3]),
                (4096, 0, &[9.8, 167.0], &[9.7, 96.8]),
                (8192, 0, &[3.0, 43.5], &[3.0, 34.0]),
                (16_384, 0, &[1.4, 15.1], &[1.4, 13.9]),
                (32_768, 0, &[0.5, 4.7], &[0.5, 4.5]),
            ],
            Table::Bodies => &[
                (0, 26, &[19.0, 227.5], &[19.0, 220.7]),
                (0, 53, &[8.6, 223.6], &[8.6, 210.8]),
                (0, 107, &[4.1, 174.7], &[4.1, 159.9]),
                (0, 215, &[2.0, 114.6], &[2.0, 102.2]),
                (0, 430, &[0.9, 72.6], &[0.9, 63.0]),
            ],
            Table::Apart => &[
                (4096, 200, &[1.6, 57.4], &[1.6, 49.5]),
                (4096, 400, &[0.9, 50.2], &[0.8, 43.3]),
                (8192, 200, &[1.2, 27.7], &[1.2, 25.8]),
                (8192, 400, &[0.7, 25.1], &[0.7, 23.1]),
            ],
            Table::Together => &[
                (4096, 200, &[0.6, 29.5, 53.4], &[0.6, 27.7, 27.9]),
                (4096, 400, &[0.3, 22.0, 52.6], &[0.3, 20.6, 18.8]),
                (8192, 200, &[0.5, 19.7, 28.2], &[0.5, 18.7, 18.3]),
                (8192, 400, &[0.3, 14.9, 27.6], &[0.3, 14.0, 12.2]),
            ],
        };
        let line = |&(fluid, bodies, steps, pictures): &Printed| {
            let of_places = |values: &[f64]| Placement::ALL.map(|placement| values.get(placement.printed()).copied());
            Line {
                fluid,
                bodies,
                published: of_places(steps),
                published_pictures: of_places(pictures),
            }
        };
        lines.iter().map(line).collect()
    }
}

impl Line {
    /// The line with `scale` times the particles and bodies; \[Silva 2010\] has no such scene.
    pub fn scaled(self, scale: usize) -> Line {
        Line {
            fluid: scale * self.fluid,
            bodies: scale * self.bodies,
            published: if scale == 1 { self.published } else { Default::default() },
            published_pictures: if scale == 1 { self.published_pictures } else { Default::default() },
        }
    }
}

/// Steps per second of one device over those of another, if both are known.
pub fn gain(steps_per_second: &Reached, of: Placement, over: Placement) -> Option<f64> {
    Some(steps_per_second[of as usize]? / steps_per_second[over as usize]?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_and_gains_are_those_that_the_reference_prints() {
        let spheres = |table: Table| -> Vec<usize> { table.lines().iter().map(|line| 76 * line.bodies + line.fluid).collect() };
        assert_eq!(spheres(Table::Bodies), [1976, 4028, 8132, 16_340, 32_680]);
        for table in [Table::Apart, Table::Together] {
            assert_eq!(spheres(table), [19_296, 34_496, 23_392, 38_592]);
        }
        // The source computed its ratios of GPU and CPU from more digits than it prints.
        for (table, printed) in [
            (Table::Fluid, &[14.17, 16.99, 14.27, 10.62, 9.0][..]),
            (Table::Bodies, &[11.92, 25.89, 42.48, 57.41, 74.09]),
            (Table::Apart, &[34.59, 54.97, 22.3, 33.1]),
        ] {
            for (line, printed) in table.lines().iter().zip(printed) {
                let quotient = gain(&line.published, Placement::Gpu, Placement::Cpu).unwrap();
                assert!((quotient / printed - 1.0).abs() < 0.1, "{line:?}: {printed}");
                assert_eq!(gain(&line.published, Placement::Heterogeneous, Placement::Gpu), None);
            }
        }
        for (line, printed) in Table::Together.lines().iter().zip([1.81, 2.39, 1.43, 1.85]) {
            for both in [Placement::Heterogeneous, Placement::Split] {
                let found = gain(&line.published, both, Placement::Gpu).unwrap();
                assert!((found - printed).abs() < 0.005, "{line:?}: {found}");
            }
        }
    }

    #[test]
    fn of_larger_scenes_nothing_is_printed() {
        let line = Table::Together.lines()[3];
        assert_eq!(line.scaled(1), line);
        let larger = line.scaled(100);
        assert_eq!((larger.fluid, larger.bodies), (819_200, 40_000));
        assert_eq!(larger.published, [None; Placement::ALL.len()]);
        assert_eq!(gain(&larger.published, Placement::Gpu, Placement::Cpu), None);
    }

    #[test]
    fn the_reference_draws_no_more_pictures_than_it_takes_steps() {
        for line in [Table::Fluid, Table::Bodies, Table::Apart, Table::Together]
            .into_iter()
            .flat_map(Table::lines)
        {
            for (steps, pictures) in line.published.into_iter().zip(line.published_pictures) {
                assert!(steps.is_some() == pictures.is_some() && pictures <= steps, "{line:?}");
            }
        }
    }
}
