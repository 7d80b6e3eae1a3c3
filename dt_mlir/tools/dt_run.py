"""`dt-run`: runs a program or a module of any level with the interpreters; it needs no Triton."""

from __future__ import annotations

import sys
from argparse import Namespace
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from dt_mlir.diagnostics import CompileError, SourceTexts, did_you_mean
from dt_mlir.files import write_output
from dt_mlir.tools.command_line import ArgumentParser, parse_sizes, run_tool, seed

if TYPE_CHECKING:
    from dt_mlir.analysis.interface import Input, Interface


def _parser() -> ArgumentParser:
    parser = ArgumentParser(
        prog="dt-run",
        description="Run a DT program (.dt) or IR of any level (.mlir) with the interpreters.",
    )
    add = parser.add_argument
    add("file", help="FILE.dt or FILE.mlir; - for IR on standard input")
    add("sizes", nargs="*", metavar="x=100", help="sizes of labels")
    add("--args", metavar="FILE.npz", help="the inputs, an array for each by its name")
    add("--random", type=seed, default=0, metavar="SEED", help="random inputs (default, seed 0)")
    add("-o", "--output", metavar="FILE.npz", help="save the results, and print none")
    add(
        "--arithmetic",
        choices=["bounded", "exact"],
        default="bounded",
        help="floats in float64 with error bounds (default), or exact in a finite field",
    )
    add("--load", action="append", default=[], metavar="FILE.py", help="load dialects")
    return parser


def _sizes_of_arrays(
    interface: Interface, arrays: dict[str, Any], given: dict[str, int]
) -> dict[str, int]:
    """The sizes of labels that arrays have, checked against each other."""
    found = dict(given)
    first = {label: group[0] for group in interface.groups for label in group}
    known = {first[label]: size for label, size in given.items() if label in first}
    for item in interface.inputs:
        if item.name not in arrays:
            raise CompileError(
                f"there is no array for the input '{item.name}'", None,
                did_you_mean(item.name, arrays),
            )  # fmt: skip
        shape = arrays[item.name].shape
        if len(shape) != len(item.axes or ()):
            raise CompileError(
                f"'{item.name}' has {len(item.axes or ())} axes, but its array has {len(shape)}"
            )
        for axis, label in enumerate(item.axes or ()):
            if not isinstance(label, str):
                continue
            size = known.setdefault(first[label], shape[axis])
            if size != shape[axis]:
                raise CompileError(
                    f"axis {axis} of '{item.name}' has {shape[axis]} elements, "
                    f"but '{label}' has {size}"
                )
            found[label] = size
    return found


def _check_kind(item: Input, array: Any) -> None:
    from xdsl.dialects.builtin import AnyFloat, IntegerType

    from dt_mlir.element_types import integer_range

    wanted = "floats" if isinstance(item.element, AnyFloat) else "integers"
    kinds = "fiu" if wanted == "floats" else "iub"
    if array.dtype.kind not in kinds:
        raise CompileError(f"'{item.name}' has {wanted}, but its array has {array.dtype}")
    if isinstance(item.element, IntegerType) and array.size and array.dtype.kind in "iu":
        least, most = integer_range(item.element)
        if int(array.min()) < least or int(array.max()) > most:
            raise CompileError(
                f"'{item.name}' has numbers from {least} to {most}, but its array has others"
            )


def run_file(args: Namespace, sources: SourceTexts) -> None:
    """Do what the command line asks for.

    Raises:
        CompileError: where the program, an input or an option is wrong.
    """
    try:
        import numpy as np
    except ImportError:
        raise CompileError("running needs numpy", None, "pip install 'dt-mlir[run]'") from None
    from dt_mlir.analysis.interface import Interface
    from dt_mlir.interpreters.run import random_inputs, run_module
    from dt_mlir.tools.parsing import read_module
    from dt_mlir.verification.semantics import Mode, arithmetic_for

    module = read_module(args.file, sources, args.load)
    interface = Interface.of(module)
    given = parse_sizes(",".join(args.sizes), "sizes")
    arithmetic = arithmetic_for(Mode(args.arithmetic), module)
    if args.args is None:
        sizes = interface.sizes(given)
        inputs = random_inputs(interface, sizes, arithmetic, args.random)
    else:
        from dt_mlir.interpreters.arrays import read_arrays

        arrays = {n.removeprefix("input/"): a for n, a in read_arrays(args.args).items()}
        sizes = interface.sizes(_sizes_of_arrays(interface, arrays, given))
        inputs: dict[str, Any] = {}
        for item in interface.inputs:
            _check_kind(item, arrays[item.name])
            value = arithmetic.from_array(arrays[item.name], item.element)
            inputs[item.name] = arithmetic.stored(value, item.element)
    results = run_module(module, inputs, sizes, arithmetic)
    if args.output is not None:
        from dt_mlir.interpreters.arrays import pack_arrays

        arrays = {name: value.value for name, value in results.items()}
        write_output(args.output, pack_arrays(arrays))
        return
    for name, value in results.items():
        array = np.asarray(value.value)
        shape = " x ".join(map(str, array.shape)) or "scalar"
        bounds = value.error[np.isfinite(value.error)]
        largest = float(bounds.max()) if bounds.size else 0.0
        note = f", error at most {largest:.3g}" if largest else ""
        undecided = int(np.sum(np.isinf(value.error)))
        note += f", {undecided} undecided" if undecided else ""
        print(f"{name}: {shape}{note}")
        print(np.array2string(array, threshold=200, precision=6))


def main(argv: Sequence[str] | None = None) -> None:
    """The entry point of `dt-run`."""
    args = _parser().parse_intermixed_args(argv)
    sys.exit(run_tool(lambda sources: run_file(args, sources)))


if __name__ == "__main__":
    main()
