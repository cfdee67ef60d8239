//! Fields at the points of a regular grid.

use super::{ArrayStore, Document, Format, Values};

/// Fields at the points of a regular grid; x runs fastest.
#[derive(Clone, Debug)]
pub struct Image<'a> {
    /// The first point \[m\].
    pub origin: [f64; 3],
    /// Distance of neighboring points \[m\].
    pub spacing: f64,
    /// Points along x, y and z.
    pub points: [usize; 3],
    /// Fields of numbers, by name.
    pub scalars: &'a [(&'a str, &'a [f64])],
    /// Fields of vectors, by name.
    pub vectors: &'a [(&'a str, &'a [[f64; 3]])],
    /// Fields of tensors as xx xy xz yx yy yz zx zy zz, by name.
    pub tensors: &'a [(&'a str, &'a [[f64; 9]])],
}

/// An image at one time \[s\] as a `.vti`.
pub fn image(image: &Image, time: f64) -> Vec<u8> {
    Format::default().image(image, time)
}

impl Format {
    /// As [`image`], in this format.
    pub fn image(self, image: &Image, time: f64) -> Vec<u8> {
        let [x, y, z] = image.points.map(|points| points - 1);
        let extent = format!("0 {x} 0 {y} 0 {z}");
        let ([left, front, bottom], spacing) = (image.origin, image.spacing);
        let attributes =
            format!(r#" WholeExtent="{extent}" Origin="{left:?} {front:?} {bottom:?}" Spacing="{spacing:?} {spacing:?} {spacing:?}""#);
        let mut document = Document::of(
            ArrayStore::new(self),
            "ImageData",
            &attributes,
            (time, ""),
            &format!(r#"Extent="{extent}""#),
        );
        let scalars = image.scalars.iter().map(|&(name, values)| (name, Values::Scalars32(values)));
        let vectors = image.vectors.iter().map(|&(name, values)| (name, Values::Vectors32(values)));
        let tensors = image.tensors.iter().map(|&(name, values)| (name, Values::Tensors32(values)));
        let arrays: Vec<_> = scalars.chain(vectors).chain(tensors).collect();
        document.group("PointData", &arrays);
        document.finish()
    }
}
