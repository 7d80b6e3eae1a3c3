"""Checks of sizes and element types that users give by name."""

from __future__ import annotations

from collections.abc import Mapping

from dt_mlir.language.names import type_name_of
from dt_mlir.language.places import is_a, refusal


def sizes_given(sizes: Mapping[str, int]) -> dict[str, int]:
    """Returns the sizes of labels.

    Raises:
        CompileError: if they are not a mapping of names to whole numbers of 0 or more.
    """
    if not is_a(sizes, Mapping):
        raise refusal(
            f"sizes are a mapping of labels to numbers, not a {type(sizes).__name__}",
            "write sizes={'x': 4096}",
        )
    for label, size in sizes.items():
        if not is_a(label, str):
            raise refusal("sizes are given by the names of labels", "write sizes={'x': 4096}")
        if not is_a(size, int) or is_a(size, bool) or size < 0:
            raise refusal(
                f"the size of '{label}' is a number of 0 or more, not {size!r}",
                "write a whole number, or int(…) of one of another library's",
            )  # fmt: skip
    return dict(sizes)


def types_given(types: Mapping[str, object]) -> dict[str, str]:
    """Returns the element types of inputs by DT's names.

    Args:
        types: the types, by DT's names or PyTorch's.

    Raises:
        CompileError: if they are not a mapping of names to types, or there is no such type.
    """
    if not is_a(types, Mapping):
        raise refusal(
            f"types are a mapping of inputs to element types, not a {type(types).__name__}",
            "write types={'A': 'bf16'}",
        )
    if not all(is_a(name, str) for name in types):
        raise refusal("types are given by the names of inputs", "write types={'A': 'bf16'}")
    return {name: type_name_of(type) for name, type in types.items()}
