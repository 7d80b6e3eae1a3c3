"""What a client configures, extensions, and the tool itself."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from typing import Any

import pytest
from editor_client import COMMAND, Client
from editor_texts import ROOT
from lsprotocol import types

from dt_mlir.editor.settings import Settings

EXTRAS = ROOT / "examples" / "plugin" / "dt_extras"
PROGRAM = """Func f;
In A;
Var x; RVar k;
f[x] = rsum(softsign(mirror_end(A[x, k + 1])), k);
f.block(x:16);
f.no_multi_buffer(k);
f.compile();
"""


def check_extras(client: Client) -> None:
    """Checks that what another package defines is known everywhere."""
    document = client.open(PROGRAM)
    assert document.diagnostics() == ()
    assert "f.no_multi_buffer(label)" in (document.hover("no_multi") or "")
    assert "softsign(x)" in (document.hover("softsign") or "")
    assert "a read that has a value out of bounds" in (document.hover("mirror_end") or "")
    assert "no_multi_buffer" in document.labels("f.no")
    found = document.labels("f[x] = ")
    assert {"softsign", "mirror_end"} <= set(found)
    document.change(PROGRAM.replace("no_multi_buffer", "no_multi_bufer"))
    assert "did you mean 'no_multi_buffer'?" in document.diagnostics()[0].message
    document.change(PROGRAM.replace("softsign", "softsgn"))
    assert "did you mean 'softsign'?" in document.diagnostics()[0].message


def check_hints(client: Client) -> None:
    """Checks that an operation of another package is documented."""
    module = client.open("%0 = hints.contiguous %x", "m.mlir", "mlir")
    assert (module.hover("hints.contiguous", 3) or "").startswith("**`hints.contiguous`**")


def test_files_are_loaded() -> None:
    files = [str(EXTRAS / name) for name in ("no_multi_buffer.py", "softsign.py", "mirror_end.py")]
    client = Client({"load": [*files, str(EXTRAS / "contiguous.py")]})
    check_extras(client)
    check_hints(client)
    assert client.close() == 0


def test_a_package_of_extensions(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """An installed package needs no setting: its directives, functions and operations are there."""
    site = tmp_path / "site"
    subprocess.run(
        [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-build-isolation",
         "--target", site, ROOT / "examples" / "plugin"], check=True,
    )  # fmt: skip
    monkeypatch.setenv("PYTHONPATH", f"{site}:{ROOT}")
    client = Client()
    check_extras(client)
    check_hints(client)
    assert client.close() == 0


def test_devices_without_figures_are_told() -> None:
    client = Client({"device": "h20"})
    client.wait(lambda: len(client.messages) == 1)
    (message,) = client.messages
    assert message.startswith("dt-lsp: 'device': there are no figures of the device 'h20'"), message
    assert client.close() == 0


def test_changed_settings() -> None:
    client = Client({"sizes": {"x": "many"}, "device": 3, "load": "a.py"})
    client.wait(lambda: len(client.messages) == 3)
    assert client.messages == [
        "dt-lsp: 'sizes' are whole numbers by label, as in {\"x\": 4096}",
        "dt-lsp: 'device' is the name of a device, as in \"h200\"",
        "dt-lsp: 'load' is a list of Python files",
    ]
    document = client.open(PROGRAM)
    assert "'softsign' is not a function" in document.diagnostics()[0].message
    files = [str(EXTRAS / name) for name in ("no_multi_buffer.py", "softsign.py", "mirror_end.py")]
    client.notify(
        "workspace/didChangeConfiguration",
        types.DidChangeConfigurationParams({"dt": {"load": [*files, "nothing.py"]}}),
    )
    client.wait(lambda: len(client.messages) == 4)
    assert client.messages[-1].endswith("nothing.py is not a Python file that can be loaded")
    # A client that says nothing of the server changes nothing.
    for settings in (None, {}, {"other": {"load": []}}):
        client.notify(
            "workspace/didChangeConfiguration", types.DidChangeConfigurationParams(settings)
        )
    document.change(PROGRAM)
    document.diagnostics(lambda found: not found)
    assert len(client.messages) == 4
    assert client.close() == 0


@pytest.mark.parametrize("options", [None, {}, {"dt": None}, {"dt": {}}, {"other": 1}])
def test_no_settings(options: object) -> None:
    assert Settings.of(options) == (Settings(), [])


def test_settings_that_are_no_object() -> None:
    found, wrong = Settings.of([1])
    assert found == Settings()
    assert wrong == ["the settings of dt-lsp are an object with sizes, device and load"]


def test_the_console_script() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert project["scripts"]["dt-lsp"] == "dt_mlir.tools.entry:dt_lsp"
    assert any(item.startswith("pygls") for item in project["optional-dependencies"]["editor"])
    done = subprocess.run(
        [sys.executable, *COMMAND, "--help"], capture_output=True, text=True, check=True
    )
    assert "usage: dt-lsp [-h] [--stdio]" in done.stdout
    done = subprocess.run(
        [sys.executable, *COMMAND, "--sdtio"], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (
        2, "dt-lsp: error: --sdtio is not an option; did you mean --stdio?\n"
    )  # fmt: skip


@pytest.mark.parametrize("package", ["pygls", "pebble"])
def test_a_missing_package(package: str) -> None:
    hidden = f"import sys; sys.modules['{package}'] = None; {COMMAND[1]}"
    done = subprocess.run(
        [sys.executable, "-c", hidden], capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert f"error: serving editors needs {package}" in done.stderr
    assert "help: pip install 'dt-mlir[editor]'" in done.stderr


def test_the_server_ends_with_its_client() -> None:
    """A client that vanishes leaves no process behind."""
    done = subprocess.run(
        [sys.executable, *COMMAND], input=b"", capture_output=True, timeout=60, check=False
    )
    assert b"Traceback" not in done.stderr
