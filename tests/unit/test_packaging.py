"""sdist -> wheel -> an empty environment: everything imports, and the tools run."""

import os
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import venv
import zipfile
from pathlib import Path

import pytest
from texts import text_of

ROOT = Path(__file__).parents[2]


def run(*command: object, **kwargs: object) -> str:
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True, **kwargs)  # type: ignore
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def modules() -> list[str]:
    files = (ROOT / "dt_mlir").rglob("*.py")
    names = (path.relative_to(ROOT).with_suffix("").as_posix() for path in files)
    return sorted(name.replace("/", ".").removesuffix(".__init__") for name in names)


def test_install_in_an_empty_environment(tmp_path: Path) -> None:
    run(sys.executable, "-m", "build", "--no-isolation", "--outdir", tmp_path, ROOT)
    (wheel,) = tmp_path.glob("*.whl")
    (sdist,) = tmp_path.glob("*.tar.gz")
    with zipfile.ZipFile(wheel) as archive:
        packed = set(archive.namelist())
    sources = {p.relative_to(ROOT).as_posix() for p in (ROOT / "dt_mlir").rglob("*.py")}
    assert sources | {"dt_mlir/frontend/grammar.lark"} <= packed
    with tarfile.open(sdist) as archive:
        assert any(name.endswith("/dt_mlir/dialects/dt/functions.py") for name in archive.getnames())

    environment = tmp_path / "env"
    venv.create(environment, with_pip=True)
    python = environment / "bin" / "python"
    run(python, "-m", "pip", "install", "--quiet", "-c", ROOT / "constraints.txt", wheel)
    # What runs programs, or shows how they run, needs NumPy, Triton or torch, editors pygls, and
    # certificates z3, which compiling does not.
    needy = ("dt_mlir.certificates.", "dt_mlir.editor.", "dt_mlir.explorer.", "dt_mlir.backend.triton.support", "interpreters", "verification.", "reducer.", "tuning.", "drawing.", "kernels", "runtime.launch")
    plain = [name for name in modules() if not any(part in name for part in needy)]
    run(python, "-c", f"import importlib\nfor name in {plain!r}: importlib.import_module(name)", cwd=tmp_path)
    shown = run(environment / "bin" / "dtc", ROOT / "examples" / "matmul.dt", cwd=tmp_path)
    assert "@triton.jit" in shown
    wanted = subprocess.run(
        [environment / "bin" / "dtc", ROOT / "examples" / "matmul.dt", "--run"],
        capture_output=True, text=True,
    )  # fmt: skip
    assert wanted.returncode == 1
    assert "running needs torch and triton" in wanted.stderr
    done = subprocess.run(
        [environment / "bin" / "dt-opt", ROOT / "tests/filecheck/dialects/warp/product.mlir", "-p", "verify-warp"],
        capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 1
    assert "checking what groups of warps do needs numpy" in done.stderr
    for command, message in (
        (["dt-run"], "running needs numpy"),
        (["dt-reduce"], "reducing needs numpy"),
        (["dtc", "--verify-semantics"], "verifying semantics needs numpy"),
        (["dtc", "--certify"], "certificates need "),
        (["dtc", "--explore=page.html"], "exploring needs numpy"),
        (["dt-tune", "--seed=1", "x=8"], "tuning needs torch"),
    ):
        name, *options = sorted(command, key=lambda part: "=" in part and "-" not in part)
        done = subprocess.run(
            [environment / "bin" / name, *options[:1], ROOT / "examples" / "matmul.dt", *options[1:]],
            capture_output=True, text=True,
        )  # fmt: skip
        assert done.returncode == 1
        assert message in done.stderr
    done = subprocess.run([environment / "bin" / "dt-lsp"], capture_output=True, text=True)
    assert done.returncode == 1
    assert "serving editors needs" in done.stderr
    # An example in Python, with the PyTorch and Triton that are here already.
    site = Path(run(python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))").strip())
    here = sysconfig.get_path("purelib")
    (site / "torch_and_triton.pth").write_text(f"{here}\n")
    shutil.copy(ROOT / "examples" / "linear_gelu.py", tmp_path / "example.py")
    variables = {k: v for k, v in os.environ.items() if k != "TRITON_INTERPRET"}
    environment_of_example = {**variables, "DT_MLIR_CACHE": str(tmp_path / "cache")}
    where = "import dt_mlir; print(dt_mlir.__file__)"
    assert str(environment) in run(python, "-c", where, cwd=tmp_path)
    shown = run(python, tmp_path / "example.py", cwd=tmp_path, env=environment_of_example)
    assert shown.startswith("the largest difference is ")


@pytest.mark.parametrize("how", ["installed", "loaded"])
def test_plugin(how: str, tmp_path: Path) -> None:
    plugin = ROOT / "examples" / "plugin"
    program = tmp_path / "f.dt"
    program.write_text(text_of("softsign_of_a_mirrored_end"))
    bin = Path(sys.executable).parent
    if how == "installed":
        site = tmp_path / "site"
        run(sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-build-isolation",
            "--target", site, plugin)  # fmt: skip
        extra: list[object] = []
        environment = {"PYTHONPATH": str(site)}
    else:
        files = [plugin / "dt_extras" / name for name in ("no_multi_buffer.py", "softsign.py", "mirror_end.py")]
        extra = [word for file in files for word in ("--load", file)]
        environment = {}
    shown = run(bin / "dtc", program, *extra, env=environment)
    assert "disallow_acc_multi_buffer=True" in shown
    assert "f.no_multi_buffer(y);" in shown
    listed = run(bin / "dt-opt", program, *extra, "-p", "convert-dt-to-loop,schedule-no-multi-buffer{function=f label=y}", env=environment)
    assert "disallow_acc_multi_buffer = true" in listed
