//! Arrays at the addresses of the engine, and how they are handed to other libraries.

#![allow(unsafe_code, reason = "DLPack passes memory by pointers")]

mod block;
mod held;

use crate::shared::{Share, Shared};
use dlpark::DlpackFlags;
use dlpark::ffi::{
    DLDataType, DLDataTypeCode, DLDevice, DLDeviceType, DLManagedTensor, DLManagedTensorVersioned, DLPACK_MAJOR_VERSION,
    DLPACK_MINOR_VERSION, DLPackVersion, DLTensor,
};
use pyo3::exceptions::{PyAttributeError, PyBufferError, PyTypeError, PyValueError};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{IntoPyDict, PyCapsule, PyDict, PyTuple};
use seixo::engine::state::NumberType;
use std::ffi::{CStr, c_void};
use std::ptr::{NonNull, null_mut};
use std::sync::{Arc, OnceLock};

use block::{Block, ShownArray};
pub(crate) use held::Held;
use held::{HeldFluid, HeldGrains};

/// Adds this file's classes and functions to the module.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Array>()?;
    module.add_class::<Held>()?;
    module.add_class::<HeldGrains>()?;
    module.add_class::<HeldFluid>()
}

/// What `sim.hold()` returns: it holds the simulation from its `__enter__` to its `__exit__`.
pub(crate) fn hold(shared: Arc<Shared>) -> PyResult<Held> {
    Ok(Held::new(shared))
}

/// A view of an array where the engine keeps it, read-only.
///
/// It is valid in its block of `sim.hold()` only; afterwards it raises `ValueError`. Other libraries take it without a copy: on the CPU
/// `numpy.asarray(view)`, on CUDA `cupy.asarray(view)`, and on both `torch.from_dlpack(view)` and everything else that takes DLPack. All work of the
/// engine on it is done, on every stream. What such libraries made of it stays valid after the block, and until it is deleted the simulation raises
/// `BufferError` instead of a step.
///
/// DLPack before version 1.0 cannot say that an array is read-only, and PyTorch does not heed it: never write to such arrays.
#[pyclass(frozen, module = "seixo")]
pub(crate) struct Array {
    block: Arc<Block>,
    array: ShownArray,
    /// Present once a reader learned the address, which then reads through this object.
    read_directly: OnceLock<Share>,
}

/// Memory that a NumPy array reads; it is the base of that array.
#[pyclass(frozen, module = "seixo")]
struct NumpyBase {
    array: ShownArray,
    _share: Share,
}

#[pymethods]
impl NumpyBase {
    #[getter]
    fn __array_interface__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        interface(py, &self.array)
    }
}

/// The dictionary that NumPy's and CUDA's array interfaces have in common.
fn interface<'py>(py: Python<'py>, array: &ShownArray) -> PyResult<Bound<'py, PyDict>> {
    let of = PyDict::new(py);
    of.set_item("version", 3)?;
    of.set_item("typestr", type_string(array.number_type))?;
    of.set_item("shape", shape(py, array)?)?;
    if array.len > 0 {
        of.set_item("strides", strides(py, array)?)?;
    }
    let is_read_only = true;
    of.set_item("data", (array.address, is_read_only))?;
    Ok(of)
}

/// The type in the words of NumPy.
fn type_string(number_type: NumberType) -> &'static str {
    match (number_type, cfg!(target_endian = "little")) {
        (NumberType::U32, true) => "<u4",
        (NumberType::F32, true) => "<f4",
        (NumberType::F64, true) => "<f8",
        (NumberType::U32, false) => ">u4",
        (NumberType::F32, false) => ">f4",
        (NumberType::F64, false) => ">f8",
    }
}

fn shape<'py>(py: Python<'py>, array: &ShownArray) -> PyResult<Bound<'py, PyTuple>> {
    match array.width {
        1 => PyTuple::new(py, [array.len]),
        width => PyTuple::new(py, [array.len, width]),
    }
}

/// Strides in bytes.
fn strides<'py>(py: Python<'py>, array: &ShownArray) -> PyResult<Bound<'py, PyTuple>> {
    let bytes = array.number_type.bytes();
    match array.width {
        1 => PyTuple::new(py, [array.stride * bytes]),
        _ => PyTuple::new(py, [array.stride * bytes, bytes]),
    }
}

impl Array {
    pub(crate) fn new(block: Arc<Block>, array: ShownArray) -> Array {
        Array {
            block,
            array,
            read_directly: OnceLock::new(),
        }
    }

    fn device_name(&self) -> String {
        match &self.array.memory {
            None => "cpu".to_owned(),
            Some(memory) => format!("cuda:{}", memory.device()),
        }
    }
}

#[pymethods]
impl Array {
    /// (n,) for a number per particle, (n, 3) for a vector.
    #[getter]
    fn shape<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        self.block.check_open()?;
        shape(py, &self.array)
    }

    /// Bytes from one number to the next, per dimension. Vectors lie in records of four numbers, so that most arrays have gaps.
    #[getter]
    fn strides<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        self.block.check_open()?;
        strides(py, &self.array)
    }

    /// Type of the numbers.
    #[getter]
    fn dtype<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.block.check_open()?;
        py.import("numpy")?.call_method1("dtype", (type_string(self.array.number_type),))
    }

    /// Address of the first number, in the memory of the process or of the GPU; 0 without particles.
    #[getter]
    fn address(&self) -> PyResult<u64> {
        self.block.check_open()?;
        Ok(self.array.address)
    }

    /// Where the numbers are: `"cpu"`, or `"cuda:0"` and the like.
    #[getter]
    fn device(&self) -> PyResult<String> {
        self.block.check_open()?;
        Ok(self.device_name())
    }

    fn __len__(&self) -> PyResult<usize> {
        self.block.check_open()?;
        Ok(self.array.len)
    }

    fn __repr__(&self) -> String {
        let (name, len, width) = (self.array.name, self.array.len, self.array.width);
        if self.block.check_open().is_err() {
            return format!("<seixo.Array {name}, whose block of sim.hold() is over>");
        }
        format!("<seixo.Array {name}, {len} × {width} on {}>", self.device_name())
    }

    /// A NumPy array of the same memory, or a converted copy. Only on the CPU.
    #[pyo3(signature = (dtype=None, copy=None))]
    fn __array__<'py>(&self, py: Python<'py>, dtype: Option<Bound<'py, PyAny>>, copy: Option<bool>) -> PyResult<Bound<'py, PyAny>> {
        if self.array.memory.is_some() {
            self.block.check_open()?;
            return Err(PyTypeError::new_err(format!(
                "the array is in the memory of {}: torch.from_dlpack or cupy.asarray takes it there, and copies of the simulation's arrays are on the \
                 CPU",
                self.device_name()
            )));
        }
        let base = NumpyBase {
            array: self.array.clone(),
            _share: self.block.share(&self.array)?,
        };
        let view = py.import("numpy")?.call_method1("asarray", (Bound::new(py, base)?,))?;
        let converted = match dtype {
            None => view.clone(),
            Some(dtype) => view.call_method("astype", (dtype,), Some(&[("copy", false)].into_py_dict(py)?))?,
        };
        match (copy, converted.is(&view)) {
            (Some(true), true) => view.call_method0("copy"),
            (Some(false), false) => Err(PyValueError::new_err(
                "another type of numbers needs a copy; leave out copy=False, or dtype",
            )),
            _ => Ok(converted),
        }
    }

    /// A capsule of DLPack: versioned if `max_version` is (1, 0) or later, otherwise in the form before version 1.0.
    ///
    /// Raises `BufferError` if another device or a copy is asked for.
    #[pyo3(signature = (*, stream=None, max_version=None, dl_device=None, copy=None))]
    fn __dlpack__<'py>(
        &self,
        py: Python<'py>,
        stream: Option<i64>,
        max_version: Option<(u32, u32)>,
        dl_device: Option<(i32, i32)>,
        copy: Option<bool>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        let share = self.block.share(&self.array)?;
        if self.array.memory.is_none() && stream.is_some_and(|stream| stream != -1) {
            return Err(PyBufferError::new_err("memory of the CPU has no streams; pass stream=None"));
        }
        if dl_device.is_some_and(|device| device != device_of(&self.array)) {
            return Err(PyBufferError::new_err(format!(
                "the array is on {}, and a view goes to no other device; copy it there after taking it here",
                self.device_name()
            )));
        }
        if copy == Some(true) {
            return Err(PyBufferError::new_err("a view is no copy; copy it after taking it"));
        }
        match max_version {
            Some((major, _)) if major >= DLPACK_MAJOR_VERSION => capsule::<DLManagedTensorVersioned>(py, &self.array, share),
            _ => capsule::<DLManagedTensor>(py, &self.array, share),
        }
    }

    /// The device in the numbers of DLPack.
    fn __dlpack_device__(&self) -> PyResult<(i32, i32)> {
        self.block.check_open()?;
        Ok(device_of(&self.array))
    }

    /// Version 3 of CUDA's array interface. No stream is named, as all work of the engine is done. Readers must keep this view.
    ///
    /// Raises `AttributeError` on the CPU.
    #[getter]
    fn __cuda_array_interface__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        self.block.check_open()?;
        if self.array.memory.is_none() {
            return Err(PyAttributeError::new_err("the array is on the CPU; numpy.asarray takes it"));
        }
        if self.read_directly.get().is_none() {
            let share = self.block.share(&self.array)?;
            self.read_directly.get_or_init(|| share);
        }
        let of = interface(py, &self.array)?;
        of.set_item("stream", py.None())?;
        Ok(of)
    }
}

/// The device in the numbers of DLPack.
fn device_of(array: &ShownArray) -> (i32, i32) {
    match &array.memory {
        None => (DLDeviceType::CPU.0 as i32, 0),
        Some(memory) => (DLDeviceType::CUDA.0 as i32, memory.device() as i32),
    }
}

/// A tensor of DLPack, of either form.
trait ManagedTensor: Sized {
    /// Name of its capsules before a consumer takes them.
    const NAME: &'static CStr;

    /// A read-only tensor whose deleter is [`delete`].
    fn of(tensor: DLTensor) -> Self;

    fn tensor(&mut self) -> &mut DLTensor;
}

impl ManagedTensor for DLManagedTensor {
    const NAME: &'static CStr = c"dltensor";

    fn of(dl_tensor: DLTensor) -> DLManagedTensor {
        DLManagedTensor {
            dl_tensor,
            manager_ctx: null_mut(),
            deleter: Some(delete::<DLManagedTensor>),
        }
    }

    fn tensor(&mut self) -> &mut DLTensor {
        &mut self.dl_tensor
    }
}

impl ManagedTensor for DLManagedTensorVersioned {
    const NAME: &'static CStr = c"dltensor_versioned";

    fn of(dl_tensor: DLTensor) -> DLManagedTensorVersioned {
        DLManagedTensorVersioned {
            version: DLPackVersion {
                major: DLPACK_MAJOR_VERSION,
                minor: DLPACK_MINOR_VERSION,
            },
            manager_ctx: null_mut(),
            deleter: Some(delete::<DLManagedTensorVersioned>),
            flags: DlpackFlags::READ_ONLY,
            dl_tensor,
        }
    }

    fn tensor(&mut self) -> &mut DLTensor {
        &mut self.dl_tensor
    }
}

/// A tensor with everything that its pointers refer to. The tensor is first, so that both have one address.
#[repr(C)]
struct ExportedTensor<T> {
    managed: T,
    shape: [i64; 2],
    strides: [i64; 2],
    /// Keeps the memory of the numbers.
    _share: Share,
}

/// A capsule with the tensor of an array.
fn capsule<'py, T: ManagedTensor>(py: Python<'py>, array: &ShownArray, share: Share) -> PyResult<Bound<'py, PyCapsule>> {
    let (code, bits) = match array.number_type {
        NumberType::U32 => (DLDataTypeCode::UINT, 32),
        NumberType::F32 => (DLDataTypeCode::FLOAT, 32),
        NumberType::F64 => (DLDataTypeCode::FLOAT, 64),
    };
    let device_type = if array.memory.is_some() {
        DLDeviceType::CUDA
    } else {
        DLDeviceType::CPU
    };
    let tensor = DLTensor {
        data: array.address as usize as *mut c_void,
        device: DLDevice {
            device_type,
            device_id: device_of(array).1,
        },
        ndim: if array.width == 1 { 1 } else { 2 },
        dtype: DLDataType { code, bits, lanes: 1 },
        shape: null_mut(),
        strides: null_mut(),
        byte_offset: 0,
    };
    let exported = Box::into_raw(Box::new(ExportedTensor {
        managed: T::of(tensor),
        shape: [array.len as i64, array.width as i64],
        strides: [array.stride as i64, 1],
        _share: share,
    }));
    // SAFETY: the box was just made, and nothing else refers to it. The tensor and its sizes are different fields of it, which stay at their addresses
    // until `delete` frees the whole box.
    let pointer = unsafe {
        let (shape, strides) = (&raw mut (*exported).shape, &raw mut (*exported).strides);
        let tensor = ManagedTensor::tensor(&mut (*exported).managed);
        (tensor.shape, tensor.strides) = (shape.cast(), strides.cast());
        NonNull::new_unchecked(exported.cast::<c_void>())
    };
    // SAFETY: the pointer is that of a tensor with the layout that the name promises, and `release` frees it unless a consumer took it. A tensor owns
    // nothing of Python, and its share may be dropped by any thread.
    let made = unsafe { PyCapsule::new_with_pointer_and_destructor(py, pointer, T::NAME, Some(release::<T>)) };
    if made.is_err() {
        // SAFETY: without a capsule no one else has the pointer.
        unsafe { delete::<T>(pointer.as_ptr().cast()) };
    }
    made
}

/// Deleter of a tensor. Its consumer calls it once, from any thread.
///
/// # Safety
/// The pointer is one that [`capsule`] made for a tensor of this form, and nothing uses it afterwards.
unsafe extern "C" fn delete<T>(managed: *mut T) {
    // SAFETY: by the contract it is the pointer of a leaked box that begins with this tensor, and the only one in use.
    drop(unsafe { Box::from_raw(managed.cast::<ExportedTensor<T>>()) });
}

/// Destructor of a capsule: frees the tensor unless a consumer took it, which then renamed the capsule.
///
/// # Safety
/// Python calls it, with a capsule that [`capsule`] made.
unsafe extern "C" fn release<T: ManagedTensor>(capsule: *mut ffi::PyObject) {
    // SAFETY: the capsule is alive during its destructor. With its first name it still has the pointer of `capsule`, which no consumer has.
    unsafe {
        if ffi::PyCapsule_IsValid(capsule, T::NAME.as_ptr()) == 1 {
            delete::<T>(ffi::PyCapsule_GetPointer(capsule, T::NAME.as_ptr()).cast());
        }
    }
}
