"""The SMT solver. Its expressions overload Python's operators, which its types do not say."""

from __future__ import annotations

from importlib import import_module
from typing import Any

z3: Any = import_module("z3")
"""The module of the solver Z3."""
