"""Extensions of DT-MLIR in a package of their own."""

from xdsl.ir import Dialect
from xdsl.passes import ModulePass
from xdsl.universe import Universe


def _no_multi_buffer() -> type[ModulePass]:
    from dt_extras.no_multi_buffer import NoMultiBufferPass

    return NoMultiBufferPass


def _hint_contiguous() -> type[ModulePass]:
    from dt_extras.contiguous import HintContiguousPass

    return HintContiguousPass


def _choose_num_warps() -> type[ModulePass]:
    from dt_extras.choose_num_warps import ChooseNumWarpsPass

    return ChooseNumWarpsPass


def _unroll_twice() -> type[ModulePass]:
    from dt_extras.unroll_twice import UnrollTwicePass

    return UnrollTwicePass


def _hints() -> Dialect:
    from dt_extras.contiguous import Hints

    return Hints


UNIVERSE = Universe(
    all_dialects={"hints": _hints},
    all_passes={
        "schedule-no-multi-buffer": _no_multi_buffer,
        "tile-hint-contiguous": _hint_contiguous,
        "tile-choose-num-warps": _choose_num_warps,
        "tile-unroll-twice": _unroll_twice,
    },
)
