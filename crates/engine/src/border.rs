//! Parts of the grains of a subdomain that interact with ghost particles; the others need not wait for the halo exchange.

/// Selection of parts of the grains for a pass.
#[derive(Clone, Copy)]
pub(crate) enum PartSelection {
    All,
    Inner,
    AtBorder,
}

impl PartSelection {
    /// Whether the selection contains this part; `at_border` marks the parts at a border.
    pub fn means(self, at_border: &[bool], part: usize) -> bool {
        match self {
            PartSelection::All => true,
            PartSelection::Inner => !at_border[part],
            PartSelection::AtBorder => at_border[part],
        }
    }
}

/// Parts of the grains of a subdomain at its border, and intermediate results of a step.
#[derive(Default)]
pub(crate) struct BorderParts {
    /// Whether each part interacts with ghost particles.
    pub parts: Vec<bool>,
    /// Whether forces in all other parts are computed before the ghosts arrive.
    pub goes_ahead: bool,
    /// Whether forces in all other parts are already computed for this step.
    pub inner_is_done: bool,
    /// Margin of the shortlist of this step, if it was made.
    pub margin: Option<f64>,
}
