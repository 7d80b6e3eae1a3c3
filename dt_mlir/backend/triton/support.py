"""Support functions of emitted wrappers. Their text is copied into the module that needs them, so
that it stands alone; nothing here is imported by it.
"""

# pyright: basic, reportMissingImports=false
# ruff: noqa: B904

import contextlib
import numbers

import torch
import triton
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.nvidia.hopper import TensorDescriptor


def _check_tensor(function, name, value, axes, dtype):
    """Refuses what is not a tensor of these axes and this element type."""
    if not isinstance(value, torch.Tensor):
        raise TypeError(f"{function}: '{name}' must be a tensor, not {type(value).__name__}")
    if axes is not None and value.dim() != len(axes):
        raise ValueError(
            f"{function}: '{name}[{', '.join(axes)}]' has {len(axes)} axes, "
            f"but the tensor given has {value.dim()}"
        )
    if value.dtype != dtype:
        raise TypeError(f"{function}: '{name}' must have elements of {dtype}, not {value.dtype}")
    if value.is_neg():
        raise ValueError(f"{function}: '{name}' is a negated view; call resolve_neg() on it")


def _check_scalar(function, name, value, kind, least=None, most=None):
    """A number as Triton takes it; refuse what is none of a kind, or not within its type."""
    if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
        kinds = {bool: "True or False", numbers.Integral: "a whole number"}
        raise TypeError(
            f"{function}: '{name}' must be {kinds.get(kind, 'a real number')}, "
            f"not a {type(value).__name__}"
        )
    if least is not None and not least <= value <= most:
        raise ValueError(f"{function}: '{name}' must be within {least} and {most}, not {value}")
    if kind is not numbers.Real:
        return int(value)
    try:
        return float(value)
    except OverflowError:
        raise ValueError(f"{function}: '{name}' is too large for a floating-point number")


def _check_device(function, name, tensor, first_name, first):
    """Refuses tensors on different devices."""
    if tensor.device != first.device:
        raise ValueError(
            f"{function}: '{name}' is on {tensor.device}, but '{first_name}' is on {first.device}"
        )


def _check_size(function, label, name, axis, size, known_name, known_axis, known):
    """Refuses tensors that disagree about the size of a label."""
    if size != known:
        raise ValueError(
            f"{function}: axis {axis} of '{name}' has size {size}, but axis {known_axis} of "
            f"'{known_name}' has {known}: both are '{label}'"
        )


def _check_least(function, what, size, least, reason):
    """Refuses a size that is too small for what is done with it."""
    if size < least:
        raise ValueError(f"{function}: {what} has size {size}, but {reason} needs {least} or more")


def _check_fixed(function, label, size, fixed):
    """Refuses a size that the program is not compiled for."""
    if size != fixed:
        raise ValueError(
            f"{function}: '{label}' has size {size}, but the program is compiled for {fixed}"
        )


def _defined_size(function, label, value, known=None):
    """A size that the program declares; refuses one that no tensors have."""
    try:
        size = value()
    except ZeroDivisionError:
        raise ValueError(f"{function}: the size of '{label}' divides by a size that is 0")
    if size < 0:
        raise ValueError(f"{function}: the size of '{label}' is {size}: a tensor is too small")
    if known is not None and size != known:
        raise ValueError(
            f"{function}: '{label}' has size {known}, but the program declares {size}"
        )
    return size


def _inferred_size(function, label, value, known=None):
    """The largest size for which reads stay in bounds; 0 where a tensor is too small for any."""
    try:
        size = max(0, value())
    except ZeroDivisionError:
        raise ValueError(f"{function}: the size of '{label}' divides by a size that is 0")
    if known is not None and size != known:
        raise ValueError(f"{function}: '{label}' has size {known}, but reads give it {size}")
    return size


def _check_index(function, reads, extents, ends, size):
    """Refuses sizes at which an index leaves its tensor; nothing is read where an extent is 0."""
    if not all(extents):
        return
    try:
        least, most = ends()
    except ZeroDivisionError:
        raise ValueError(f"{function}: {reads} divides by a size that is 0")
    if least < 0 or most >= size:
        place = least if least < 0 else most
        raise ValueError(
            f"{function}: {reads} may need an index of {place}, but the axis has {size}"
        )


def _check_label(function, label, size):
    """Refuses what is not the size of a label."""
    if isinstance(size, bool) or not isinstance(size, int) or size < 0:
        raise TypeError(f"{function}: '{label}' must be a size, not {size!r}")
    return size


def _check_tile(function, tile, elements, where):
    """Refuses a tile that Triton cannot hold."""
    if elements > 2**20:
        raise ValueError(
            f"{function}: a tile of {tile} has {elements} elements, more than Triton's "
            f"{2**20}; {where}"
        )


def _check_out(function, name, out, shape, dtype, device, inputs):
    """Refuses a tensor that cannot take the result; allocates one where none is given."""
    if out is None:
        return torch.empty(shape, dtype=dtype, device=device)
    if not isinstance(out, torch.Tensor):
        raise TypeError(f"{function}: 'out' must be a tensor, not {type(out).__name__}")
    if tuple(out.shape) != tuple(shape):
        raise ValueError(
            f"{function}: 'out' has shape {tuple(out.shape)}, but '{name}' has {tuple(shape)}"
        )
    if out.dtype != dtype:
        raise TypeError(f"{function}: 'out' must have elements of {dtype}, not {out.dtype}")
    if out.device != device:
        raise ValueError(f"{function}: 'out' is on {out.device}, but the inputs are on {device}")
    if out.is_neg():
        raise ValueError(f"{function}: 'out' is a negated view; call resolve_neg() on it")
    if _overlaps_itself(out):
        raise ValueError(f"{function}: 'out' overlaps itself: some of its elements share memory")
    for other, tensor in inputs.items():
        if _overlap(out, tensor):
            raise ValueError(f"{function}: 'out' overlaps '{other}' in memory")
    return out


def _check_outs(function, out, count):
    """Refuses anything but a tuple with a tensor for each result."""
    if out is None:
        return (None,) * count
    if not isinstance(out, tuple | list) or len(out) != count:
        raise TypeError(f"{function}: 'out' must be a tuple of {count} tensors")
    for i, first in enumerate(out):
        for second in out[:i]:
            if isinstance(first, torch.Tensor) and isinstance(second, torch.Tensor):
                if _overlap(first, second):
                    raise ValueError(f"{function}: two tensors of 'out' overlap in memory")
    return out


def _default_device(out):
    """The device of a result that no input has: that of `out`, else the current GPU."""
    tensors = [t for t in (out if isinstance(out, tuple | list) else [out]) if t is not None]
    if tensors and isinstance(tensors[0], torch.Tensor):
        return tensors[0].device
    if triton.knobs.runtime.interpret or not torch.cuda.is_available():
        return torch.device("cpu")
    return torch.device("cuda", torch.cuda.current_device())


def _overlaps_itself(tensor):
    """Returns whether two elements of a tensor may share memory."""
    reach = 0
    dims = [d for d in zip(tensor.stride(), tensor.shape) if d[1] != 1]
    if tensor.numel() == 0:
        return False
    for stride, size in sorted(dims):
        if stride <= reach:
            return True
        reach += stride * (size - 1)
    return False


def _overlap(a, b):
    """Returns whether two tensors share an element's memory (exact, but for very odd strides)."""
    if a.numel() == 0 or b.numel() == 0 or a.device != b.device:
        return False
    # Elements i of a and j of b overlap if the sum below falls short of neither element's width.
    steps = [(s * a.element_size(), 0, n - 1) for s, n in zip(a.stride(), a.shape)]
    steps += [(s * b.element_size(), 1 - n, 0) for s, n in zip(b.stride(), b.shape)]
    steps = sorted((step for step in steps if step[0] and step[1] != step[2]), reverse=True)
    start = a.data_ptr() - b.data_ptr()
    budget = [10000]

    def meets(low, high, index):
        budget[0] -= 1
        if low <= 0 <= high or budget[0] < 0:
            return True
        if index == len(steps):
            return False
        step, least, most = steps[index]
        down = sum(s * m for s, m, _ in steps[index + 1 :])
        up = sum(s * m for s, _, m in steps[index + 1 :])
        first = max(least, -((high + up) // step))
        last = min(most, (-low - down) // step)
        return any(
            meets(low + step * i, high + step * i, index + 1) for i in range(first, last + 1)
        )

    return meets(start - b.element_size() + 1, start + a.element_size() - 1, 0)


def _is_wide(reach, *tensors):
    """Returns whether what tiles reach, or an offset into the tensors, does not fit in 32 bits."""
    return reach >= 2**31 or any(
        sum(max(stride, 1) * (size - 1) for stride, size in zip(t.stride(), t.shape) if size)
        >= 2**31
        for t in tensors
    )


def _grid(function, instances):
    """The launch grid; refuse more program instances than a launch can have."""
    if instances >= 2**31:
        raise ValueError(
            f"{function}: a kernel would need {instances} program instances, more than the "
            f"{2**31 - 1} of a launch: make its blocks (block) larger"
        )
    return (instances,)


def _persistent_grid(function, blocks, device, programs):
    """The launch grid of program instances that walk blocks: so many on each multiprocessor."""
    # Triton's interpreter runs one instance after the other, as on a device of two.
    processors = 2
    if device.type != "cpu":
        processors = torch.cuda.get_device_properties(device).multi_processor_count
    if blocks + programs * processors > 2**31:
        raise ValueError(
            f"{function}: a kernel would walk {blocks} blocks, more than indices of 32 bits count: "
            "make its blocks (block) larger"
        )
    return (min(blocks, programs * processors),)


def _narrow(function, name, tensor):
    """Refuses a tensor whose offsets do not fit in 32 bits."""
    if _is_wide(0, tensor):
        raise ValueError(f"{function}: '{name}' has more than 2^31 elements, too many for offsets")
    return tensor


def _check_equal(function, label, size, other, other_size):
    """Refuses sizes that differ, which the specialized kernel alone needs to be equal."""
    if size != other_size:
        raise ValueError(
            f"{function}: '{label}' has size {size}, but '{other}' has {other_size}; the "
            "specialized kernel needs them equal, and '--emit triton' has a kernel for other sizes"
        )


def _check_special(function, label, size, wanted):
    """Refuses a size that the specialized kernel is not for."""
    if size != wanted:
        raise ValueError(
            f"{function}: '{label}' has size {size}; the specialized kernel is for {wanted}, and "
            "'--emit triton' has a kernel for other sizes"
        )


def _is_specialized(described, accessed):
    """Returns whether a device multiplies by warpgroups, and its copy engine takes the tensors."""
    device = described[0].device
    if device.type != "cuda" or torch.version.hip is not None:
        return False
    if torch.cuda.get_device_capability(device) != (9, 0):
        return False
    return not any(map(_undescribed, described)) and not _is_wide(0, *accessed)


def _undescribed(tensor):
    """Says why the copy engine does not take a tensor; None if it does."""
    if not tensor.numel():
        return "has no elements, which cannot be described"
    rows = [stride * tensor.element_size() for stride in tensor.stride()[:-1]]
    if tensor.stride(-1) != 1 or tensor.data_ptr() % 16 or any(row % 16 for row in rows):
        return "must have a contiguous last axis, and rows that start at multiples of 16 bytes"
    return None


def _takes_descriptors(tensors):
    """Returns whether a device has a copy engine, and it takes the tensors."""
    device = tensors[0].device
    if device.type != "cuda" or torch.version.hip is not None:
        return False
    capable = torch.cuda.get_device_capability(device) >= (9, 0)
    return capable and not any(map(_undescribed, tensors))


def _is_hopper(device):
    """Returns whether a device is a GPU whose products are asynchronous."""
    if device.type != "cuda" or torch.version.hip is not None:
        return False
    return torch.cuda.get_device_capability(device)[0] == 9


def _dependent_launch(device):
    """Returns the options of a launch that may begin before the kernel before it has ended."""
    if device.type != "cuda" or torch.version.hip is not None:
        return {"DEPENDENT": False}
    if torch.cuda.get_device_capability(device) < (9, 0):
        return {"DEPENDENT": False}
    return {"DEPENDENT": True, "launch_pdl": True}


def _ended(tensor, ends):
    """The sizes of a tensor for the copy engine: where it ends, or where its storage does."""
    if not ends:
        return list(tensor.shape)
    return [size if end is None else end for size, end in zip(tensor.shape, ends)]


def _tensor_box(tensor, box, ends=()):
    """Describes a tensor to the copy engine, which then copies boxes of it, up to its ends."""
    from triton.tools.tensor_descriptor import TensorDescriptor

    return TensorDescriptor(tensor, _ended(tensor, ends), tensor.stride(), box)


def _tensor_map(function, name, tensor, box, swizzle, ends=()):
    """Describes a tensor to the copy engine, up to its ends; refuses one that it cannot copy."""
    reason = _undescribed(tensor)
    if reason is not None:
        raise ValueError(f"{function}: '{name}' {reason}")
    layout = gl.NVMMASharedLayout(
        swizzle_byte_width=swizzle, element_bitwidth=8 * tensor.element_size(), rank=len(box)
    )
    return TensorDescriptor(tensor, _ended(tensor, ends), tensor.stride(), box, layout)


def _permuted(descriptor, axes):
    """Describes the same tensor and its boxes with their axes in another order."""
    shape, strides, box = (
        [numbers[axis] for axis in axes]
        for numbers in (descriptor.shape, descriptor.strides, descriptor.block_shape)
    )
    return TensorDescriptor(descriptor.base, shape, strides, box, descriptor.layout)


@contextlib.contextmanager
def _launching(function, device, kernel):
    """Launches on a device and its current stream; says what the device cannot hold of a kernel."""
    guard = torch.cuda.device(device) if device.type == "cuda" else contextlib.nullcontext()
    if device.type == "cpu" and not triton.knobs.runtime.interpret:
        raise ValueError(
            f"{function}: the tensors are on the CPU; move them to a GPU, or set "
            "TRITON_INTERPRET=1 before triton is imported"
        )
    try:
        with guard:
            yield
    except triton.runtime.errors.OutOfResources as error:
        raise RuntimeError(
            f"{function}: {kernel} needs {error.required} of {error.name}, but {device} has "
            f"{error.limit}: make its tiles (tensorize), num_stages or num_warps smaller"
        )

