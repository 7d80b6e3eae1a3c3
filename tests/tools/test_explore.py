"""`--explore`: the pages that the tools write, and the options that they refuse."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from command import Tools

MATMUL = Path(__file__).parents[2] / "examples" / "matmul.dt"
def _model(path: str) -> Any:
    html = Path(path).read_text()
    found = re.search(r'<script type="application/json" id="model">(.*?)</script>', html, re.S)
    assert found is not None
    return json.loads(found[1])


def test_dtc_writes_a_page(tool: Tools) -> None:
    tool(
        "dtc doubled.dt --explore page.html --beside blocked_copy.dt "
        "--certify --sizes x=100"
    ).prints()
    first, second = _model("page.html")["variants"]
    assert (first["name"], second["name"]) == ("doubled.dt", "blocked_copy.dt")
    assert second["certificate"]
    assert {item["state"] for item in second["certificate"]} == {"proved"}
    lines = Path("blocked_copy.dt").read_text().splitlines()
    for item in second["certificate"]:
        for directive, line in item["directives"]:
            assert line == 0 or directive[:-1] in lines[line - 1]
    assert first["costSizes"] == {"x": 100}
    assert "\n".join(first["program"]) + "\n" == Path("doubled.dt").read_text()
    titles = [step["title"] for step in first["steps"] if step["kind"] == "pass"]
    assert titles[0] == "verify-dt"
    assert "tile-place-masks" in titles
    assert "def f_kernel(" in first["emitted"]["source"]


def test_directives_are_steps_of_their_own(tool: Tools) -> None:
    tool(f"dtc '{MATMUL}' --explore page.html").prints()
    (page,) = _model("page.html")["variants"]
    steps = [step for step in page["steps"] if step["kind"] == "directive"]
    assert [step["title"] for step in steps] == page["schedule"]
    assert len(steps) >= 2
    # Each stands in a line of the program, and what it costs is known.
    lines = [page["program"][page["places"][step["place"]][0] - 1] for step in steps]
    assert all(step["title"].split("(")[0] in line for step, line in zip(steps, lines))
    assert all(step["resources"][0]["seconds"] > 0 for step in steps)


def test_dt_opt_writes_a_page_of_its_passes(tool: Tools) -> None:
    tool("dt-opt doubled.dt -p convert-dt-to-loop,apply-schedule --explore page.html").prints()
    (page,) = _model("page.html")["variants"]
    passes = [step["title"] for step in page["steps"] if step["kind"] != "directive"]
    assert passes == ["the program", "convert-dt-to-loop", "apply-schedule"]
    assert "emitted" not in page


def test_locations_lead_back_to_the_program(tool: Tools) -> None:
    """IR that was printed with locations is linked to the program that it came from."""
    tool("dtc doubled.dt --emit loop --print-debuginfo -o loops.mlir").prints()
    tool("dt-opt loops.mlir -p convert-loop-to-tile --explore page.html").prints()
    (page,) = _model("page.html")["variants"]
    assert page["file"] == "doubled.dt"
    assert len(page["places"]) > 1


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ("dtc doubled.dt --explore page.txt", "--explore: page.txt does not end in .html"),
        ("dtc doubled.dt --beside doubled.dt", "is about what --explore shows"),
        ("dtc doubled.dt --explore page.html --emit tile", "--explore does not go with --emit"),
        ("dtc doubled.dt --explore page.html --sizes q=3", "there is no label 'q'"),
        ("dtc doubled.dt --explore no/page.html", "no such file or directory"),
        ("dt-opt doubled.dt --explore page.svg", "does not end in .html"),
        ("dt-opt doubled.dt --split-input-file --explore page.html", "takes one module"),
        ("dt-tune two_blocks.dt x=4 --cpu --explore page.txt", "does not end in .html"),
    ],
)
def test_what_makes_no_sense_is_refused(command: str, message: str, tool: Tools) -> None:
    tool(command).refuses(message)
    assert not Path("page.html").exists()
