"""Workers of a search: on several GPUs, on a Ray cluster, and for a GPU that is elsewhere."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from gpus import H200
from texts import text_of

from dt_mlir.diagnostics import CompileError
from dt_mlir.frontend.emit import compile_text
from dt_mlir.tuning.database import Database, Setting
from dt_mlir.tuning.measuring import Measured, warm
from dt_mlir.tuning.progress import Silent
from dt_mlir.tuning.task import Task
from dt_mlir.tuning.tuner import Options, Tuner
from dt_mlir.tuning.workers.local import visible_gpus

if TYPE_CHECKING:
    from dt_mlir.tuning.workers.on_ray import RayWorkers

SPACE = text_of("space_of_eight_schedules")


@pytest.fixture
def cluster() -> "Iterator[RayWorkers]":
    """Starts a cluster on this machine."""
    pytest.importorskip("ray")
    from dt_mlir.tuning.workers.on_ray import RayWorkers

    with RayWorkers("local", 2, timeout=60.0, cpu=True) as found:
        yield found


def task() -> Task:
    return Task(compile_text(SPACE, "-")[0], {"x": 9, "y": 17, "k": 17})


def tuner(found: Task, database: Database, workers: "RayWorkers", **options: Any) -> Tuner:
    setting = Setting(found.algorithm, found.sizes, "cpu", "1")
    return Tuner(found, setting, database, Options(**options), Silent(), (), workers)


def _end(pid: int) -> None:
    os.kill(pid, signal.SIGKILL)


def test_a_search_on_a_cluster_loses_the_candidates_of_lost_workers_alone(
    cluster: "RayWorkers",
) -> None:
    found = task()
    wanted = (found.algorithm, found.sizes, "interpreter")
    # An actor that ends, or hangs, costs what it was doing.
    ended: Any = os._exit
    lost = cluster.measured(0, cluster.start(0, wanted, ended, 3))
    assert lost.status == "failed"
    assert lost.message.startswith("its worker was lost")
    assert cluster.measured(0, cluster.start(0, wanted, warm, *wanted)).status == "ok"

    # Compilers inspect machine code: of what is none, nothing is known.
    assert cluster.built(cluster.inspect((b"",))).status == "ok"

    # One that is defined here is sent as it is.
    def tell_place() -> Measured:
        return Measured("ok", str(os.getpid()))

    pid = int(cluster.measured(0, cluster.start(0, wanted, tell_place)).message)
    with Database(":memory:") as database:
        search = tuner(found, database, cluster, rounds=2, keep=1e9)
        # The actor is killed as soon as something has been measured.
        real = search.database.add_time
        killed = threading.Event()

        def add_time(*args: Any) -> None:
            real(*args)
            if not killed.is_set():
                killed.set()
                _end(pid)

        search.database.add_time = add_time
        outcome = search.run()
        assert killed.is_set()
        statuses = outcome.statuses()
        assert sum(statuses.values()) == 8
        assert statuses["ok"] >= 5
        assert statuses["refused"] == 2
        assert outcome.best is not None
        # Another search tries again what was lost, and nothing else.
        again = tuner(found, database, cluster, rounds=2, keep=1e9).run()
        assert again.statuses() == {"ok": 6, "refused": 2}


def test_what_takes_too_long_on_a_cluster_is_ended() -> None:
    pytest.importorskip("ray")
    from dt_mlir.tuning.workers.on_ray import RayWorkers

    found = task()
    wanted = (found.algorithm, found.sizes, "interpreter")
    hangs: Any = time.sleep
    with RayWorkers("local", 1, timeout=2.0, cpu=True) as cluster:
        assert cluster.measured(0, cluster.start(0, wanted, warm, *wanted)).status == "ok"
        assert cluster.measured(0, cluster.start(0, wanted, hangs, 60)).status == "late"
        assert cluster.measured(0, cluster.start(0, wanted, warm, *wanted)).status == "ok"


def test_a_cluster_that_is_not_there_is_refused() -> None:
    pytest.importorskip("ray")
    from dt_mlir.tuning.workers.on_ray import RayWorkers

    with pytest.raises(CompileError, match="--ray: there is no cluster at 127.0.0.1:1"):
        RayWorkers("127.0.0.1:1", 1)


def test_a_cluster_without_gpus_is_refused() -> None:
    pytest.importorskip("ray")
    from dt_mlir.tuning.workers.on_ray import RayWorkers

    with pytest.raises(CompileError, match="--ray: the cluster has no GPU"):
        RayWorkers("local", 1)


@pytest.mark.parametrize("cuda", ["13.0", None])
def test_gpus_are_named_as_they_are_visible(
    cuda: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    # NVIDIA's driver is asked first, where PyTorch is for its GPUs.
    monkeypatch.setattr("dt_mlir.tuning.workers.local.cuda_of_torch", lambda: cuda)
    monkeypatch.setattr("dt_mlir.tuning.workers.local.count_of_gpus", lambda: 3 if cuda else 9)
    monkeypatch.setattr("torch.cuda.device_count", lambda: 9 if cuda else 3)
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    assert visible_gpus("all") == ["0", "1", "2"]
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "5,GPU-7,6")
    assert visible_gpus("all") == ["5", "GPU-7", "6"]
    assert visible_gpus("2,0,2") == ["6", "5"]
    with pytest.raises(CompileError, match="there is no GPU '3'") as error:
        visible_gpus("3")
    assert error.value.hint == "there are 3, which are numbered from 0"


ELSEWHERE = H200 + """
import sys, tempfile
from pathlib import Path
from triton import knobs
from dt_mlir.tuning.compilation import build
from dt_mlir.tuning.gpu import packed, stand_in, unpack

text, first, second = Path(sys.argv[1]).read_text(), *sys.argv[2:]
sizes = {"x": 512, "y": 512, "k": 512}
knobs.cache.dir = first
built = build(text, "-", sizes, gpu)
assert built.status == "ok", built.message
assert built.least_milliseconds > 0
print(built.resources)
files = packed(Path(first))
knobs.cache.dir = second
unpack(files)
# It is the kernel that the wrapper launches there.
waits = "griddepcontrol.wait" in "".join(p.read_text() for p in Path(second).rglob("*.ptx"))
assert waits == ("dependent_launch" in text)
before = {path: path.stat().st_mtime_ns for path in Path(second).rglob("*")}
assert before
for path in Path(first).rglob("*"):
    if path.is_file():
        path.unlink()
assert build(text, "-", sizes, gpu).status == "ok"
# What was unpacked is found: nothing is compiled again.
assert {path: path.stat().st_mtime_ns for path in Path(second).rglob("*")} == before
large = build(text.replace("k:64", "k:512"), "-", sizes, gpu)
assert "warp_specialize" in text or large.status == "unfit", large
"""


@pytest.mark.parametrize(
    ("schedule", "kernel"),
    [
        ("", "f_kernel"), ("f.dependent_launch();", "f_kernel"),
        ("f.persistent(1); f.warp_specialize();", "f_kernel_warp"),
    ],
)
def test_candidates_are_compiled_for_a_gpu_that_is_elsewhere(
    schedule: str, kernel: str, tmp_path: Path
) -> None:
    text = (
        "Func f : f16; In A : f16, B : f16; Var x, y; RVar k;\n"
        "f[x, y] = rdot(A[x, k], B[k, y], k);\n"
        "f.block(x:128, y:128); f.tensorize(x:128, y:128, k:64);\n"
        f"{schedule} f.compile();\n"
    )
    (tmp_path / "f.dt").write_text(text)
    (tmp_path / "elsewhere.py").write_text(ELSEWHERE)
    # What others have chosen for this process does not count.
    environment = {k: v for k, v in os.environ.items() if k != "TRITON_INTERPRET"}
    done = subprocess.run(
        [sys.executable, "elsewhere.py", "f.dt", tmp_path / "first", tmp_path / "second"],
        cwd=tmp_path, capture_output=True, text=True, env=environment,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert f"'{kernel}': {{'registers'" in done.stdout


BARS = """
import multiprocessing, os
from dt_mlir.tuning.measuring import prepare_process
def shows_a_bar():
    {prepare}
    from tqdm import tqdm
    tqdm(total=1, disable=True)
    os._exit(0)
if __name__ == "__main__":
    process = multiprocessing.get_context("spawn").Process(target=shows_a_bar)
    process.start()
    process.join()
"""


@pytest.mark.parametrize(("prepare", "leaves"), [("pass", True), ("prepare_process([])", False)])
def test_bars_of_a_process_that_is_ended_leave_nothing(
    prepare: str, leaves: bool, tmp_path: Path
) -> None:
    """PyTorch's compiler shows bars, whose usual lock is one of the system."""
    script = tmp_path / "bars.py"
    script.write_text(BARS.format(prepare=prepare))
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, check=True)
    assert ("leaked semaphore" in done.stderr) is leaves
