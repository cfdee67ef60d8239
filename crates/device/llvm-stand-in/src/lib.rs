//! Stand-in for the crate `cubecl-llvm` 0.11.3.
//!
//! `cubecl-cuda` can compile kernels in two ways. It can compile CUDA C++ with NVIDIA's compiler, which it loads at run time. Or it can compile with
//! LLVM through `cubecl-llvm`, whose build downloads a whole LLVM. Seixo takes the first way (cargo feature `cuda-cpp`), but `cubecl-cuda` names
//! items of the second way in any case. This crate holds those items and nothing else: the build needs no network, and a request for the second way
//! returns an error that says so. Check this crate with every new version of CubeCL.

use cubecl_core::Compiler;
use cubecl_core::ir::nvidia::SmArch;
use cubecl_core::prelude::KernelDefinition;
use cubecl_environment::backtrace::BackTrace;
use cubecl_runtime::compiler::CompilationError;
use cubecl_runtime::kernel::BufferIOAttr;
use std::ffi::c_char;
use std::fmt;

/// Code for NVIDIA's virtual machine (PTX).
pub mod nvptx {
    /// PTX version that a driver supports.
    pub mod ptx_version {
        /// A PTX version; it has no values, since no PTX is written here.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum PtxVersion {}

        impl PtxVersion {
            /// The PTX version for a driver.
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

/// Items common to all targets.
pub mod shared {
    /// Features that a target does not support.
    pub mod lowered_features {
        use cubecl_core::ir::DeviceProperties;

        /// Kind of GPU.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum GpuTarget {
            /// NVIDIA GPU.
            Nvptx,
        }

        /// Removes features that LLVM cannot compile; does nothing here.
        pub fn restrict_features(_properties: &mut DeviceProperties, _target: GpuTarget) {}
    }
}

/// Compilation target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LlvmTarget {
    /// NVIDIA GPUs.
    Nvptx,
}

/// The LLVM compiler, which this build does not have.
#[derive(Clone, Debug)]
pub struct PlironCompiler {
    /// Compilation target.
    pub target: LlvmTarget,
}

/// Options of the compiler.
#[derive(Clone, Debug, Default)]
pub struct PlironOptions {
    /// Architecture of an AMD GPU.
    pub arch: Option<()>,
    /// Architecture of an NVIDIA GPU.
    pub sm_arch: Option<SmArch>,
    /// PTX version.
    pub ptx_version: Option<nvptx::ptx_version::PtxVersion>,
    /// Whether parameters are constants of the grid.
    pub grid_constants: bool,
    /// Options that `cubecl-cuda` leaves at their defaults.
    pub others: (),
}

/// A kernel compiled for NVIDIA's virtual machine.
#[derive(Clone, Debug)]
pub struct NvptxModule {
    /// PTX code.
    pub ptx: Vec<c_char>,
    /// Name of the entry function.
    pub entrypoint: String,
    /// Intermediate representation before the last translation.
    pub ir: String,
    /// Memory that the threads of a block share \[bytes\].
    pub shared_memory_size: usize,
    /// Access to each buffer: read, write or both.
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
