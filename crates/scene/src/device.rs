//! The device of a run, as a scene names it.

use crate::diagnostics::{UnlocatedDiagnostic, did_you_mean};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use seixo_device::gpu::list;
use seixo_engine::world::{Api, DeviceChoice};
use serde::de::{self, Deserialize, Deserializer, Visitor};
use serde::ser::{Serialize, Serializer};
use std::{borrow::Cow, fmt, str::FromStr};

/// Device of a run, as a scene and the command line name it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Device {
    /// `auto`: the fastest here, in a trial of some steps.
    Auto,
    /// `cpu`: the cores of this machine.
    #[default]
    Cpu,
    /// `gpu`: the most capable GPU; `gpu:1`: that of this index, from 0, among all that `seixo info` lists.
    Gpu(Option<usize>),
    /// `cuda`, `wgpu:1`: the GPU of this index, from 0, among those of one API.
    Of(Api, usize),
    /// `heterogeneous`, `heterogeneous:1`: grains and bodies on the cores of this machine, fluids at the same time on a GPU, selected as with `gpu`.
    Heterogeneous(Option<usize>),
}

const WORDS: [&str; 6] = ["auto", "cpu", "gpu", "heterogeneous", "cuda", "wgpu"];

impl Device {
    fn read(text: &str) -> Result<Device, UnlocatedDiagnostic> {
        let (word, index) = match text.split_once(':') {
            None => (text, None),
            Some((word, digits)) => match digits.parse::<u16>() {
                Ok(index) if ["gpu", "cuda", "wgpu", "heterogeneous"].contains(&word) => (word, Some(usize::from(index))),
                _ => {
                    return Err(UnlocatedDiagnostic::new(format!("unknown device `{text}`"))
                        .limit("gpu:N, cuda:N, wgpu:N and heterogeneous:N with a whole number N from 0 to 65535")
                        .remedy("`seixo info` lists the devices of this machine with their words"));
                }
            },
        };
        match word {
            "auto" => Ok(Device::Auto),
            "cpu" => Ok(Device::Cpu),
            "gpu" => Ok(Device::Gpu(index)),
            "heterogeneous" => Ok(Device::Heterogeneous(index)),
            "cuda" => Ok(Device::Of(Api::Cuda, index.unwrap_or(0))),
            "wgpu" => Ok(Device::Of(Api::Wgpu, index.unwrap_or(0))),
            _ => {
                let known = did_you_mean(word, WORDS);
                Err(UnlocatedDiagnostic::new(format!("unknown device `{text}`"))
                    .remedy(format!("{known}, and of several GPUs one as in gpu:1")))
            }
        }
    }

    /// The device of this machine.
    ///
    /// # Errors
    /// If the index exceeds the number of GPUs. Whether a GPU exists and starts is only known when it is opened.
    pub fn choice(self) -> Result<DeviceChoice, UnlocatedDiagnostic> {
        match self {
            Device::Auto => Ok(DeviceChoice::Auto),
            Device::Cpu => Ok(DeviceChoice::Cpu),
            Device::Gpu(None) => Ok(DeviceChoice::Gpu(None)),
            Device::Heterogeneous(None) => Ok(DeviceChoice::Heterogeneous(None)),
            Device::Heterogeneous(Some(index)) => Device::Gpu(Some(index)).choice().map(|choice| match choice {
                DeviceChoice::Gpu(gpu) => DeviceChoice::Heterogeneous(gpu),
                other => other,
            }),
            Device::Of(api, index) => Ok(DeviceChoice::Gpu(Some((api, index)))),
            Device::Gpu(Some(index)) => {
                let listing = list();
                let found = listing.found.get(index).map(|gpu| DeviceChoice::Gpu(Some((gpu.api, gpu.index))));
                found.ok_or_else(|| {
                    UnlocatedDiagnostic::new(format!("there is no GPU {index} on this machine; there is: {listing}"))
                        .limit(match listing.found.len() {
                            0 => "no GPU".to_owned(),
                            count => format!("gpu:0 to gpu:{}", count - 1),
                        })
                        .remedy("`seixo info` lists the devices of this machine; \"cpu\" computes without one")
                })
            }
        }
    }
}

impl FromStr for Device {
    type Err = String;
    fn from_str(text: &str) -> Result<Device, String> {
        Device::read(text).map_err(|UnlocatedDiagnostic { message, limit, remedy }| {
            let limit = limit.map(|limit| format!(" (accepted: {limit})")).unwrap_or_default();
            format!("{message}{limit}: {remedy}")
        })
    }
}

impl fmt::Display for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Device::Auto => f.write_str("auto"),
            Device::Cpu => f.write_str("cpu"),
            Device::Gpu(None) => f.write_str("gpu"),
            Device::Gpu(Some(index)) => write!(f, "gpu:{index}"),
            Device::Of(api, index) => write!(f, "{api}:{index}"),
            Device::Heterogeneous(None) => f.write_str("heterogeneous"),
            Device::Heterogeneous(Some(index)) => write!(f, "heterogeneous:{index}"),
        }
    }
}

impl<'de> Deserialize<'de> for Device {
    fn deserialize<X: Deserializer<'de>>(deserializer: X) -> Result<Self, X::Error> {
        struct Reader;
        impl Visitor<'_> for Reader {
            type Value = Device;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "one of {}", WORDS.join(", "))
            }
            fn visit_str<E: de::Error>(self, text: &str) -> Result<Device, E> {
                Device::read(text).map_err(E::custom)
            }
        }
        deserializer.deserialize_any(Reader)
    }
}

impl Serialize for Device {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl JsonSchema for Device {
    fn schema_name() -> Cow<'static, str> {
        "device".into()
    }
    fn inline_schema() -> bool {
        true
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "examples": ["gpu"], "anyOf": [{ "enum": WORDS }, { "type": "string", "pattern": "^(gpu|cuda|wgpu|heterogeneous):[0-9]+$" }] })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_name_devices_and_read_as_they_are_written() {
        for word in [
            "auto",
            "cpu",
            "gpu",
            "gpu:0",
            "gpu:12",
            "cuda:0",
            "cuda:3",
            "wgpu:1",
            "heterogeneous",
            "heterogeneous:1",
        ] {
            assert_eq!(word.parse::<Device>().unwrap().to_string(), word);
        }
        assert_eq!("cuda".parse(), Ok(Device::Of(Api::Cuda, 0)));
        assert_eq!("wgpu".parse(), Ok(Device::Of(Api::Wgpu, 0)));
        assert_eq!(Device::default().choice().unwrap(), DeviceChoice::Cpu);
        assert_eq!(Device::Of(Api::Wgpu, 7).choice().unwrap(), DeviceChoice::Gpu(Some((Api::Wgpu, 7))));
    }

    #[test]
    fn other_words_are_refused_with_what_is_known() {
        for (word, reported) in [
            ("gup", "did you mean `gpu`?"),
            ("vulkan", "auto, cpu, gpu, heterogeneous, cuda, wgpu"),
            ("heterogenous", "did you mean `heterogeneous`?"),
            ("gpu:x", "whole number"),
            ("gpu:-1", "whole number"),
            ("cpu:1", "gpu:N"),
            ("", "known here"),
        ] {
            let refused = word.parse::<Device>().unwrap_err();
            assert!(refused.contains(reported) && refused.contains(&format!("`{word}`")), "{refused}");
        }
        let refused = Device::Gpu(Some(60_000)).choice().unwrap_err();
        assert!(
            refused.message.contains("no GPU 60000") && refused.remedy.contains("seixo info"),
            "{refused:?}"
        );
    }
}
