//! Stands in for the crate `cubecl-llvm` 0.11.3.
//!
//! `cubecl-cuda` can compile kernels in two ways: as CUDA C++ by NVIDIA's own compiler, which it loads when the program runs, or
//! by LLVM through `cubecl-llvm`, whose build downloads a whole LLVM. Seixo takes the first way (cargo feature `cuda-cpp`), but
//! `cubecl-cuda` names items of the second one in any case. These are those items, and nothing else: building needs no network,
//! and asking for the second way is an error that says so. To be looked at again with every new version of CubeCL.

use cubecl_core::Compiler;
use cubecl_core::ir::nvidia::SmArch;
use cubecl_core::prelude::KernelDefinition;
use cubecl_environment::backtrace::BackTrace;
use cubecl_runtime::compiler::CompilationError;
use cubecl_runtime::kernel::BufferIOAttr;
use std::ffi::c_char;
use std::fmt;

/// Code for NVIDIA's virtual machine.
pub mod nvptx {
    /// Which edition of that code a driver understands.
    pub mod ptx_version {
        /// An edition; there is none, since none is ever written.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum PtxVersion {}

        impl PtxVersion {
            /// The edition for a driver.
            pub fn for_driver(_driver: i32) -> Option<PtxVersion> {
                None
            }
        }

        impl std::fmt::Display for PtxVersion {
            fn fmt(&self, _: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                match *self {}
            }
        }
    }
}

/// What targets have in common.
pub mod shared {
    /// What a target cannot do.
    pub mod lowered_features {
        use cubecl_core::ir::DeviceProperties;

        /// A kind of GPU.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum GpuTarget {
            /// NVIDIA's.
            Nvptx,
        }

        /// Takes away what LLVM could not compile; nothing is compiled by it.
        pub fn restrict_features(_properties: &mut DeviceProperties, _target: GpuTarget) {}
    }
}

/// What to compile for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LlvmTarget {
    /// NVIDIA's GPUs.
    Nvptx,
}

/// The compiler that is not here.
#[derive(Clone, Debug)]
pub struct PlironCompiler {
    /// What to compile for.
    pub target: LlvmTarget,
}

/// Options of the compiler.
#[derive(Clone, Debug, Default)]
pub struct PlironOptions {
    /// Architecture of an AMD GPU.
    pub arch: Option<()>,
    /// Architecture of an NVIDIA GPU.
    pub sm_arch: Option<SmArch>,
    /// Edition of the code.
    pub ptx_version: Option<nvptx::ptx_version::PtxVersion>,
    /// Whether parameters are constants of the grid.
    pub grid_constants: bool,
    /// Options that `cubecl-cuda` leaves at their defaults.
    pub others: (),
}

/// A kernel compiled for NVIDIA's virtual machine.
#[derive(Clone, Debug)]
pub struct NvptxModule {
    /// Its code.
    pub ptx: Vec<c_char>,
    /// Where it starts.
    pub entrypoint: String,
    /// Its text before the last translation.
    pub ir: String,
    /// Memory that the units of a cube share \[bytes\].
    pub shared_memory_size: usize,
    /// What it does with each of its buffers.
    pub io: Vec<BufferIOAttr>,
}

/// A compiled kernel.
#[derive(Clone, Debug)]
pub enum PlironArtifact {
    /// For NVIDIA's GPUs.
    NvptxCode(NvptxModule),
    /// For processors.
    Jit(()),
}

impl fmt::Display for PlironArtifact {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PlironArtifact::NvptxCode(module) => f.write_str(&module.ir),
            PlironArtifact::Jit(()) => Ok(()),
        }
    }
}

impl Compiler for PlironCompiler {
    type Representation = PlironArtifact;
    type CompilationOptions = PlironOptions;

    fn compile(&mut self, _kernel: KernelDefinition, _options: &PlironOptions) -> Result<PlironArtifact, CompilationError> {
        Err(CompilationError::Generic {
            reason: "this build has no LLVM; kernels are compiled as CUDA C++ (cargo feature cuda-cpp of cubecl)".into(),
            backtrace: BackTrace::capture(),
        })
    }

    fn extension(&self) -> &'static str {
        "ll"
    }

    fn lang_tag(&self) -> &'static str {
        "llvm"
    }
}
