"""Configuration of lit for the plug-in's tests."""

import os
import sys

import lit.formats

config.name = "dt-extras"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".dt", ".mlir"]
config.test_source_root = os.path.dirname(__file__)
config.environment["PATH"] = os.path.dirname(sys.executable) + os.pathsep + os.environ["PATH"]
config.substitutions.append(("%plugin", os.path.dirname(os.path.dirname(__file__))))
