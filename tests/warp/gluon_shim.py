"""A shim of Gluon's names, on which the text of emitted modules runs without a GPU.

Partitions are threads, of which one runs at a time. What is asynchronous happens as late as it may:
a copy ends when all partitions wait, a product reads its factors when it is waited for, and a copy
to a tensor reads its buffer when that is waited for. What is not waited for is then wrong: buffers
hold NaN before a copy into them has ended.
"""

from __future__ import annotations

import math
import sys
import threading
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from types import FunctionType, ModuleType, SimpleNamespace
from typing import Any

import torch

from dt_mlir.runtime.execute import loaded

DTYPES = {
    "float64": torch.float64, "float32": torch.float32, "float16": torch.float16,
    "bfloat16": torch.bfloat16, "float8e4nv": torch.float8_e4m3fn, "float8e5": torch.float8_e5m2,
    "int64": torch.int64, "int32": torch.int32, "int16": torch.int16, "int8": torch.int8,
    "uint8": torch.uint8, "int1": torch.bool,
}  # fmt: skip
ELEMENTWISE = (
    "exp", "exp2", "log", "log2", "sqrt", "rsqrt", "sin", "cos", "abs", "floor", "ceil", "erf",
    "tanh",
)  # fmt: skip


class DeadlockError(Exception):
    """All partitions wait, and nothing is under way."""


class Barrier:
    """A barrier with phases."""

    def __init__(self) -> None:
        self.count = self.missing = self.bytes = self.phase = 0

    def init(self, count: int) -> None:
        """Sets the number of arrivals that end a phase."""
        self.count = self.missing = count

    def settle(self) -> None:
        """Ends the phase if nothing is missing."""
        if self.missing == 0 and self.bytes == 0:
            self.phase, self.missing = 1 - self.phase, self.count


class Machine:
    """The program instance that runs, and its partitions."""

    def __init__(self) -> None:
        self.program = self.programs = 0
        self.lock = threading.Condition()
        self.waiting: dict[int, tuple[Barrier, int]] = {}
        self.running = 0
        self.copies: list[Callable[[], None]] = []
        self.error: BaseException | None = None
        self.local = threading.local()

    def run(self, parts: Sequence[tuple[Any, tuple[Any, ...]]]) -> None:
        """Runs partitions until all have ended."""
        self.running, self.error, self.copies = len(parts), None, []
        turn = [threading.Thread(target=self._partition, args=part) for part in parts]
        for thread in turn:
            thread.start()
        for thread in turn:
            thread.join()
        if self.error is not None:
            raise self.error
        assert not self.copies, "a copy has not ended"

    def _partition(self, function: Any, arguments: tuple[Any, ...]) -> None:
        with self.lock:
            self.local.stores = []
            try:
                function(*arguments)
                assert not self.local.stores, "a copy to a tensor is not waited for"
            except BaseException as error:
                self.error = self.error or error
            self.running -= 1
            self._progress()
            self.lock.notify_all()

    def wait(self, barrier: Barrier, parity: int) -> None:
        """Waits until the phase of a parity has ended."""
        me = threading.get_ident()
        self.waiting[me] = barrier, parity
        while barrier.phase == parity and self.error is None:
            self._progress()
            if barrier.phase == parity and self.error is None:
                self.lock.wait(timeout=20)
        del self.waiting[me]
        if self.error is not None:
            raise self.error

    def _progress(self) -> None:
        """Ends a copy if no partition can go on without."""
        while self.waiting and len(self.waiting) == self.running:
            if any(barrier.phase != parity for barrier, parity in self.waiting.values()):
                self.lock.notify_all()
                return
            if not self.copies:
                self.error = self.error or DeadlockError("all wait, and nothing is under way")
                self.lock.notify_all()
                return
            self.copies.pop(0)()


MACHINE = Machine()


class Buffer:
    """A buffer in shared memory, or several."""

    def __init__(self, values: Any) -> None:
        self.values = values

    def index(self, number: int) -> Any:
        """One of several."""
        found = self.values[number]
        return found if isinstance(found, Barrier) else Buffer(found)

    def permute(self, order: tuple[int, ...]) -> Buffer:
        return Buffer(self.values.permute(order))

    def reshape(self, shape: list[int]) -> Buffer:
        return Buffer(self.values.view(shape))

    def _reinterpret(self, dtype: torch.dtype, shape: list[int], layout: Any) -> Buffer:
        """A matrix of panels as wide as the swizzle, which follow each other in memory."""
        width = 8 * layout["swizzle_byte_width"] // layout["element_bitwidth"]
        assert dtype == self.values.dtype
        assert shape[-1] == width
        rows, columns = self.values.shape
        panels = self.values.view(rows, columns // width, width).movedim(1, 0)
        assert panels.numel() == math.prod(shape)
        # Axes are taken apart, and none are joined, or this would be a copy.
        return Buffer(panels.view(shape))

    def store(self, value: torch.Tensor) -> None:
        self.values.copy_(value)


class Descriptor:
    """A tensor, where it ends for copies, and the shape of the boxes that are copied of it."""

    def __init__(
        self, base: torch.Tensor, shape: list[int], strides: Sequence[int],
        block_shape: list[int], layout: Any,
    ) -> None:  # fmt: skip
        assert sorted(strides) == sorted(base.stride())
        assert _reach(shape, strides) <= _reach(base.shape, base.stride())
        self.base, self.shape, self.strides = base, shape, strides
        self.block_shape, self.layout, self.dtype = block_shape, layout, base.dtype

    @property
    def values(self) -> torch.Tensor:
        """The described tensor, with its axes in the order of a box."""
        first = self.base.storage_offset()
        return torch.as_strided(self.base, self.shape, self.strides, first)

    def places(self, origin: Sequence[int]) -> tuple[Any, Any]:
        """The parts of the tensor and of a box that lie in both."""
        assert len(origin) == len(self.shape)
        starts = [max(0, -first) for first in origin]
        ends = zip(origin, self.block_shape, self.shape)
        stops = [max(0, min(extent, size - first)) for first, extent, size in ends]
        pairs = list(zip(origin, starts, stops))
        inside = tuple(slice(first + start, max(first + stop, 0)) for first, start, stop in pairs)
        return inside, tuple(slice(start, max(start, stop)) for _, start, stop in pairs)


def _reach(shape: Sequence[int], strides: Sequence[int]) -> int:
    """The distance of the last element from the first one."""
    return sum((size - 1) * stride for size, stride in zip(shape, strides, strict=True))


class Pointer:
    """Addresses of elements of a tensor."""

    def __init__(self, tensor: torch.Tensor, offset: Any) -> None:
        self.tensor, self.offset = tensor, offset

    def __add__(self, offset: Any) -> Pointer:
        return Pointer(self.tensor, self.offset + offset)

    def flat(self) -> torch.Tensor:
        """The elements behind the first one."""
        tensor = self.tensor
        count = sum((n - 1) * s for n, s in zip(tensor.shape, tensor.stride())) + 1
        return torch.as_strided(tensor, (count,), (1,), tensor.storage_offset())


class Product:
    """A product that is under way."""

    def __init__(self, a: Any, b: Buffer, acc: torch.Tensor, use_acc: bool) -> None:
        self.a, self.b, self.acc, self.use_acc = a, b, acc, use_acc
        self.found: torch.Tensor | None = None

    def value(self) -> torch.Tensor:
        """The sum, with what its factors are now."""
        if self.found is None:
            a = self.a.values if isinstance(self.a, Buffer) else self.a
            before = self.acc.value() if isinstance(self.acc, Product) else self.acc
            wide = torch.float32 if a.is_floating_point() else torch.int32
            product = a.to(wide) @ self.b.values.to(wide)
            self.found = before + product if self.use_acc else product
        return self.found


def _mma(a: Any, b: Buffer, acc: Any, use_acc: bool = True, is_async: bool = False) -> Product:
    assert is_async
    found = Product(a, b, acc, use_acc)
    MACHINE.local.products = [*getattr(MACHINE.local, "products", []), found]
    return found


def _mma_wait(num_outstanding: int, deps: tuple[Any, ...]) -> Any:
    products = getattr(MACHINE.local, "products", [])
    ended = products[: len(products) - num_outstanding]
    MACHINE.local.products = products[len(ended) :]
    for product in ended:
        product.value()
    found = tuple(p.value() if isinstance(p, Product) and p.found is not None else p for p in deps)
    return found[0] if len(found) == 1 else found


def _load_box(box: Descriptor, origin: list[int], barrier: Barrier, buffer: Buffer) -> None:
    assert list(buffer.values.shape) == box.block_shape
    buffer.values.fill_(_unset(buffer.values.dtype))

    def copy() -> None:
        inside, own = box.places(origin)
        buffer.values.zero_()
        buffer.values[own] = box.values[inside]
        barrier.bytes -= buffer.values.numel() * buffer.values.element_size()
        barrier.settle()

    MACHINE.copies.append(copy)


def _store_box(box: Descriptor, origin: list[int], buffer: Buffer) -> None:
    def copy() -> None:
        inside, own = box.places(origin)
        box.values[inside] = buffer.values[own]

    MACHINE.local.stores.append(copy)


def _store_wait(pending: int) -> None:
    stores = MACHINE.local.stores
    while len(stores) > pending:
        stores.pop(0)()


def _expect(barrier: Barrier, count: int) -> None:
    barrier.bytes += count
    barrier.missing -= 1
    barrier.settle()


def _arrive(barrier: Barrier, count: int) -> None:
    barrier.missing -= count
    assert barrier.missing >= 0, "a barrier counts fewer arrivals"
    barrier.settle()


def _allocate(dtype: torch.dtype, shape: list[int], layout: Any) -> Buffer:
    if layout == "barriers":
        return Buffer([Barrier() for _ in range(shape[0])])
    return Buffer(torch.full(shape, _unset(dtype), dtype=dtype))


def _unset(dtype: torch.dtype) -> float:
    """Contents of memory that nothing has been written to."""
    return float("nan") if dtype.is_floating_point else torch.iinfo(dtype).max


def _reduce(value: torch.Tensor, axis: int, combine: Any) -> torch.Tensor:
    function = getattr(combine, "fn", combine)
    while value.shape[axis] > 1:
        half = value.shape[axis] // 2
        value = function(value.narrow(axis, 0, half), value.narrow(axis, half, half))
    return value.squeeze(axis)


def _load(pointer: Pointer, mask: Any = None, other: Any = None) -> Any:
    flat, offset = pointer.flat(), torch.as_tensor(pointer.offset)
    inside = torch.as_tensor(True if mask is None else mask)
    found = flat[torch.where(inside, offset, 0).long()]
    return torch.where(inside, found, torch.as_tensor(0 if other is None else other).to(found.dtype))


def _store(pointer: Pointer, value: Any, mask: Any = None) -> None:
    flat = pointer.flat()
    shape = torch.broadcast_shapes(pointer.offset.shape, value.shape)
    inside = torch.as_tensor(True if mask is None else mask).expand(shape)
    flat[pointer.offset.expand(shape)[inside]] = value.expand(shape)[inside].to(flat.dtype)


def _extreme(name: str) -> Callable[..., Any]:
    function = getattr(torch, name)

    def found(a: Any, b: Any, propagate_nan: Any = None) -> Any:
        a, b = (torch.as_tensor(item) for item in (a, b))
        return function(a, b.to(a.dtype) if b.dim() == 0 else b)

    return found


def _where(condition: Any, a: Any, b: Any) -> torch.Tensor:
    return torch.where(torch.as_tensor(condition), a, b)


LANGUAGE = SimpleNamespace(
    **DTYPES,
    **{name: getattr(torch, name) for name in ELEMENTWISE},
    constexpr=int,
    PropagateNan=SimpleNamespace(ALL="all", NONE="none"),
    # Here kernels run one after the other.
    extra=SimpleNamespace(cuda=SimpleNamespace(gdc_wait=lambda: None)),
    program_id=lambda axis: MACHINE.program,
    num_programs=lambda axis: MACHINE.programs,
    cdiv=lambda a, b: (a + b - 1) // b,
    static_range=range,
    arange=lambda first, end, layout=None: torch.arange(first, end),
    full=lambda shape, value, dtype, layout=None: torch.full(shape, value, dtype=dtype),
    zeros=lambda shape, dtype, layout=None: torch.zeros(shape, dtype=dtype),
    where=_where,
    maximum=_extreme("maximum"),
    minimum=_extreme("minimum"),
    reduce=_reduce,
    sum=lambda value, axis: value.sum(axis),
    max=lambda value, axis: value.amax(axis),
    fma=lambda a, b, c: a * b + c,
    multiple_of=lambda value, numbers: value,
    split=lambda value: value.unbind(-1),
    BlockedLayout=lambda *numbers: numbers,
    convert_layout=lambda value, layout: value,
    div_rn=lambda value, other: value / other,
    sqrt_rn=lambda value: torch.as_tensor(value).sqrt(),
    cast=lambda value, dtype: torch.as_tensor(value).to(dtype),
    load=_load,
    store=_store,
    allocate_shared_memory=_allocate,
    NVMMASharedLayout=lambda **options: options,
    NVMMADistributedLayout=lambda **options: options,
    DotOperandLayout=lambda *options: options,
    SliceLayout=lambda *options: options,
    warp_specialize=lambda parts, warps, registers: MACHINE.run(parts),
)


class Kernel:
    """A kernel that is launched one program instance after the other."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.fn = function

    def __call__(self, *arguments: Any) -> Any:
        return self.fn(*arguments)

    def __getitem__(self, grid: tuple[int, ...]) -> Callable[..., None]:
        def launch(*arguments: Any, num_warps: int = 4, launch_pdl: bool = False) -> None:
            given = [Pointer(a, 0) if isinstance(a, torch.Tensor) else a for a in arguments]
            MACHINE.programs = grid[0]
            for MACHINE.program in range(grid[0]):
                self.fn(*given)

        return launch


def _modules() -> dict[str, ModuleType]:
    """The modules that stand for Gluon's."""
    mbarrier = SimpleNamespace(
        MBarrierLayout=lambda: "barriers", init=Barrier.init, wait=MACHINE.wait, arrive=_arrive,
        expect=_expect,
    )  # fmt: skip
    tma = SimpleNamespace(
        async_copy_global_to_shared=_load_box, async_copy_shared_to_global=_store_box,
        store_wait=_store_wait,
    )  # fmt: skip
    found = {
        "": {"jit": Kernel, "language": LANGUAGE},
        ".language": vars(LANGUAGE),
        ".language.nvidia": {},
        ".language.nvidia.hopper": {
            "fence_async_shared": lambda: None, "mbarrier": mbarrier, "tma": tma,
            "warpgroup_mma": _mma, "warpgroup_mma_wait": _mma_wait,
        },
        ".nvidia": {},
        ".nvidia.hopper": {"TensorDescriptor": Descriptor},
    }  # fmt: skip
    modules: dict[str, ModuleType] = {}
    for name, values in found.items():
        module = ModuleType(f"triton.experimental.gluon{name}")
        vars(module).update(values)
        modules[module.__name__] = module
    return modules


def _name(module: ModuleType) -> None:
    """Gives the kernels of Gluon in a module the shim's names, and what they call, too.

    Kernels of Triton that the module launches keep the names of Triton.
    """
    from triton.runtime.interpreter import InterpretedFunction

    names = {**vars(module), "gl": LANGUAGE, "tl": LANGUAGE, "libdevice": torch}
    for name, kernel in list(names.items()):
        if isinstance(kernel, Kernel | InterpretedFunction):
            code: Any = kernel.fn
            function = FunctionType(code.__code__, names, name, code.__defaults__)
            names[name] = Kernel(function)
            if isinstance(kernel, Kernel):
                setattr(module, name, names[name])


def _quotient(value: torch.Tensor, other: Any) -> torch.Tensor:
    """The quotient of integers that instructions give, which is rounded to 0."""
    return torch.div(value, other, rounding_mode="trunc")


def _rest(value: torch.Tensor, other: Any) -> torch.Tensor:
    """The rest that belongs to such a quotient."""
    return torch.fmod(value, other)


def _converted(value: torch.Tensor, *options: Any, bitcast: bool = False, **more: Any) -> Any:
    return value.view(*options) if bitcast else _TO(value, *options, **more)


_TO: Any = torch.Tensor.to


@contextmanager
def loaded_on_the_shim(source: str) -> Generator[ModuleType]:
    """Imports an emitted module of Gluon, whose kernels then run on the CPU."""
    import triton.experimental
    from triton import knobs
    from triton.runtime.jit import mangle_type

    # The first launch of a kernel of Triton's imports what is Gluon's.
    mangle_type(torch.empty(1))
    modules = _modules()
    kept = {name: sys.modules.get(name) for name in modules}
    package: Any = triton.experimental
    attribute = vars(package).get("gluon")
    sys.modules.update(modules)
    package.gluon = modules["triton.experimental.gluon"]
    interpreted, knobs.runtime.interpret = knobs.runtime.interpret, True
    tensors: Any = torch.Tensor
    operators = {"to": _converted, "__floordiv__": _quotient, "__mod__": _rest}
    before = {name: getattr(tensors, name) for name in operators}
    for name, function in operators.items():
        setattr(tensors, name, function)
    try:
        with loaded(source, "dt_gluon") as module:
            _name(module)
            yield module
    finally:
        knobs.runtime.interpret = interpreted
        for name, function in before.items():
            setattr(tensors, name, function)
        for name, known in kept.items():
            if known is None:
                del sys.modules[name]
            else:
                sys.modules[name] = known
        if attribute is None:
            del package.gluon
        else:
            package.gluon = attribute
