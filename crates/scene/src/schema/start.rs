//! Keys of the start from another run.

use super::{Region, Turn, Vector};
use crate::{
    quantity::{Length, Number, Quantity, UpToOne},
    vocabulary::{LARGEST_WHOLE, WholeNumber},
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Start from another run: its grains, rigid bodies and bonds go on here, in sections without `file`, `fill`, `at`, `blocks` and `inlet`. First they are
/// cut and thinned, then rotated, then moved.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(example = serde_json::json!({ "from": "fill.out" }))]
pub(crate) struct StartSection {
    /// Folder of the other run. Groups, materials and bonds go by their names; walls, stages and all else are those of this scene.
    #[schemars(example = &"fill.out")]
    pub from: String,
    /// Number of a frame, as in the name of its file, from which free grains start. If left out, the last checkpoint, which also has rigid bodies, bonds,
    /// and the histories of contacts.
    #[schemars(example = 12)]
    pub frame: Option<WholeNumber<0, LARGEST_WHOLE>>,
    /// Names of groups here, by their names in the other run, where these differ.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[schemars(example = serde_json::json!({ "sand": "bed" }))]
    pub groups: BTreeMap<String, String>,
    /// Region whose grains are taken, in the coordinates of the other run: those whose centers, or the centers of whose bodies, are inside; all if left
    /// out.
    pub inside: Option<Region>,
    /// Takes every n-th grain or rigid body, in the order of ids; not with `share`.
    #[schemars(example = 2)]
    pub every: Option<WholeNumber<1, LARGEST_WHOLE>>,
    /// Share of the grains and rigid bodies that are taken, drawn at random by `run.seed`.
    #[schemars(example = 0.5)]
    pub share: Option<Quantity<Number, UpToOne>>,
    /// Rotation about the origin of the other run. Velocities and contact histories rotate, too; gravity and walls are those of this scene.
    pub rotate: Option<Turn>,
    /// Displacement, after the rotation.
    #[serde(rename = "move")]
    #[schemars(example = serde_json::json!([0, 0, "10 cm"]))]
    pub shift: Option<Vector<Length>>,
}
