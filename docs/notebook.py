"""Runs the example notebook, and keeps it with its output.

python docs/notebook.py            run examples/explore.ipynb in place
"""

import re
import sys
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient

NOTEBOOK = Path(__file__).parents[1] / "examples" / "explore.ipynb"


def executed(path: Path) -> Any:
    """Returns a notebook as it is after a run from its first cell.

    Args:
        path: the notebook's file; it stays as it is.

    Raises:
        nbclient.exceptions.CellExecutionError: if a cell raises an error.
    """
    notebook = nbformat.read(path, as_version=4)
    NotebookClient(notebook, timeout=300, kernel_name="python3", record_timing=False).execute()
    for cell in notebook.cells:
        cell.metadata = {}
        for output in cell.get("outputs", ()):
            # A newer page needs no older numbers of elements in memory.
            for kind, text in output.get("data", {}).items():
                if kind == "text/plain":
                    output["data"][kind] = re.sub(r"0x[0-9a-f]{6,}", "0x…", text)
    notebook.metadata = {"kernelspec": {
        "display_name": "Python 3", "language": "python", "name": "python3",
    }}  # fmt: skip
    return notebook


if __name__ == "__main__":
    nbformat.write(executed(NOTEBOOK), NOTEBOOK)
    print(f"{NOTEBOOK.name} is run anew", file=sys.stderr)
