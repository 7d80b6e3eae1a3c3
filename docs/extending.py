"""Writes the reference of what extensions may use, from signatures and docstrings."""

import importlib
import re
import textwrap

from api import class_lines, function_lines, package_loader

GROUPS = (
    ("Directives", "dt_mlir.scheduling.directive", ("Directive", "Phase", "Site", "parameter")),
    ("Parameters of directives", "dt_mlir.scheduling.parameters",
     ("Sizes", "Names", "Name", "Choice", "Integer", "ArgumentError")),
    ("Programs of the `loop` level", "dt_mlir.analysis.loop_program", ("LoopProgram",)),
    ("Loop nests", "dt_mlir.analysis.nests",
     ("loops_in", "loops_over", "labels_in", "locals_of", "write_to", "reads_of", "argument_named",
      "writes_of", "loop_of", "encloses", "function_labels", "check_writes")),
    ("Loops", "dt_mlir.dialects.loop",
     ("LoopLike", "ForOp", "ReduceOp", "LocalOp", "ReadOp", "WriteOp")),
    ("Bounds of fused functions", "dt_mlir.analysis.bounds",
     ("infer_bounds", "infer_bounds_of", "check_written_once")),
    ("Divisibility of indices", "dt_mlir.analysis.divisibility", ("constant_index", "multiple_of")),
    ("Kernels", "dt_mlir.analysis.kernels", ("kernels_of",)),
    ("Kernels of both levels", "dt_mlir.dialects.kernel", ("KernelOp",)),
    ("Operations on tiles", "dt_mlir.dialects.tile",
     ("RangeOp", "MaskOp", "LoadOp", "StoreOp", "MapOp", "YieldOp", "ReduceOp", "DotOp", "FillOp",
      "BroadcastOp", "TransposeOp")),
    ("Numbers of elements", "dt_mlir.analysis.tile_sizes", ("static_elements", "padded")),
    ("Reuse of elements", "dt_mlir.analysis.reuse", ("Reuse",)),
    ("Types of tiles", "dt_mlir.dialects.tile.types",
     ("Axis", "tile_type", "axes_of", "axis_names", "element_of")),
    ("Index expressions", "dt_mlir.dialects.indices",
     ("number", "dimension", "symbol", "add", "subtract", "multiply", "quotient", "remainder",
      "substitute", "has_dimension", "simple_index")),
    ("Ranges of indices", "dt_mlir.dialects.index_ranges",
     ("Range", "index_range", "collected", "terms_of", "is_never_negative")),
    ("Building indices", "dt_mlir.builders.indices",
     ("build_index", "index_in_bounds", "is_in_bounds")),
    ("Kinds of reductions", "dt_mlir.dialects.elem", ("ReductionKind", "identity")),
    ("Building reductions", "dt_mlir.builders.reductions", ("combination", "combine")),
    ("Values of the `tile` level", "dt_mlir.builders.values", ("ValueBuilder",)),
    ("Rewriting", "dt_mlir.builders.rewriting", ("replace_op",)),
    ("Cloning", "dt_mlir.builders.cloning", ("clone_body",)),
    ("Elementwise functions", "dt_mlir.elementwise", ("Function", "Domain")),
    (
        "Boundary conditions", "dt_mlir.boundary_conditions",
        ("BoundaryCondition", "smaller", "larger"),
    ),
    ("What programs call", "dt_mlir.callables", ("define", "define_boundary")),
    ("Scalar arithmetic", "dt_mlir.builders.scalars", ("ScalarBuilder",)),
    ("Walks over operations", "dt_mlir.traversal",
     ("operations", "operations_of", "values_of")),
    ("Refusals", "dt_mlir.diagnostics",
     ("CompileError", "MalformedError", "Note", "did_you_mean")),
    ("Loading", "dt_mlir.loading", ("load_file",)),
)  # fmt: skip
"""The sections, each with its module and the names of it."""


def extending_sections() -> str:
    """Returns the sections of the page.

    Raises:
        ValueError: if a name is not documented.
    """
    loader = package_loader()
    anchors = (re.sub(r"[^a-z ]", "", title.lower()).replace(" ", "-") for title, _, _ in GROUPS)
    links = ", ".join(f"[{title}](#{anchor})" for (title, _, _), anchor in zip(GROUPS, anchors))
    lines = [*textwrap.wrap(f"{links}.", 118, break_long_words=False), ""]
    for title, module, names in GROUPS:
        lines += [f"## {title}", "", f"`{module}`", ""]
        for name in names:
            value = getattr(importlib.import_module(module), name)
            if not value.__doc__:
                raise ValueError(f"{module}.{name} has no docstring")
            thing = loader.modules_collection[module].members[name]
            if thing.is_alias:
                # The members of what a package exports again would be aliases, too.
                thing = thing.final_target
            if isinstance(value, type):
                lines += class_lines(name, value, [thing])
            else:
                lines += function_lines(name, value, thing)
    return "\n".join(lines).rstrip() + "\n"
