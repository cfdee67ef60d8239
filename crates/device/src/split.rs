//! Data split into parts for parallel work.

/// Data that can be split: part k of the data belongs to part k of the work.
pub trait Split: Send + Sized {
    /// The parts before `part`, and the rest.
    fn split(self, part: usize) -> (Self, Self);
}

/// Mutable data with the same number of items per part (the last may have fewer).
pub struct Strided<'a, T> {
    /// The items of these parts.
    pub items: &'a mut [T],
    /// Items per part.
    pub per_part: usize,
}

impl<T: Send> Split for Strided<'_, T> {
    fn split(self, part: usize) -> (Self, Self) {
        let at = (part * self.per_part).min(self.items.len());
        let (left, right) = self.items.split_at_mut(at);
        (
            Strided {
                items: left,
                per_part: self.per_part,
            },
            Strided {
                items: right,
                per_part: self.per_part,
            },
        )
    }
}

/// Mutable data in which part k holds the items from `bounds[k]` to `bounds[k + 1]`, times `stride`.
pub struct Ranges<'a, T> {
    /// The items of these parts.
    pub items: &'a mut [T],
    /// Bounds, one more than parts, counted from the first part of the whole.
    pub bounds: &'a [u32],
    /// Items per unit of a bound, such as numbers per record.
    pub stride: usize,
}

impl<T: Send> Split for Ranges<'_, T> {
    fn split(self, part: usize) -> (Self, Self) {
        let at = (self.bounds[part] - self.bounds[0]) as usize * self.stride;
        let (left, right) = self.items.split_at_mut(at.min(self.items.len()));
        (
            Ranges {
                items: left,
                bounds: &self.bounds[..=part],
                stride: self.stride,
            },
            Ranges {
                items: right,
                bounds: &self.bounds[part..],
                stride: self.stride,
            },
        )
    }
}

macro_rules! split_tuple {
    ($($name:ident),+) => {
        impl<$($name: Split),+> Split for ($($name,)+) {
            #[allow(non_snake_case, reason = "one letter names both the type and the value of a tuple's place")]
            fn split(self, part: usize) -> (Self, Self) {
                let ($($name,)+) = self;
                $(let $name = $name.split(part);)+
                (($($name.0,)+), ($($name.1,)+))
            }
        }
    };
}
split_tuple!(A);
split_tuple!(A, B);
split_tuple!(A, B, C);
split_tuple!(A, B, C, D);
split_tuple!(A, B, C, D, E);
split_tuple!(A, B, C, D, E, F);
split_tuple!(A, B, C, D, E, F, G);
split_tuple!(A, B, C, D, E, F, G, H);
