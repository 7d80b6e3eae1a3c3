"""Configuration of lit for the tests on textual IR."""

import os
import sys

import lit.formats

config.name = "DT-MLIR"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir", ".dt"]
config.excludes = ["inputs"]
config.test_source_root = os.path.dirname(__file__)
config.environment["PATH"] = os.path.dirname(sys.executable) + os.pathsep + os.environ["PATH"]
config.environment["PYTHONDONTWRITEBYTECODE"] = "1"
for variable in ("PYTHONPATH", "COVERAGE_PROCESS_START"):
    # What measures coverage reaches the tools through these.
    if variable in os.environ:
        config.environment[variable] = os.environ[variable]
config.substitutions.append(
    (
        "ROUNDTRIP",
        "dt-opt %s | dt-opt | filecheck %s && dt-opt --print-op-generic %s | dt-opt | filecheck %s",
    )
)
config.substitutions.append(("%inputs", os.path.join(os.path.dirname(__file__), "inputs")))
config.substitutions.append(
    ("%examples", os.path.join(os.path.dirname(__file__), "..", "..", "examples"))
)
config.maxIndividualTestTime = 300
