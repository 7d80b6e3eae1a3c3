"""The model of costs against figures that are worked out by hand."""

from dataclasses import replace

import pytest
from scheduled import ATTENTION, MATMUL, SOFTMAX, algorithm

from dt_mlir.analysis.interface import Interface
from dt_mlir.autoscheduling.decisions import Decision, plain
from dt_mlir.autoscheduling.slices import Algorithm
from dt_mlir.autoscheduling.tilings import Choices, best_tiling, ranked_tilings
from dt_mlir.costs.bounds import least_memory
from dt_mlir.costs.combining import SHUFFLE
from dt_mlir.costs.device import devices, find_device
from dt_mlir.costs.execution import ACCESS
from dt_mlir.costs.instance import Instance, Outline
from dt_mlir.costs.least_times import LeastTimes
from dt_mlir.costs.model import Model, cost_of
from dt_mlir.costs.tiling import Tiling
from dt_mlir.costs.traffic import LOADS_UNROLLED, LOADS_UNROLLED_WHOLE, NEAR
from dt_mlir.costs.work import Work
from dt_mlir.diagnostics import CompileError
from dt_mlir.dialects.sched import Argument

H200 = find_device("h200")


def work(text: str, **sizes: int) -> Work:
    module = algorithm(text)
    found = Algorithm(module, Interface.of(module).sizes(sizes))
    name = found.outputs[0]
    return found.works([name], [])[0]


def product(x: int, y: int, k: int, warps: int = 8, stages: int = 3) -> Tiling:
    return Tiling({"x": x, "y": y, "k": k}, frozenset("xy"), warps, stages)


def test_a_product() -> None:
    found = cost_of(work(MATMUL, x=4096, y=4096, k=4096), product(128, 256, 64), H200)
    assert found.programs == 32 * 16
    # Both factors are read in each of 64 steps, in three stages.
    assert found.shared == 3 * (128 + 256) * 64 * 2 + 2048
    # Of 512 instances the busiest of 132 multiprocessors has four.
    seconds = 4 * 132 * 2 * 128 * 256 * 4096 / H200.product_rates["f16"]
    assert found.bounds["products"] == pytest.approx(seconds)
    # Accumulators take half of the registers of 256 threads.
    assert 128 < found.registers < 255
    assert found.resident == 1
    assert found.limit in ("products", "cache")
    assert found.seconds > max(found.bounds.values())
    # Each factor takes more than the cache keeps; instances that run at once share what they read.
    assert 1.0 < found.memory / (3 * 4096**2 * 2) < 1.6


def test_a_product_that_does_not_fit() -> None:
    large = cost_of(work(MATMUL, x=4096, y=4096, k=4096), product(256, 256, 64, stages=4), H200)
    assert large.seconds == float("inf")


def specialized(y: int, k: int, stages: int) -> Tiling:
    return product(128, y, k, stages=stages)._replace(consumers=2, persistent=1)


def test_a_ring_keeps_products_waiting_where_it_is_short() -> None:
    large = work(MATMUL, x=4096, y=4096, k=4096)
    # The times on an H100 are 193, 292, 194 and 231 µs.
    four, two, six, three = (
        cost_of(large, specialized(*item), H200)
        for item in ((256, 64, 4), (256, 128, 2), (128, 64, 6), (128, 128, 3))
    )
    assert four.shared == two.shared == six.shared == three.shared
    assert two.seconds > 1.3 * four.seconds
    assert three.seconds > 1.08 * six.seconds
    assert six.seconds == pytest.approx(four.seconds, rel=0.05)


def test_results_of_wide_rows_take_the_shared_memory_of_two_parts() -> None:
    large = work(MATMUL, x=4096, y=4096, k=4096)
    ring = 3 * 64 * 2
    wide = cost_of(large, specialized(256, 64, 3), H200)
    assert wide.shared == (128 + 256) * ring + 128 * 256 + 2048
    narrow = cost_of(large, specialized(64, 64, 3), H200)
    assert narrow.shared == (128 + 64) * ring + 128 * 128 + 2048


def test_windows_at_neighbouring_places_overlap() -> None:
    text = (
        "Func f; In X, w; Var p, q, c; RVar r, s;"
        "f[p, q, c] = rsum(X[p + r, q + s, c] * w[r, s, c], r, s); f.compile();"
    )
    stencil = work(text, p=256, q=256, c=64, r=3, s=3)
    labels = frozenset("pqc")
    # A tile of 4 by 4 places reads 6 by 6, one of 1 by 16 reads 3 by 18.
    square, row = (
        cost_of(stencil, Tiling({"p": p, "q": q, "c": 64}, labels, 4, 3), H200)
        for p, q in ((4, 4), (1, 16))
    )
    assert square.bounds["cache"] < row.bounds["cache"]
    # Places beside each other follow in memory, as all of 'c' is read.
    assert square.memory > row.memory
    apart = work(text.replace("p + r", "3 * p + r").replace("q + s", "3 * q + s"),
                 p=256, q=256, c=64, r=3, s=3)  # fmt: skip
    square, row = (
        cost_of(apart, Tiling({"p": p, "q": q, "c": 64}, labels, 4, 3), H200)
        for p, q in ((4, 4), (1, 16))
    )
    # But for results beside each other.
    assert square.bounds["cache"] == pytest.approx(row.bounds["cache"], rel=0.01)


def test_ragged_rows_cost_more() -> None:
    tiling = product(128, 128, 64)
    even = cost_of(work(MATMUL, x=4096, y=4096, k=4096), tiling, H200)
    odd = cost_of(work(MATMUL, x=4096, y=4097, k=4093), tiling, H200)
    assert odd.seconds > 2 * even.seconds


def test_elements_of_ragged_rows_are_loaded_one_by_one() -> None:
    text = "Func f : f16; In A : f16; Var x, y; f[x, y] = A[x, y] + 1; f.compile();"
    tiling = Tiling({"x": 1, "y": 1024}, frozenset("xy"), 4, 3)
    even, odd = (cost_of(work(text, x=4096, y=y), tiling, H200) for y in (4096, 4097))
    # A block more holds the last column.
    assert odd.programs == 5 / 4 * even.programs
    # A load and a store move 8 elements at once, or one.
    saved = 2 * ACCESS * (1 - 1 / 8) * 4096**2 / H200.arithmetic_rate
    more = odd.bounds["arithmetic"] * 4 / 5 - even.bounds["arithmetic"]
    assert more == pytest.approx(saved, rel=0.02)


def joined(text: str, *labels: str, **sizes: int) -> Work:
    """Returns what a kernel does some of whose labels are one loop."""
    module = algorithm(text)
    found = Algorithm(module, Interface.of(module).sizes(sizes))
    (kernel,) = found.works(["f"], [plain("f", "fuse", *labels, "all")])
    return kernel


def test_windows_of_joined_labels_overlap() -> None:
    text = (
        "Func f; In X, w; Var p, q, c; RVar r, s;"
        "f[p, q, c] = rsum(X[p + r, q + s, c] * w[r, s, c], r, s); f.compile();"
    )
    sizes = {"p": 256, "q": 256, "c": 64, "r": 3, "s": 3}
    tiling = Tiling({"all": 1024}, frozenset({"all"}), 4, 3)
    near, apart = (
        cost_of(joined(each, "p", "q", "c", **sizes), tiling, H200).bounds["cache"]
        for each in (text, text.replace("q + s", "3 * q + s"))
    )
    # A block is of 16 places of one row: it reads 3 rows of 18, and not of 48.
    loads = 9 * (3 * 18 / 144 * (1 - NEAR) + NEAR)
    rest = 9 * NEAR + 1
    assert near / apart == pytest.approx((loads + rest) / (9 + rest), rel=0.02)


def test_a_small_tensor_stays_near() -> None:
    text = "Func f; In A, w; Var x, y; f[x, y] = A[x, y] * w[y]; f.compile();"
    tiling = Tiling({"all": 1024}, frozenset({"all"}), 4, 3)
    small, large = (
        cost_of(joined(text, "x", "y", x=2**22 // y, y=y), tiling, H200).bounds["cache"]
        for y in (2**10, 2**20)
    )
    assert small / large == pytest.approx((2 + NEAR) / 3, rel=0.02)


def test_loads_of_several_trips_are_under_way_unless_one_stores_between() -> None:
    """Compilers unroll loops, and move no load across a store."""
    sums = work("Func f; In A; Var i; RVar j; f[i] = rsum(A[i, j], j); f.compile();", i=132, j=16384)
    module = algorithm(
        "Func f; In A; Var i, x = size(A, 1); RVar j; f[i, x] = rsum(A[i, j], j, j <= x);"
        "f.compile();"
    )
    found = Algorithm(module, Interface.of(module).sizes({"i": 132, "x": 16384}))
    (scan,) = found.works(["f"], [plain("f", "scan", "x")])

    def waited(kernel: Work, label: str, tile: int) -> float:
        tiling = Tiling({"i": 1, label: tile}, frozenset("i"), 4, 3)
        return cost_of(kernel, tiling, H200).bounds["waiting"]

    trips = 16384 / 128
    once = waited(sums, "j", 0)
    assert waited(sums, "j", 128) - once == pytest.approx(trips / LOADS_UNROLLED * H200.latency, rel=0.1)
    assert waited(scan, "x", 128) > trips * H200.latency
    # A short loop is unrolled whole.
    short = waited(sums, "j", 256) - once
    assert short == pytest.approx(64 / LOADS_UNROLLED_WHOLE * H200.latency, rel=0.1)
    # One whose loads have a condition, as the last step has fewer elements, is not unrolled in part.
    ragged = replace(sums, loops=[
        replace(walk, extent=walk.extent - 4 * (walk.label == "j")) for walk in sums.loops
    ])  # fmt: skip
    assert waited(ragged, "j", 128) - once == pytest.approx(trips * H200.latency, rel=0.1)
    # A thread has registers for a few elements of each.
    assert waited(sums, "j", 4096) - once == pytest.approx(3 * H200.latency, rel=0.2)


def test_threads_scan_neighbours_by_themselves() -> None:
    """Of four elements that a thread loads at once, other threads take part in the last."""
    text = (
        "Func f; In A; Var i, x = size(A, 1); RVar j; f[i, x] = rsum(A[i, j], j, j <= x);"
        "f.compile();"
    )
    tiling = Tiling({"i": 1, "x": 1024}, frozenset("i"), 4, 3)
    found: list[float] = []
    for size in (4096, 4097):
        module = algorithm(text)
        known = Algorithm(module, Interface.of(module).sizes({"i": 4096, "x": size}))
        (scan,) = known.works(["f"], [plain("f", "scan", "x")])
        found.append(cost_of(scan, tiling, H200).bounds["arithmetic"])
    even, odd = found
    lanes = -(-4096 // 132) * 132 * 4096 / H200.arithmetic_rate
    saved = SHUFFLE * 5 * (1 - 1 / 4) + 2 * ACCESS * (1 - 1 / 4)
    assert odd * 4 / 5 - even == pytest.approx(saved * lanes, rel=0.1)


def test_few_rows_are_padded() -> None:
    tiling = product(16, 128, 64, warps=4)
    few = cost_of(work(MATMUL, x=3, y=4096, k=4096), tiling, H200)
    more = cost_of(work(MATMUL, x=16, y=4096, k=4096), tiling, H200)
    assert few.bounds["products"] == more.bounds["products"]
    assert few.memory <= more.memory


def softmax(rows: int, columns: int) -> Work:
    """Returns what softmax in one kernel does."""
    module = algorithm(SOFTMAX)
    found = Algorithm(module, Interface.of(module).sizes({"x": rows, "y": columns}))
    fused = [plain("total", "fuse_at", "f", "x"), plain("top", "fuse_at", "f", "x")]
    (kernel,) = found.works(["f", "total", "top"], fused)
    return kernel


def test_rows_that_are_held_are_read_once() -> None:
    kernel = softmax(4096, 4096)
    whole = cost_of(kernel, Tiling({"x": 1, "y": 0}, frozenset("x"), 8, 3), H200)
    parts = cost_of(kernel, Tiling({"x": 1, "y": 512}, frozenset("x"), 8, 3), H200)
    assert whole.memory == pytest.approx(2 * 4096**2 * 4, rel=0.01)
    # Each row is read three times in steps, though from the cache near a multiprocessor.
    assert 1.1 * whole.bounds["cache"] < parts.bounds["cache"] < 1.4 * whole.bounds["cache"]
    assert parts.memory < 1.1 * whole.memory


def test_rows_that_are_too_long_come_from_the_shared_cache_again() -> None:
    kernel = softmax(128, 65536)
    few = cost_of(kernel, Tiling({"x": 1, "y": 8192}, frozenset("x"), 32, 3), H200)
    whole = cost_of(kernel, Tiling({"x": 1, "y": 0}, frozenset("x"), 32, 3), H200)
    assert few.bounds["cache"] > 1.8 * whole.bounds["cache"]
    assert few.memory < 1.1 * whole.memory


def test_rows_of_instances_that_share_a_multiprocessor_leave_room_for_others() -> None:
    """Of two instances each finds again what takes two fifths of the room, not half of it."""
    tiling = Tiling({"x": 1, "y": 1024}, frozenset("x"), 32, 3)
    near, far = (cost_of(softmax(4096, columns), tiling, H200) for columns in (20 << 10, 26 << 10))
    assert near.resident == far.resident == 2
    assert 0.8 * H200.shared_memory / 2 < (26 << 10) * 4 < H200.shared_memory / 2
    assert far.bounds["cache"] / 26 > 1.5 * near.bounds["cache"] / 20


def test_sums_that_wait_for_the_loop_are_exchanged_once() -> None:
    """As often as a loop ends, not as often as it has steps."""
    kernel = softmax(4096, 8192)

    def waited(y: int, warps: int) -> float:
        tiling = Tiling({"x": 1, "y": y}, frozenset("x"), warps, 3)
        return cost_of(kernel, tiling, H200).bounds["arithmetic"]

    # Partial sums of a few elements a thread are kept; of more they are not.
    assert waited(1024, 8) < 1.1 * waited(4096, 8)


BIASED = """
Func s, top, p, total, o : bf16;
In Q : bf16, K : bf16, V : bf16, bias : bf16;
Var h, i, d = 64; RVar j, c = 64;
s[h, i, j] = rdot(Q[h, i, c], K[h, j, c], c) + bias[i, j];
top[h, i] = rmax(s[h, i, j], j);
p[h, i, j] = exp(s[h, i, j] - top[h, i]);
total[h, i] = rsum(p[h, i, j], j);
o[h, i, d] = rdot(p[h, i, j], V[h, j, d], j) / total[h, i];
o.compile();
"""


def test_a_load_between_two_products_is_waited_for() -> None:
    module = algorithm(BIASED)
    found = Algorithm(module, Interface.of(module).sizes({"h": 256, "i": 512, "j": 512}))
    decisions = [plain("o", "online", "j"), plain("o", "precision", "narrow")]
    (kernel,) = found.works(["o", "s", "top", "p", "total"], decisions)

    def seconds(rows: int) -> float:
        tiles = {"h": 1, "i": rows, "d": 0, "j": 64, "c": 0}
        return cost_of(kernel, Tiling(tiles, frozenset("hi"), 8, 3), H200).seconds

    # Of tiles of 256 rows one fits a multiprocessor, and nothing runs beside what it waits for.
    assert seconds(256) > 1.25 * seconds(128)


NORMALIZE = """
In X; Func square, f; Var row, col; RVar k;
square[row] = rsum(X[row, k] ** 2, k);
f[row, col] = X[row, col] * rsqrt(square[row]);
f.compile();
"""


def test_rows_that_two_labels_walk_are_read_once() -> None:
    module = algorithm(NORMALIZE)
    found = Algorithm(module, Interface.of(module).sizes({"row": 4096, "k": 4096}))
    (kernel,) = found.works(["f", "square"], [plain("square", "fuse_at", "f", "row")])
    whole = cost_of(kernel, Tiling({"row": 1, "k": 0, "col": 0}, frozenset(["row"]), 8, 3), H200)
    assert whole.memory == pytest.approx(2 * 4096**2 * 4, rel=0.01)
    # A block of columns is loaded beside the whole row, from the cache.
    tiles = {"row": 1, "k": 0, "col": 1024}
    blocks = cost_of(kernel, Tiling(tiles, frozenset(["row", "col"]), 8, 3), H200)
    assert blocks.bounds["cache"] > 2 * whole.bounds["cache"]


def test_a_matrix_and_its_transpose_are_both_read() -> None:
    text = "Func f; In A; Var x, y; f[x, y] = A[x, y] + A[y, x]; f.compile();"
    found = work(text, x=32768, y=32768)
    assert not found.twins
    tiles = Tiling({"x": 32, "y": 32}, frozenset("xy"), 4, 3)
    assert cost_of(found, tiles, H200).memory > 2.9 * 32768**2 * 4


@pytest.mark.parametrize(
    ("rows", "reads"),
    [
        (("P[x]", "Q[x]"), 2), (("P[x]", "P[x]"), 1), (("P[x]", "P[P[x]]"), 2),
        # What is computed of `x` alone is taken for neighbours.
        (("x * x % 64", "x * x // 8"), 1), (("P[x]", "x"), 2),
    ],
)  # fmt: skip
def test_rows_whose_numbers_are_read_are_others(rows: tuple[str, str], reads: int) -> None:
    """Rows whose numbers are read alike are the same."""
    elements = " + ".join(f"A[{row}, y]" for row in rows)
    text = f"Func f; In A, P : i32, Q : i32; Var x, y; f[x, y] = {elements}; f.compile();"
    sizes = Interface.of(algorithm(text)).sizes({"x": 32768, "y": 32768})
    found = work(text, **dict.fromkeys(sizes, 32768))
    tiles = Tiling({"x": 1, "y": 1024}, frozenset("xy"), 4, 3)
    moved = cost_of(found, tiles, H200).memory / (32768**2 * 4)
    assert moved == pytest.approx(reads + 1, rel=0.03)


def test_indices_that_use_others_twice_are_read_in_time() -> None:
    """There are as many paths through the index as a power of two says."""
    count = 60
    lines = [f"g{k}[x] = g{k - 1}[x] ^ (g{k - 1}[x] >> 1);" for k in range(1, count)]
    names = ", ".join(f"g{k} : i32" for k in range(count))
    text = "\n".join([
        f"Func f, {names}; In A; Var x, y;", "g0[x] = x ^ 5;", *lines,
        f"f[x, y] = A[g{count - 1}[x] % len(x), y] + A[x, y];", "f.compile();",
    ])  # fmt: skip
    found = Algorithm(algorithm(text), {"x": 4096, "y": 4096, "A_0": 4096})
    inner = [f"g{k}" for k in reversed(range(count))]
    (kernel,) = found.works(["f", *inner], [plain(name, "inline") for name in inner])
    reads = [item for item in kernel.accesses if item.tensor == "A"]
    # Rows whose numbers follow from `x` alone are taken for neighbours.
    assert len({item.key for item in reads}) == 1


def test_a_part_of_a_row_is_no_run_of_neighbours() -> None:
    """Of 8 neighbours each instance reads one, behind which those of others follow."""
    text = "Func f; In A; Var g; RVar i = 8; f[g] = rsum(A[g * 8 + i], i); f.compile();"
    module = algorithm(text)
    found = Algorithm(module, Interface.of(module).sizes({"g": 2**22}))
    tiles = Tiling({"g": 1024, "i": 1, "i_part": 1}, frozenset(["g", "i_part"]), 4, 3)
    split = Decision("f", "rfactor", (Argument("i", 8), Argument(None, "parts")))
    parts = next(w for w in found.works(["f"], [split]) if w.root == "parts")
    assert cost_of(parts, tiles, H200).memory > 4 * 2**25 * 4


def test_strided_accesses_move_whole_sectors() -> None:
    copy = "Func f; In A; Var x, y; f[x, y] = A[y, x]; f.compile();"
    found = work(copy, x=4096, y=4096)
    rows = cost_of(found, Tiling({"x": 1, "y": 1024}, frozenset("xy"), 4, 3), H200)
    tiles = cost_of(found, Tiling({"x": 32, "y": 32}, frozenset("xy"), 4, 3), H200)
    assert rows.seconds > 2 * tiles.seconds


def test_indices_that_repeat_are_runs_of_neighbours() -> None:
    """Every other point of `x // 2` goes on with the run of one of two planes."""
    found = work(
        "Func f : bf16; In X : bf16; Var c = size(X, 0) // 2, x = 2 * size(X, 1);"
        "f[c, x] = X[2 * c + x % 2, x // 2]; f.compile();", X_0=8, X_1=2**20,
    )  # fmt: skip
    (read,) = (item for item in found.accesses if not item.stores)
    assert read.repeats == (2,)
    wide, narrow = (
        cost_of(found, Tiling({"c": c, "x": x}, frozenset("cx"), 4, 1), H200).bounds["memory"]
        for c, x in ((1, 2048), (4, 64))
    )
    # A run of 32 of its elements is 64 bytes of a page, one of 1024 of them 2048.
    assert wide < 1.02 * 2 * 8 * 2**20 * 2 / H200.memory_rate
    assert narrow > 1.2 * wide


def test_domains_are_a_part_of_the_work() -> None:
    text = """
    Func f; In A; Var x; RVar y;
    f[x] = rsum(A[x, y], y, y <= x);
    f.compile();
    """
    module = algorithm(text)
    found = Algorithm(module, Interface.of(module).sizes({"x": 4096, "y": 4096}))
    (kernel,) = found.works(["f"], [])
    (share,) = {walk.share for walk in kernel.loops if walk.label == "y"}
    assert share == pytest.approx(0.5, abs=0.1)


def test_products_that_no_dot_takes_are_arithmetic() -> None:
    text = MATMUL.replace("f16", "f64")
    found = cost_of(work(text, x=512, y=512, k=512), product(32, 32, 16), H200)
    assert found.bounds["products"] == 0
    assert found.bounds["arithmetic"] > 0
    assert found.shared == 0


def test_more_bandwidth_is_faster() -> None:
    copy = work("Func f; In A; Var x; f[x] = A[x] + 1; f.compile();", x=2**24)
    tiling = Tiling({"x": 1024}, frozenset("x"), 4, 3)
    slow = replace(H200, memory_rate=H200.memory_rate / 2)
    assert cost_of(copy, tiling, slow).seconds > 1.8 * cost_of(copy, tiling, H200).seconds


@pytest.mark.parametrize("name", ["NVIDIA H200", "h200", "H200", "NVIDIA H200 NVL", None])
def test_devices_by_name(name: str | None) -> None:
    assert find_device(name).name == "NVIDIA H200"


def test_figures_are_plausible() -> None:
    assert {*devices()} == {"a100", "b200", "h100", "h200", "mi300x"}
    for device in devices().values():
        assert 1e12 < device.memory_rate < device.cache_rate < 1e14
        assert device.special_rate < device.arithmetic_rate < device.product_rates["f16"]
        assert device.product_rates["f16"] <= device.product_rates["f8"]


@pytest.mark.parametrize("name", ["abacus", "", "NVIDIA", "NVIDIA H20", "NVIDIA A10", "a"])
def test_an_unknown_device_is_refused(name: str) -> None:
    with pytest.raises(CompileError, match=f"no figures of the device '{name}'"):
        find_device(name)


WINDOW = """
Func f; In A : f16; Var y, x = size(A, 1) - 2; RVar r = 3;
f[y, x] = rsum(A[y, x + r] * A[y, x], r) + A[y, 0]; f.compile();
"""


CHAINED = """
Func f : bf16; In A : bf16, x : bf16; Var y; RVar k;
f[y] = rdot(exp(A[y, k]), x[k], k);
f.compile();
"""


def test_the_last_lanes_of_a_tile_may_have_no_elements() -> None:
    kernel = work("Func f; In A; Var i; RVar j; f[i] = rsum(A[i, j], j); f.compile();", i=8, j=12288)
    outline = Outline(kernel)
    instances = [
        Instance(outline, {"i": 1, "j": tile}, frozenset("i")) for tile in (128, 96, 5000, 0)
    ]
    assert [instance.moved[0].masked for instance in instances] == [False, True, True, True]


@pytest.mark.parametrize("device", ["h200", "a100", "mi300x"])
@pytest.mark.parametrize(
    ("text", "sizes"),
    [
        (SOFTMAX, {"x": 4096, "y": 1000}),
        (SOFTMAX, {"x": 3, "y": 100_000}),
        ("Func f; In A; Var y; RVar k; f[y] = rsum(A[k, y], k); f.compile();",
         {"y": 4097, "k": 333}),
        ("Func f; In A; Var x, y; f[x, y] = exp(A[y, x]); f.compile();", {"x": 2000, "y": 1}),
        ("Func f; In A; Var x, y; f[x, y] = exp(A[x, y]); f.compile();", {"x": 0, "y": 5}),
        ("Func f; In A; Var x, y; RVar k; f[x, y] = rsum(A[x, k], k, k <= y); f.compile();",
         {"x": 64, "y": 128}),
        (WINDOW, {"y": 100, "A_1": 3000}),
        ("Func f; In A; Var y = 300; RVar k = 99; f[y] = rsum(A[y // 2 + k], k); f.compile();", {}),
        ("Func f; In A; Var y = 300; f[y] = A[y // 4] + A[y % 7]; f.compile();", {"A_0": 4000}),
        (CHAINED, {"y": 33, "k": 20000}),
        (CHAINED, {"y": 100, "k": 4096}),
    ],
)  # fmt: skip
def test_bounds_are_no_longer_than_times(text: str, sizes: dict[str, int], device: str) -> None:
    """Leaves out none of the fastest tilings: only those whose bound is longer than the least."""
    module = algorithm(text)
    found = Algorithm(module, Interface.of(module).sizes(sizes))
    target = find_device(device)
    for kernel in found.works(list(found.functions)[::-1], []):
        for coarse in (False, True):
            choices = Choices(kernel, target, coarse)
            tilings = list(choices.tilings())
            model = Model(kernel, target)
            bound = LeastTimes(model.outline, target, 3, choices.specializes)
            for tiling in tilings:
                cost = model.cost(tiling)
                assert bound.of(tiling) <= cost.seconds * (1 + 1e-12)
                assert least_memory(kernel, target) <= cost.bounds["memory"] * (1 + 1e-12)
            every = ranked_tilings(kernel, target, max(len(tilings), 2), coarse)
            assert best_tiling(kernel, target, coarse) == every[0]
            assert ranked_tilings(kernel, target, 5, coarse) == every[:5]


@pytest.mark.parametrize("device", ["h200", "a100", "mi300x"])
@pytest.mark.parametrize(
    ("text", "sizes"),
    [
        (MATMUL, {"x": 4096, "y": 4096, "k": 4096}),
        (MATMUL, {"x": 33, "y": 1000, "k": 4097}),
        (MATMUL, {"x": 0, "y": 4096, "k": 4096}),
        (MATMUL, {"x": 64, "y": 4096, "k": 0}),
        (MATMUL.replace("f16", "f32"), {"x": 256, "y": 256, "k": 256}),
        (MATMUL.replace("f16", "f64"), {"x": 100, "y": 64, "k": 50}),
        (MATMUL.replace("rdot(A[x, k]", "rdot(exp(A[x, k])"), {"x": 512, "y": 512, "k": 64}),
        (ATTENTION, {"h": 4, "i": 512, "j": 512, "c": 64, "d": 64}),
    ],
)  # fmt: skip
def test_bounds_of_products(text: str, sizes: dict[str, int], device: str) -> None:
    """Holds whatever the warps, the stages and the walk over blocks of the same tiles are."""
    module = algorithm(text)
    found = Algorithm(module, Interface.of(module).sizes(sizes))
    target = find_device(device)
    root, *others = list(found.functions)[::-1]
    said = [plain(root, "online", "j")] if others else []
    for kernel in found.works([root, *others], said):
        for coarse in (False, True):
            choices = Choices(kernel, target, coarse)
            model = Model(kernel, target)
            if not choices.in_product:
                continue
            tilings = list(choices.tilings())
            bound = LeastTimes(model.outline, target, 6, choices.specializes)
            for tiling in tilings:
                same = [other for other in tilings if other.tiles is tiling.tiles]
                least = bound.of(min(same, key=lambda t: t.warps))
                for stages in (2, 3, 4, 6):
                    cost = model.cost(tiling._replace(stages=stages))
                    assert least <= cost.seconds * (1 + 1e-12)
                    assert least_memory(kernel, target) <= cost.bounds["memory"] * (1 + 1e-12)
            every = ranked_tilings(kernel, target, 10**6, coarse)
            assert best_tiling(kernel, target, coarse) == every[0]
            assert ranked_tilings(kernel, target, 4, coarse) == every[:4]
