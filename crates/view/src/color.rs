//! Colors: a perceptually uniform scale for numbers, and distinct hues for names.

/// An sRGB color.
pub type Rgb = [u8; 3];

/// Text and lines.
pub const INK: Rgb = [38, 44, 54];
/// Secondary text.
pub const FAINT_INK: Rgb = [104, 113, 126];
/// Top of the background of a picture.
pub const SKY: Rgb = [255, 255, 255];
/// Bottom of the background of a picture.
pub const GROUND: Rgb = [232, 236, 241];
/// A wall.
pub const WALL: Rgb = [126, 143, 163];
/// An edge of a wall.
pub const EDGE: Rgb = [70, 82, 98];

/// A bond without a color of its own.
pub const BOND: Rgb = [176, 184, 194];
/// Classes that are too small for a color of their own.
pub const OTHERS: Rgb = [205, 210, 216];

/// The viridis scale, dark at 0 and bright at 1: M. Zucker's sixth-degree fit (public domain) of the table by S. van der Walt and N. Smith. It is
/// perceptually uniform and readable with any color vision.
pub fn viridis(value: f64) -> Rgb {
    const TERMS: [[f64; 3]; 7] = [
        [0.277_727_327_2, 0.005_407_344_5, 0.334_099_805_3],
        [0.105_093_043_1, 1.404_613_529_9, 1.384_590_162_6],
        [-0.330_861_828_7, 0.214_847_559_5, 0.095_095_163_0],
        [-4.634_230_499_0, -5.799_100_973_4, -19.332_440_956_3],
        [6.228_269_936_3, 14.179_933_366_8, 56.690_552_600_7],
        [4.776_384_997_7, -13.745_145_377_7, -65.353_032_633_4],
        [-5.435_455_855_9, 4.645_852_612_2, 26.312_372_495_8],
    ];
    let value = value.clamp(0.0, 1.0);
    std::array::from_fn(|channel| {
        let intensity = TERMS.iter().rev().fold(0.0, |sum, term| sum * value + term[channel]);
        (intensity * 255.0).round().clamp(0.0, 255.0) as u8
    })
}

/// Distinct colors in order of use: twelve hues, then lighter and darker ones of them. Repeats after thirty-six.
pub fn distinct(index: usize) -> Rgb {
    const HUES: [Rgb; 12] = [
        [46, 105, 168],
        [226, 122, 44],
        [62, 150, 84],
        [196, 64, 72],
        [132, 100, 176],
        [38, 168, 176],
        [214, 98, 152],
        [150, 112, 72],
        [118, 132, 150],
        [188, 170, 40],
        [94, 160, 222],
        [30, 60, 92],
    ];
    /// What the hues of each dozen are mixed with, and the share of it in percent.
    const DOZENS: [(u16, u16); 3] = [(0, 0), (255, 47), (0, 28)];
    let (other, share) = DOZENS[index / HUES.len() % DOZENS.len()];
    HUES[index % HUES.len()].map(|channel| (((100 - share) * u16::from(channel) + share * other) / 100) as u8)
}

/// The color of a fluid beside colored grains: a pale version of [`distinct`].
pub fn fluid(index: usize) -> Rgb {
    distinct(index).map(|channel| ((3 * u16::from(channel) + 2 * 255) / 5) as u8)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thirty_six_colors_differ_from_each_other_and_from_the_background() {
        let difference = |a: Rgb, b: Rgb| a.iter().zip(b).map(|(a, b)| u32::from(a.abs_diff(b))).sum::<u32>();
        for index in 0..36 {
            let color = distinct(index);
            assert!(
                (0..index).all(|other| difference(color, distinct(other)) > 30),
                "{index}: {color:?}"
            );
            assert!(difference(color, SKY) > 100, "{index}: {color:?}");
        }
    }
}
