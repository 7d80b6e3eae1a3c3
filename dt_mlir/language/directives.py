"""The directives of the language as methods.

Written by docs/generate.py from the definitions; not to be edited.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Literal, Self

from dt_mlir.language.arguments import Choices, NameLike, Size
from dt_mlir.language.checked import checked


class Directives(ABC):
    """Has a method for each directive; each gives back what it is called on."""

    @abstractmethod
    def direct(self, name: str, /, *arguments: object, **sizes: object) -> Self:
        """Add a directive by its name, as a plug-in's is added."""

    @checked("rename(x='i', …)")
    def rename(self, /, **renamed: NameLike) -> Self:
        """Calls the labels of a function by other names in the directives behind.

        A name is that of another label of the same size, or a new one. Loops over one label are
        tiled alike, and what is computed in one pass is found by its label: `s.rename(a:i, b:j)`
        lets the loops of `s` be tiled and gathered as those over `i` and `j` are, and
        `s.rename(k:ks)` lets those over `k` have tiles of their own where `s` is fused. Names are
        changed at once, so that `s.rename(i:j, j:i)` exchanges two. The axes of what the function
        stores have the new names, too, but for results, which are the caller's. Values are the
        same. Halide: `rename`.

        Args:
            renamed: the labels, with their new names.
        """
        return self.direct("rename", **renamed)

    @checked("online(label, 'apart')")
    def online(
        self,
        /,
        label: NameLike,
        stored: Literal["apart", "together"] | Choices = 'apart',
    ) -> Self:
        """Computes every reduction over a label that a function needs in one pass.

        The functions that it needs for them, and that have the label or reduce over it, are
        computed in its kernel, as are those that reduce over a label which walks the same axes,
        is no function's own, and which no function has beside the other: softmax reads its row
        twice instead of three times, and attention holds no row of weights. A reduction of
        elements that depend on another one, as a sum of exponentials depends on a maximum, is
        repaired where that one changes, by a law that is derived from its elements; if there is
        none, the directive is refused. A function that is an output, that another function reads,
        or that is read under other labels, is computed apart, as before. With `together` those
        that are outputs, or that kernels behind read, are computed in the pass, too, unless they
        have the label, and stored from there: a mean and a variance that both are results need
        one pass.

        Args:
            label: the label that is reduced over.
            stored: where functions that it needs, and that are stored, are computed.
        """
        return self.direct("online", label, stored)

    @checked("cache_read(tensor, copy)")
    def cache_read(self, /, tensor: NameLike, copy: NameLike) -> Self:
        """Reads a tensor by way of a copy, which is a function of its own.

        `f.cache_read(A, A_copy)` defines `A_copy` with the axes and the element type of the input
        or unfused function `A`, and lets `f` read it in place of `A`. The copy is scheduled like
        any function: with `align_storage` its rows start where the copies of tiles like them,
        with `reorder_storage` they run along another axis, and with `fuse_at` it is a tile that
        is read once. Other functions still read `A`. TVM: `cache_read`; Halide: `in`.

        Args:
            tensor: the input or the function that is read.
            copy: the name of the function that copies it.
        """
        return self.direct("cache_read", tensor, copy)

    @checked("rfactor(parts, 'ordered', k=8)")
    def rfactor(
        self,
        /,
        parts: NameLike,
        order: Literal["ordered", "atomic"] | Choices = 'ordered',
        *split: NameLike, **sizes: Size,
    ) -> Self:
        """Splits reductions over a label into parts, which another function reduces.

        `f.rfactor(k:8, parts)` makes 8 parts, and `f.rfactor(k:k_in/4096, parts)` parts of 4096
        indices. The function `parts` has the loops over the label, and a new label, `k_part`; it
        is scheduled like any function, and inherits no directive. It writes the value of each
        part to memory, in the type in which it is accumulated, and `f` combines them over
        `k_part`, in their order. Parts of reductions that `online` computes in one pass are
        repaired as these are. A part is a multiple of the tile that `parts` steps the label by.
        Halide: `rfactor`; split-K and flash decoding are this.

        With `atomic` the parts of a sum are added in memory, in whatever order they are computed:
        one tensor of the size of a part, which is cleared first, takes the place of all of them,
        and the bits of a result may differ from call to call.

        A label that `f` scans is scanned in chunks: with `f.scan(x)`, `f.rfactor(x:8, parts)`
        lets a block of the grid scan each of 8 chunks, and `f.rfactor(x:x_in/4096, parts)` each
        4096 indices, from what the chunks before have added, which `parts` reduces.

        Args:
            parts: the name of the function that reduces the parts.
            order: how parts are combined: in their order, or those of sums in memory, in any.
            split: the label, with the number of its parts, or a name and the length of a part.
        """
        return self.direct("rfactor", parts, order, *split, **sizes)

    @checked("scan(label)")
    def scan(self, /, label: NameLike) -> Self:
        """Computes reductions up to each index of a label in one pass.

        `c[x] = rsum(A[j], j, j <= x)` with `c.scan(x)` walks `x` once and adds one element to the
        sum in each step; without it each `x` has a loop over `j`. `j < x` leaves the index itself
        out, `j >= x` and `j > x` reduce from the end on. Tiles of `x` are scanned at once, and
        the combination of all tiles before is carried on. Other conditions select elements. Sums,
        products, extremes, `rany` and `rall`. Elements of a sum may have a product from behind
        their own index to `x` as a factor, `rsum(B[j] * rprod(A[i], i, i > j, i <= x), j, j <=
        x)`: from one index to the next all are multiplied by the same, so that pairs of a factor
        and a sum are scanned. The loop walks the whole label, so that `x` is in no block, but for
        a scan in chunks (`rfactor`). Triton: `associative_scan`.

        Args:
            label: the label up to whose indices is reduced.
        """
        return self.direct("scan", label)

    @checked("fuse(x, y, …)")
    def fuse(self, /, *labels: NameLike) -> Self:
        """Joins loops over labels into one loop over a new label, which later directives name.

        The joined loop walks the points of the box of the labels, the last label fastest. Labels
        of the function join each other, and so do labels that it reduces. A tile of the joined
        label spans rows of an image, or taps of a window (implicit GEMM). Halide, TVM: `fuse`.

        Args:
            labels: the labels whose loops are joined, the slowest first, then the new label.
        """
        return self.direct("fuse", *labels)

    @checked("inline()")
    def inline(self, /) -> Self:
        """Computes a function wherever it is read, in place of each read.

        Nothing of it is stored. Reads of one element in one loop share a value, and all others
        compute one each. What the function reads is then read by its readers, and is fused into
        their loops. If the function is an output, its own kernel remains. Halide, TVM:
        `compute_inline`.
        """
        return self.direct("inline")

    @checked("fuse_at(consumer, label)")
    def fuse_at(self, /, consumer: NameLike, label: NameLike) -> Self:
        """Computes a function inside a loop of its consumer, just before it is used.

        As much of it is computed as one iteration of that loop needs; the loops over labels that
        the two share around the place become one. A function that is read under several
        labellings there is computed once for each; what is read in a window is computed at the
        indices of the reads, over the loops that they are made of. Halide and TVM: `compute_at`.

        Args:
            consumer: the function in whose nest it is computed.
            label: the label of the loop in which it is computed.
        """
        return self.direct("fuse_at", consumer, label)

    @checked("block(x=64, …)")
    def block(self, /, **sizes: Size) -> Self:
        """Partitions the output over the launch grid.

        Each program instance computes one block of the given extents. Halide: `tile` with
        `gpu_blocks`; TVM: `split` and `bind` to `blockIdx`.

        Args:
            sizes: the labels to partition, output labels only, with the extent of a block.
        """
        return self.direct("block", **sizes)

    @checked("split(x=64, …)")
    def split(self, /, **sizes: Size) -> Self:
        """Splits the loop over a label into two, over pieces and over a piece.

        The inner loop keeps the body, and is the one that `tensorize` steps. `reorder` calls the
        outer one `x_outer`. A loop of a reduction cannot be split. Halide, TVM: `split`.

        Args:
            sizes: the labels whose loops are split, with the number of elements of a piece.
        """
        return self.direct("split", **sizes)

    @checked("reorder(x, y, …)")
    def reorder(self, /, *order: NameLike) -> Self:
        """Interchanges sequential loops of a function or of a reduction, outermost first.

        The loops must be nested directly in one another; one that is between them and is not
        named keeps its place. Where `split` made two loops of one over `x`, `x` means the inner
        one and `x_outer` the outer one. Reduction loops of fused functions are named in the
        kernel that computes them; the tiled loops of a product are innermost in any order.
        Halide, TVM: `reorder`.

        Args:
            order: labels of the function's loops in the order that they are to have.
        """
        return self.direct("reorder", *order)

    @checked("tensorize(x=64, …)")
    def tensorize(self, /, **sizes: Size) -> Self:
        """Steps every sequential loop over a label by tiles.

        The elements of a step are computed at once, as one axis of a tile. `0` takes the loop's
        whole extent: that of the block, if the loop walks one, else the label's size. Halide:
        `vectorize`; TVM: `tensorize`.

        Args:
            sizes: the labels whose loops are stepped, with the number of elements of a step.
        """
        return self.direct("tensorize", **sizes)

    @checked("map(x, y, …)")
    def map(self, /, *order: NameLike) -> Self:
        """Sets the order in which program ids walk the grid of blocks, slowest first.

        `x:x1/8` splits the blocks of `x` into groups of 8: `x1` counts the blocks in a group and
        `x` the groups, which keeps what neighbouring program instances share in the cache.
        Triton's tutorials call this grouped ordering. `x:descending` begins with the last block,
        as where blocks with more work should start first.

        Args:
            order: the blocked labels and the inner parts of splits, slowest first.
        """
        return self.direct("map", *order)

    @checked("persistent(programs, rounds='alternating')")
    def persistent(
        self,
        /,
        programs: Size = 1,
        rounds: Literal["forwards", "alternating"] | Choices = 'forwards',
    ) -> Self:
        """Launches a number of program instances on each multiprocessor, which walk the blocks.

        Without it there is an instance for each block of the grid. An instance takes the block of
        its own number, then the one as many blocks further as there are instances, until none is
        left; the order of the blocks is that of `map`. The instances live as long as the kernel:
        what they do first is done once, and the loads of a block can begin while the one before
        is stored. Triton's tutorials and CUTLASS: persistent kernels.

        Where blocks differ in what there is to do, `rounds:alternating` evens it out: of the
        rounds in which each instance takes one block, every other one is walked from its last
        block to its first.

        Args:
            programs: the number of program instances on each multiprocessor; 1 if left out.
            rounds: whether each round of blocks is walked forwards, or every other one backwards.
        """
        return self.direct("persistent", programs, rounds=rounds)

    @checked("align_storage(x=64, …)")
    def align_storage(self, /, **multiples: Size) -> Self:
        """Pads the storage of an unfused function: labels' extents become multiples of numbers.

        Rows then start at multiples, so that the kernels that read them move more bytes at once.
        Where the function's own tiles are multiples as well, its kernel fills the padding with
        zeros, and readers whose tiles divide the numbers need no masks. Results do not change.
        Halide: `align_storage`.

        Args:
            multiples: the labels whose extents are padded, each with the number.
        """
        return self.direct("align_storage", **multiples)

    @checked("reorder_storage(x, y, …)")
    def reorder_storage(self, /, *order: NameLike) -> Self:
        """Lays an unfused function out in memory: the axes of the labels, the slowest first.

        The order of a function's labels is what programs write; that of its storage is what its
        readers read fastest. It must name all labels. Results do not change. Halide:
        `reorder_storage`.

        Args:
            order: all labels of the function; the elements of the last one are neighbours.
        """
        return self.direct("reorder_storage", *order)

    @checked("num_warps(warps)")
    def num_warps(self, /, warps: Size) -> Self:
        """Sets the number of warps that a program instance runs on.

        Triton's launch option of the same name; a warp is 32 threads (64 on AMD).

        Args:
            warps: the number of warps of a program instance, a power of two.
        """
        return self.direct("num_warps", warps)

    @checked("num_stages(stages)")
    def num_stages(self, /, stages: Size) -> Self:
        """Sets the depth to which Triton pipelines the loads of loops.

        Triton's launch option of the same name; each stage takes shared memory.

        Args:
            stages: the number of stages.
        """
        return self.direct("num_stages", stages)

    @checked("pipeline(x=64, …)")
    def pipeline(self, /, **stages: Size) -> Self:
        """Sets the depth to which Triton pipelines the loads of the sequential loops over a label.

        It takes the place of `num_stages` for these loops; the number 1 leaves a loop as it is
        (`tl.range(…, num_stages=…)`). Each stage takes shared memory. TVM:
        `software_pipeline_stage`.

        Args:
            stages: the labels whose loops are pipelined, with the number of stages of each.
        """
        return self.direct("pipeline", **stages)

    @checked("warp_specialize(consumers, registers, x=64, …)")
    def warp_specialize(self, /, consumers: Size = 2, registers: Size = 232, **sizes: Size) -> Self:
        """Gives groups of warps tasks of their own, on GPUs whose tensor cores read shared memory.

        A producer copies tiles into rings of buffers, and consumers multiply them, each its part
        of the rows. `num_stages` is the depth of the rings. Elsewhere Triton's kernel runs, in
        which a step at the edge of a domain sees to its own sums; so it does where a label has
        another size than one that is given, as of heads that are taken whole (`d:128`). CUTLASS:
        warp-specialized kernels; Triton: `warp_specialize`.

        Args:
            consumers: the number of groups of four warps that multiply.
            registers: the number of registers of each of their threads.
            sizes: the sizes of labels that warps are specialized for.
        """
        return self.direct("warp_specialize", consumers=consumers, registers=registers, **sizes)

    @checked("dependent_launch()")
    def dependent_launch(self, /) -> Self:
        """Lets a kernel be launched while the kernel before it on the stream ends.

        Its program instances start as multiprocessors become free, and wait for the end of the
        kernel before, whatever that is, before they read or write anything. What a launch costs
        then overlaps with that kernel's end. It is CUDA's programmatic dependent launch, on GPUs
        of compute capability 9.0 and more; on others the kernel is launched as usual.
        """
        return self.direct("dependent_launch")

    @checked("descriptor(x, y, …)")
    def descriptor(self, /, *tensors: NameLike) -> Self:
        """Accesses tensors through descriptors, which the copy engine of a GPU reads.

        What the kernel loads of them, and stores to them, are boxes of neighbours along each
        axis, at indices that are a label's plus a number. A descriptor is made on the host, once
        for a call. It needs a contiguous last axis and rows that start at multiples of 16 bytes;
        for other tensors, and on other devices, the same kernel computes addresses. Where warps
        are specialized, factors of products always go through descriptors, and results unless
        others are named. Triton: tensor descriptors; CUDA: the tensor memory accelerator.

        Args:
            tensors: the inputs and functions that the kernel accesses so.
        """
        return self.direct("descriptor", *tensors)

    @checked("precision('ieee')")
    def precision(
        self,
        /,
        precision: Literal["ieee", "tf32", "tf32x3", "narrow"] | Choices,
    ) -> Self:
        """Sets how `rdot` multiplies f32 operands, and operands of mixed types.

        `ieee` is exact f32; `tf32` rounds the operands to 11 significant bits for the tensor
        cores; `tf32x3` makes three such products for nearly f32's accuracy. `narrow` rounds the
        wider operand of a product of mixed float types to the narrower type, in which tensor
        cores then multiply: a number that is too large for that type becomes infinite. It is the
        one directive that changes results, by rounding.

        Args:
            precision: how operands are rounded.
        """
        return self.direct("precision", precision)

    @checked("math('fast')")
    def math(self, /, accuracy: Literal["fast", "accurate"] | Choices) -> Self:
        """Sets how accurate elementary functions and division are.

        `fast`, the default, takes Triton's own; `accurate` takes those of the target's device
        library and rounds quotients and square roots correctly, as PyTorch does.

        Args:
            accuracy: which functions are taken.
        """
        return self.direct("math", accuracy)

    @checked("unroll(x=64, …)")
    def unroll(self, /, **factors: Size) -> Self:
        """Unrolls the sequential loops over a label by a factor.

        The loop keeps its steps; Triton copies its body when it compiles the kernel (`tl.range(…,
        loop_unroll_factor=…)`). Where the bounds are constants, as of a program that is compiled
        for a size, and the factor is the number of trips or more, no loop is left
        (`tl.static_range`). Halide, TVM: `unroll`.

        Args:
            factors: the labels whose loops are unrolled, with how many steps become one.
        """
        return self.direct("unroll", **factors)

    @checked("unroll_jam(x=64, …)")
    def unroll_jam(self, /, **factors: Size) -> Self:
        """Takes the tiles along a label apart into interleaved tiles, computed side by side.

        Of a tile of 16 elements, `unroll_jam(x:2)` makes one of the elements 0, 2, 4, … and one
        of the elements 1, 3, 5, …. The kernel computes both in the same loops, without a loop
        over them. It writes out the loops of a reduction that `unroll` unrolls whole, and it
        loads and computes once what several tiles, or several trips of such a loop, share. A
        convolution then loads the rows and columns that its windows share once (register
        blocking). The label must be tiled in steps that the number divides, and no reduction
        walks it. The number 1 leaves the tile as it is. MLIR: `affine-loop-unroll-jam`.

        Args:
            factors: the labels whose tiles are taken apart, with the number of tiles of each.
        """
        return self.direct("unroll_jam", **factors)

    @checked("deterministic(label)")
    def deterministic(self, /, label: NameLike) -> Self:
        """Promises that a row's result does not depend on how many rows there are, bit by bit.

        The promise is checked, of the function's kernel and of those whose results it reads. Rows
        must not meet in a reduction, a scan or an index, and a tile of rows has a number.
        Products over a domain are refused: they are summed by elements where some row of their
        tile is not finite. The bits of a row are then decided by the tiles of reductions, the
        parts of `rfactor`, warps and precision, which the schedule fixes. So a space of schedules
        may leave open only what does not decide them: `map`, `num_stages`, `unroll`,
        `align_storage` and `reorder_storage`. It changes nothing else.

        Args:
            label: the label of the rows.
        """
        return self.direct("deterministic", label)
