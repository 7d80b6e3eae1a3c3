"""`dt-run` on modules: kernels without a host function, values, and accesses to memory."""

import re
from pathlib import Path

import pytest
from command import Tools
from texts import replaced


def test_kernels_run_without_a_host_function(tool: Tools) -> None:
    # What they write is allocated and shown.
    done = tool("dt-run sums.mlir x=6 k=3")
    done.prints("rows__f: 6, error at most", "total__s: scalar")


def test_kernels_without_a_host_function_are_verified(tool: Tools) -> None:
    done = tool("dt-opt sums.mlir -p tile-place-masks,tile-elide-masks --verify-semantics")
    done.remarks("semantics verified: 2 passes ran")


def test_a_kernel_that_writes_nothing_is_refused(tool: Tools) -> None:
    module = replaced(
        Path("sums.mlir").read_text(),
        ("tile.store %r, %f[%x]", ""), ("tile.store %r, %s[]", ""),
    )  # fmt: skip
    done = tool("dt-run -", stdin=module)
    done.refuses("error: the kernel writes nothing, so there is nothing to compare")


def test_a_result_without_labels_is_refused(tool: Tools) -> None:
    module = replaced(
        Path("sums.mlir").read_text(), ('"f", host.axes = ["x"]', '"f", host.axes = [""]')
    )
    tool("dt-run -", stdin=module).refuses(
        "error: the kernel writes 'f', but says no label for each of its axes",
        "help: give 'host.axes' labels of the kernel",
    )


def test_two_extents_of_an_axis_are_refused(tool: Tools) -> None:
    kept = "%k = tile.range k: 4 from %c0 to %K"
    module = replaced(
        Path("sums.mlir").read_text(), (kept, f"%l = tile.range k: 4 from %c4 to %K\n  {kept}")
    )
    done = tool("dt-run - x=6 k=9", stdin=module)
    done.refuses("error: the axis 'k' runs from 4 to 9 and from 0 to 9 at once")


def test_a_walk_that_turns_around_beyond_its_blocks_is_refused(tool: Tools) -> None:
    kept = "%k = tile.range k: 4 from %c0 to %K"
    turned = f"%t = tile.alternate %c4 of %c4 by %c4\n  {kept}"
    module = replaced(Path("sums.mlir").read_text(), (kept, turned))
    done = tool("dt-run - x=6 k=3", stdin=module)
    done.refuses("error: block 4 of 4 is walked by 4 program instances")


def test_comparisons_of_every_kind_have_their_values(tool: Tools) -> None:
    tool("dt-run comparisons.mlir x=3").prints("f: 3\n[0 0 0]")
    module = replaced(Path("comparisons.mlir").read_text(), ("cmpi ult", "cmpi slt"))
    tool("dt-run - x=3", stdin=module).prints("[1 1 1]")


def test_a_size_that_is_not_the_compiled_one_is_refused(tool: Tools) -> None:
    done = tool("dt-run comparisons.mlir x=4")
    done.refuses("error: 'x' has size 4, but the program is compiled for 3")


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("constant 1 : i1", "constant 0 : i1", "error: 'f'[0] is never written"),
        ("step %one", "step %zero", "error: a loop has the step 0, and would not end"),
        ("math.sqrt", "math.atan", "error: the interpreters do not know 'math.atan'"),
    ],
)
def test_what_cannot_be_interpreted_is_refused(
    old: str, new: str, message: str, tool: Tools
) -> None:
    module = replaced(Path("comparisons.mlir").read_text(), (old, new))
    tool("dt-run - x=3", stdin=module).refuses(message)


# Below are accesses to memory in IR that a wrong pass could have made.


def module_of(level: str, tool: Tools) -> str:
    """Returns the module of two copies, one behind the other, at a level."""
    done = tool(f"dtc two_copies.dt --emit {level}")
    done.prints()
    return done.out


def with_blocks_of_four(module: str, kernel: str) -> str:
    """Returns a module in which program instances of a kernel take blocks of 2, and count as if
    they took blocks of 4."""
    head, found, rest = module.partition(f"tile.kernel @{kernel}(")
    assert found
    before, blocks, after = rest.partition("grid_blocks = [2")
    assert blocks
    assert "tile.kernel" not in before
    return f"{head}{found}{before}grid_blocks = [4{after}"


def test_a_read_out_of_bounds_is_refused(tool: Tools) -> None:
    module, count = re.subn(r" masked \[[^]]*\] pad 0\.0", "", module_of("tile", tool))
    assert count > 0
    done = tool("dt-run - x=3 y=3", stdin=module)
    done.refuses("error: 'tile.load' reads 'A'[0, 3], outside of its 3 x 3 elements (axis 1)")


def test_a_write_out_of_bounds_is_refused(tool: Tools) -> None:
    module, count = re.subn(
        r"^( *tile\.store .*) masked \[[^]]*\]", r"\1", module_of("tile", tool), flags=re.MULTILINE
    )
    assert count > 0
    done = tool("dt-run - x=3 y=3", stdin=module)
    done.refuses("error: 'tile.store' writes 'g'[0, 3], outside of its 3 x 3 elements (axis 1)")


def test_an_element_that_is_never_written_is_refused(tool: Tools) -> None:
    module = with_blocks_of_four(module_of("tile", tool), "f_kernel")
    done = tool("dt-run - x=3 y=3", stdin=module)
    done.refuses("error: 'f'[2, 0] is never written")


def test_a_read_of_what_is_not_written_is_refused(tool: Tools) -> None:
    module = with_blocks_of_four(module_of("tile", tool), "g_kernel")
    done = tool("dt-run - x=3 y=3", stdin=module)
    done.refuses("error: 'g'[2, 0] is read, but nothing has written it")


WRITE = "loop.write %g, %f_ptr[%x, %y]"


@pytest.mark.parametrize(
    ("level", "old", "new", "sizes", "message"),
    [
        (
            "tile", "arith.muli %pid", "arith.remsi %pid", "x=3 y=3",
            "error: 'g'[1, 0] is written by the program instances 0 and 1",
        ),
        (
            "tile", ", %g_ptr[", ", %A_ptr[", "x=3 y=3",
            "error: 'A'[0, 0] is an input's element, but it is written",
        ),
        (
            "loop", WRITE, "loop.write %g, %f_ptr[0, %y]", "x=3 y=3",
            "error: 'f'[0, 0] is written by the program instances 0 and 1",
        ),
        (
            "loop", " = x size 2", " = x size 4", "x=5 y=3",
            "error: 'f'[2, 0] is never written",
        ),
        (
            "loop", WRITE, f"{WRITE}\n%q = loop.read %f_ptr[0, 0]", "x=3 y=3",
            "error: 'f'[0, 0] is read by the program instance 1, and written by the instance 0 of "
            "the same kernel",
        ),
    ],
    ids=["written-twice", "input-written", "axis-missing", "blocks-with-gaps", "race"],
)  # fmt: skip
def test_wrong_accesses_are_refused(
    level: str, old: str, new: str, sizes: str, message: str, tool: Tools
) -> None:
    module = replaced(module_of(level, tool), (old, new))
    tool(f"dt-run - {sizes}", stdin=module).refuses(message)
