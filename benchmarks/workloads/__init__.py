"""The workloads of the evaluation, by what they compute."""

from __future__ import annotations

from workloads.attention import ATTENTION
from workloads.chains import CHAINS
from workloads.elementwise import ELEMENTWISE
from workloads.images import IMAGES
from workloads.models import MODELS
from workloads.products import PRODUCTS
from workloads.reductions import REDUCTIONS
from workloads.rows import ROWS
from workloads.workload import Workload

WORKLOADS: list[Workload] = [
    *PRODUCTS, *ROWS, *ELEMENTWISE, *CHAINS, *IMAGES, *REDUCTIONS, *ATTENTION, *MODELS,
]  # fmt: skip
"""All workloads, group by group."""
