"""The functions that each kernel computes, and how they are fused.

Functions are visited from the outputs on, each after those that read it. One that only the
functions of one kernel read may join that kernel, inlined or at one of a few places; one that
several kernels read may be inlined into all of them, or join the first of them, which then stores
it; and so may one that the program returns. Whether it does is decided by the predicted times of
the kernels with it and without it, each with its best tiles. Where several reductions over a label
are needed, or a reduction goes up to each index, computing them in one pass is compared with that.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Hashable, Iterable, Iterator, Sequence
from dataclasses import replace
from math import inf

from dt_mlir.autoscheduling.decisions import Decision, plain
from dt_mlir.autoscheduling.evaluation import Cluster, Evaluator, pays
from dt_mlir.autoscheduling.joining import least_for_elements, ways_within
from dt_mlir.autoscheduling.nesting import (
    is_made_too_often,
    labels_around,
    last_products,
    repeated,
    times_computed,
)
from dt_mlir.autoscheduling.places import Places
from dt_mlir.autoscheduling.separability import has_no_law
from dt_mlir.autoscheduling.tilings import may_specialize
from dt_mlir.autoscheduling.variants import finely, with_parts
from dt_mlir.diagnostics import CompileError
from dt_mlir.dialects import dt

MOST_REDUCTIONS = 8
"""The most reductions that are tried in one pass: each is repaired by all before it, which takes
long to work out, and longer to run than another pass."""
LONG = 4
"""The functions of a chain that join a kernel together, not one by one."""
STEADY = 8
"""The functions that join a kernel in one way before others are taken to do so, too."""
AGAIN = 1.05
"""The factor by which a kernel may take longer that computes a function again where it is read: a
gated norm takes 1.22 times as long as one that keeps its rows, where 0.99 are predicted."""
SURE_OF_TASKS = 0.8
"""The part of the time of two kernels of products, of which one has groups of warps with tasks of
their own, that a kernel of both without such must at most take to be chosen: attention with the
product of its queries takes 1.05 to 1.1 times as long as both where 0.84 to 0.96 are predicted."""
SURE_OF_PRODUCTS = 0.9
"""The part that a kernel with such groups must at most take: it takes 0.85 times as long where 0.79
are predicted, and 1.0 to 1.1 times where 0.95 are."""


class Clusters:
    """Puts functions of a program together.

    Args:
        evaluator: the program, and the device.
        only: the functions in question; None for all. What others read of them is not looked at.
        stored: those of them that are stored wherever they are computed, besides outputs.
        passes: whether reductions may be computed in one pass.
    """

    def __init__(
        self,
        evaluator: Evaluator,
        only: Iterable[str] | None = None,
        stored: Iterable[str] = (),
        passes: bool = True,
    ) -> None:
        self.evaluator, self.algorithm = evaluator, evaluator.algorithm
        names = set(self.algorithm.functions if only is None else only)
        self.order = [name for name in self.algorithm.functions if name in names]
        self.stored = {*self.algorithm.outputs, *stored}
        self.passes = passes
        self.readers = {
            name: [r for r in self.algorithm.readers[name] if r in names] for name in self.order
        }
        self.places = Places(self.algorithm, self.readers)
        self.found: dict[str, Cluster] = {}
        self.home: dict[str, str] = {}
        """The root of the cluster of each function; none for one that several inline."""
        self.unsteady = set[str]()
        """The roots of the kernels that functions join one by one, as several did not pay."""
        self._refused = set[Hashable]()
        """The functions, by what is alike, that did not join kernels as these are or were."""

    def run(self) -> list[Cluster]:
        """Returns the clusters, in the order in which their kernels run.

        Raises:
            CompileError: where the program itself cannot be compiled.
        """
        for name in reversed(self.order):
            self._place(name)
        return [self.found[name] for name in self.order if name in self.found]

    def _place(self, name: str) -> None:
        """Decides where a function is computed whose readers have their places."""
        if name in self.home:
            return
        homes = {root for reader in self.readers[name] for root in self._homes(reader)}
        if self._joins_with_others(name, homes) or self._join_as_before(name, homes):
            return
        refusal = self._refusal(name, homes)
        if homes and refusal not in self._refused:
            before = self._seconds(homes) + self._stored(name)
            found = list(self._offers(name, sorted(homes, key=self.order.index), before))
            best = min(found, key=lambda item: item[0] * self._doubt(name, item[1]), default=None)
            if best is not None and pays(best[0], before) and self._keeps_tasks(name, best[1]):
                for cluster in best[1]:
                    self.found[cluster.root] = cluster
                if len(best[1]) == 1:
                    self._set(best[1][0])
                return
            self._refused.add(refusal)
        self._set(self._root(name))

    def _doubt(self, name: str, joined: Sequence[Cluster]) -> float:
        """Returns the factor by which kernels that a function joins may take longer than others."""
        reads = sum(len(self.algorithm.accesses(r, name)) for r in self.readers[name])
        again = len(joined) == 1 and joined[0].decisions[-1].name == "inline" and reads > 1
        return AGAIN if again else 1.0

    def _keeps_tasks(self, name: str, joined: Sequence[Cluster]) -> bool:
        """Returns whether a function may join kernels of products though groups of their warps can
        have tasks of their own apart, and not together.

        Coarse tiles do not tell of such groups.

        Args:
            name: the function that joins.
            joined: the kernels with it.
        """
        single = self.evaluator.single(name)
        if single is None:
            return True
        apart = [*(self.found[cluster.root] for cluster in joined), single]
        multiply = [self._multiplies(cluster) for cluster in apart]
        both = multiply[-1] and any(multiply[:-1])
        lost = sum(map(self._may_have_tasks, apart)) > sum(map(self._may_have_tasks, joined))
        if not (both or lost):
            return True
        before = [finely(self.evaluator, with_parts(self.evaluator, each)) for each in apart]
        after = [finely(self.evaluator, with_parts(self.evaluator, each)) for each in joined]
        sure = 1.0
        if both and any(map(_has_tasks, before)):
            sure = SURE_OF_PRODUCTS if any(map(_has_tasks, after)) else SURE_OF_TASKS
        return pays(
            sum(cluster.seconds for cluster in after),
            sure * sum(cluster.seconds for cluster in before),
        )

    def _multiplies(self, cluster: Cluster) -> bool:
        return any(kernel.work.products for kernel in cluster.kernels)

    def _may_have_tasks(self, cluster: Cluster) -> bool:
        return any(may_specialize(k.work, self.evaluator.device) for k in cluster.kernels)

    def _refusal(self, name: str, homes: Iterable[str]) -> Hashable:
        """Returns what is equal for functions that do not join kernels if one of them does not.

        They compute the same from tensors of which the same ones are read by the kernels, too, and
        the kernels are the same and read them at the same indices, in the same reductions.
        """
        known = {
            source for root in homes for member in self.found[root].members
            for source in self.algorithm.sources(member)
        }  # fmt: skip
        shared = [source if source in known else "" for source in self.algorithm.sources(name)]
        reads = Counter(
            (reader, _way_of(op))
            for reader in self.readers[name] for op in self.algorithm.accesses(reader, name)
        )  # fmt: skip
        kernels = [(root, len(self.found[root].decisions)) for root in sorted(homes)]
        form = self.evaluator.form(name)
        stored = name in self.stored
        return form, stored, tuple(shared), frozenset(reads.items()), tuple(kernels)

    def _joins_with_others(self, name: str, homes: set[str]) -> bool:
        """Lets a chain of elementwise functions join a kernel at once; False if it does not.

        One by one each would be lowered with all before it, though none can cost more than it
        saves: an element of each is computed for one of the function that the kernel stores.
        """
        if len(homes) != 1 or not homes.issuperset(self.readers[name]):
            return False
        (root,) = homes
        chain: list[str] = []
        reader, other = root, name
        while self._is_read_once(other, reader):
            chain.append(other)
            reader = other
            other = next((n for n in self.readers if self.readers[n] == [reader]), "")
        if len(chain) < LONG:
            return False
        before = self._seconds(homes) + sum(map(self._stored, chain))
        known = self.found[root]
        joining = [plain(each, "inline", reason="it is elementwise") for each in chain]
        trial = self.evaluator.evaluated(
            root, (*known.members, *chain), [*known.decisions, *joining]
        )
        if trial is None or not pays(self._time(trial), before):
            return False
        self._set(trial)
        return True

    def _join_as_before(self, name: str, homes: set[str]) -> bool:
        """Lets functions join a kernel as many before them did, all at once; False if they do not.

        One by one each would be lowered with all before it, in several ways. At most as many join
        as did so one after the other, so that a long run takes few steps. Where they save less than
        those before them, and the second half of them does not pay, the first one is tried.
        Functions that may be inlined are, or are fused as the others, all of them.
        """
        if len(homes) != 1 or not homes.isdisjoint(self.unsteady):
            return False
        (root,) = homes
        known = self.found[root]
        way, count = self._last_way(known)
        if way is None or count < STEADY:
            return False
        runs = [self._run_from(name, way, known, count, inlined) for inlined in (True, False)]
        count = max(map(len, runs))
        if count < 2:
            return False
        before = self._saved(known) / len(known.members)
        while count > 1:
            whole = self._with_run(known, runs, count)
            if whole is not None and self._pay(whole, known):
                as_before = self._saved(whole, known) >= count * before
                half = None if as_before else self._with_run(known, runs, count // 2)
                if half is None or self._pay(whole, half):
                    self._set(whole)
                    return True
            count //= 2
        self.unsteady.add(root)
        return False

    def _run_from(
        self, name: str, way: Decision, cluster: Cluster, most: int, inlined: bool
    ) -> list[Decision]:
        """Returns the decisions by which functions join a kernel as others did.

        Args:
            name: the first function.
            way: how those before it were fused.
            cluster: the kernel.
            most: the most functions.
            inlined: whether those that may be inlined are.
        """
        found: list[Decision] = []
        place = self.order.index(name)
        for other in reversed(self.order[max(place - most + 1, 0) : place + 1]):
            decision = self._same_way(other, way, cluster, inlined)
            if decision is None:
                break
            found.append(decision)
            members, decisions = (*cluster.members, other), (*cluster.decisions, decision)
            cluster = replace(cluster, members=members, decisions=decisions)
        return found

    def _with_run(
        self, known: Cluster, runs: Sequence[Sequence[Decision]], count: int
    ) -> Cluster | None:
        """Returns a kernel that so many functions have joined, in the best of several ways."""
        found: list[Cluster] = []
        for run in dict.fromkeys(tuple(run[:count]) for run in runs if len(run) >= count):
            members = (*known.members, *(item.function for item in run))
            trial = self.evaluator.evaluated(known.root, members, [*known.decisions, *run])
            found += [] if trial is None else [trial]
        return min(found, key=self._time, default=None)

    def _saved(self, more: Cluster, fewer: Cluster | None = None) -> float:
        """Returns the time that a kernel saves, which computes more functions than another one, or
        than none."""
        joined = more.members[len(fewer.members) if fewer else 0 :]
        apart = (self._time(fewer) if fewer else 0.0) + sum(map(self._stored, joined))
        return apart - self._time(more)

    def _pay(self, more: Cluster, fewer: Cluster) -> bool:
        """Returns whether it pays that a kernel computes more functions than another one."""
        after = self._time(more)
        return pays(after, after + self._saved(more, fewer))

    def _last_way(self, cluster: Cluster) -> tuple[Decision | None, int]:
        """Returns the directive that fused the last functions into a kernel, and how many joined it
        so, or inlined, one after the other; no directive where none was fused."""
        way: Decision | None = None
        count = 0
        for item in reversed(cluster.decisions):
            if item.stored or item.name not in ("fuse_at", "inline"):
                break
            if item.name == "fuse_at":
                if way is not None and item.arguments != way.arguments:
                    break
                way = item
            count += 1
        return way, count

    def _same_way(
        self, name: str, way: Decision, cluster: Cluster, inlined: bool
    ) -> Decision | None:
        """Returns the decision by which a function joins a kernel as others did, or is inlined;
        None if neither is possible, or if others read it; arguments as for `_run_from`."""
        readers = {*self.readers[name]}
        if name in self.home or name in self.stored or not readers:
            return None
        if not readers.issubset(cluster.members):
            return None
        ways = self.places.ways(name, cluster, stores=False)
        inlines = [item for item in ways if item.name == "inline"]
        same = [i for i in ways if (i.name, i.arguments) == (way.name, way.arguments)]
        return next(iter([*inlines, *same] if inlined else [*same, *inlines]), None)

    def _is_read_once(self, name: str, reader: str) -> bool:
        """Returns whether two functions are elementwise, and one is read by the other alone, which
        reads an element of it for each of its own."""
        if not name or name in self.stored:
            return False
        if self.algorithm.reductions(name) or self.algorithm.reductions(reader):
            return False
        reads = self.algorithm.accesses(reader, name) if self.readers[name] == [reader] else []
        if len(reads) != 1:
            return False
        labels = {*self.algorithm.functions[reader].label_names}
        axes = range(len(self.algorithm.functions[name].label_names))
        return len(axes) == len(labels) and {*map(reads[0].label_alone, axes)} == labels

    def _seconds(self, roots: Iterable[str]) -> float:
        return sum(self._time(self.found[root]) for root in roots)

    def _stored(self, name: str) -> float:
        """Returns the time of a function in a kernel of its own; infinite if it has none."""
        found = self.evaluator.single(name)
        return inf if found is None else self._time(found)

    def _offers(
        self, name: str, homes: Sequence[str], before: float
    ) -> Iterator[tuple[float, list[Cluster]]]:
        """Yields the ways in which a function may join kernels.

        Args:
            name: the function.
            homes: the roots of the kernels that read it, in the order in which they run.
            before: the time that these kernels and the function take apart.

        Yields:
            The predicted time of these kernels then, and those that compute the function.
        """
        if len(homes) > 1:
            everywhere = self._inlined(name, homes)
            if everywhere:
                # What takes longer than this is not wanted.
                before = min(before, seconds := sum(map(self._time, everywhere)))
                yield seconds, everywhere
        # What is stored is there when the first kernel has run.
        first, others = homes[0], homes[1:]
        stores = bool(others) or name in self.stored
        ways = ways_within(
            self.evaluator, self.places, name, self.found[first], stores,
            before - self._seconds(others),
        )  # fmt: skip
        for trial in self._with_each(name, self.found[first], ways):
            yield self._time(trial, before) + self._seconds(others), [trial]

    def _homes(self, reader: str) -> set[str]:
        if reader in self.home:
            return {self.home[reader]}
        return {root for root, cluster in self.found.items() if reader in cluster.members}

    def _set(self, cluster: Cluster) -> None:
        self.found[cluster.root] = cluster
        for member in cluster.members:
            self.home[member] = cluster.root

    def _root(self, name: str) -> Cluster:
        """Returns the cluster of a function that is stored, before others join it."""
        best = self.evaluator.single(name)
        if best is None:
            # What is wrong with it is the program's fault, and said so.
            self.algorithm.works([name], [])
            raise CompileError(
                f"directives about the rounding of '{name}' contradict each other",
                self.algorithm.functions[name], "leave one of them out",
            )  # fmt: skip
        if not self.passes:
            return best
        for label in self._scanned(name):
            decision = plain(name, "scan", label, reason="one pass instead of one for each index")
            trial = self.evaluator.evaluated(name, (), [decision])
            if trial is not None and pays(self._time(trial), self._time(best)):
                best = trial
        saved = 0.0
        # What saves more refutes others, and passes of few functions take least to look at.
        for label, members, stored in sorted(self._dependent(name), key=lambda item: len(item[1])):
            decision = plain(
                name, "online", label, *(["together"] if stored else []),
                reason="its reductions share one pass", stored=stored,
            )  # fmt: skip
            apart = Clusters(self.evaluator, [name, *members], stored, passes=False).run()
            before = sum(map(self._time, apart))
            wanted = before - saved
            least = max(
                self._least_of_chains(name, members, wanted), self._least_again(members, label)
            )
            if least > wanted:
                continue
            trial = self._gathered(name, members, decision)
            if trial is None:
                continue
            if len(trial.members) < len(members) + 1:
                apart = Clusters(self.evaluator, trial.members, stored, passes=False).run()
                before = sum(map(self._time, apart))
            after = self._time(trial, before)
            if pays(after, before) and before - after > saved:
                best, saved = trial, before - after
        return best

    def _time(self, cluster: Cluster, limit: float = inf) -> float:
        """Returns the predicted time of a cluster, its reductions in parts if that is faster.

        Args:
            cluster: the cluster.
            limit: the time that is wanted; one that is far longer may be any such time.
        """
        return with_parts(self.evaluator, cluster, limit).seconds

    def _least_of_chains(self, name: str, members: Sequence[str], limit: float) -> float:
        """Returns a time that a function takes at least with others whose products it multiplies;
        infinite where that surely is more than a limit.

        One pass with more of them would compute the same products.
        """
        if not self.evaluator.multiplies(name):
            return 0.0
        single = self.evaluator.single(name)
        assert single is not None, "it is the root of a kernel"
        chained = [
            other for other in self.algorithm.reads[name]
            if other in members and self.evaluator.multiplies(other)
        ]  # fmt: skip
        least = 0.0
        for other in chained:
            ways = [
                ways_within(self.evaluator, self.places, other, single, False, most)
                for most in (limit, inf)
            ]  # fmt: skip
            left_out = inf if len(ways[0]) < len(ways[1]) else 0.0
            trials = self._with_each(other, single, ways[0])
            least = max(least, min(map(self._time, trials), default=left_out))
        return least

    def _least_again(self, members: Sequence[str], label: str) -> float:
        """Returns a time that a pass takes at least, as it computes functions several times."""
        times = times_computed(self.algorithm, members, label)
        again = (count * self._stored(name) for name, count in times.items())
        return max(least_for_elements(self.evaluator, members, label), *again, 0.0)

    def _gathered(self, name: str, members: Sequence[str], decision: Decision) -> Cluster | None:
        """Returns the functions that are computed in one pass; None if the pass is not legal."""
        trial = self.evaluator.evaluated(name, members, [decision])
        if trial is None:
            return None
        apart = {kernel.work.root for kernel in trial.kernels} - {name}
        if not apart:
            return trial
        if not apart.isdisjoint(decision.stored):
            # What is stored there is computed there.
            return None
        kept = [member for member in trial.members if member not in apart]
        return self.evaluator.evaluated(name, kept, [decision])

    def _scanned(self, name: str) -> list[str]:
        """Returns the labels up to whose indices a function may be scanned."""
        labels = self.algorithm.functions[name].label_names
        used = {
            label for op in self.algorithm.reductions(name) for label in op.constrained_labels
        }
        return [label for label in labels if label in used]

    def _dependent(self, name: str) -> Iterator[tuple[str, list[str], list[str]]]:
        """Yields labels over which several reductions are computed for a function.

        Each comes with the functions that have them, and with those of these that others read or
        that the program returns: once without such ones, and once with them.
        """
        labels = dict.fromkeys(self.algorithm.functions[name].label_names)
        for member in (name, *self.algorithm.reads[name]):
            for op in self.algorithm.reductions(member):
                labels.update(dict.fromkeys(op.label_names))
        for label in labels:
            for together in (False, True):
                members, stored = self._upstream(name, label, together)
                reductions = [
                    op for member in members for op in self.algorithm.reductions(member)
                    if label in op.label_names
                ]  # fmt: skip
                if not 1 < len(reductions) <= MOST_REDUCTIONS or bool(stored) is not together:
                    continue
                if is_made_too_often(self.algorithm, members, label):
                    continue
                if not has_no_law(self.algorithm, members, label):
                    yield label, members, stored
                elif not stored:
                    # Products of what is rounded before may have a pass without that.
                    fewer = last_products(self.algorithm, members, label)
                    if len(fewer) > 1:
                        yield label, fewer, []

    def _upstream(self, name: str, label: str, together: bool) -> tuple[list[str], list[str]]:
        """Returns a function and those with a label that it reads through such functions, as far
        as they are computed for it alone, or may be stored where it is computed.

        Args:
            name: the function.
            label: the label.
            together: whether functions that others read are among them, which are returned again.
        """
        left = set[str]()
        while True:
            members, stored = self._needed(name, label, together, left)
            found = [other for other in self.order if other in members - {name}]
            again = repeated(self.algorithm, [name, *found], label)
            if not again:
                return [name, *found], [other for other in found if other in stored]
            left |= again

    def _needed(
        self, name: str, label: str, together: bool, left: Collection[str]
    ) -> tuple[set[str], set[str]]:
        """Returns the functions of `_upstream` but for some that are left apart, and those of them
        that are stored."""
        members, stored = {name}, set[str]()
        needs = self.algorithm.needs if self.evaluator.by_names else self.algorithm.is_along
        for other in reversed(self.order):
            readers = set(self.algorithm.readers[other])
            if other in self.home or other in left or members.isdisjoint(readers):
                continue
            if not needs(other, label):
                continue
            if other in self.stored or not members.issuperset(readers):
                # What has the label is not there when the pass begins.
                own = map(self._same, self.algorithm.functions[other].label_names)
                has_it = self._same(label) in own
                if not together or has_it or not self._run_behind(readers - members, name):
                    continue
                stored.add(other)
            members.add(other)
        return members, stored

    def _run_behind(self, readers: Iterable[str], name: str) -> bool:
        """Returns whether functions are in kernels that run behind that of another one."""
        place = self.order.index(name)
        homes = [self._homes(reader) for reader in readers]
        return all(found and min(map(self.order.index, found)) > place for found in homes)

    def _same(self, label: str) -> str:
        """Returns the first of the labels that have the size of a label."""
        return self.algorithm.same.get(label, label)

    def _with_each(self, name: str, cluster: Cluster, ways: Iterable[Decision]) -> list[Cluster]:
        """Returns a kernel with a function that joins it, for each way that is legal and has a
        tiling."""
        members = (*cluster.members, name)
        trials = [
            self.evaluator.evaluated(cluster.root, members, [*cluster.decisions, decision])
            for decision in ways
        ]
        return [trial for trial in trials if trial is not None]

    def _inlined(self, name: str, homes: Sequence[str]) -> list[Cluster]:
        """Returns several kernels into which an elementwise function is inlined; none if that is
        not legal."""
        if self.algorithm.reductions(name) or name in self.stored:
            return []
        decision = plain(name, "inline", reason="it is elementwise, for several kernels")
        trials: list[Cluster] = []
        for root, cluster in ((root, self.found[root]) for root in homes):
            if self.places.is_gathered(name, cluster):
                return []
            trial = self.evaluator.evaluated(
                root, (*cluster.members, name), [*cluster.decisions, decision]
            )
            if trial is None:
                return []
            trials.append(trial)
        return trials


def _has_tasks(cluster: Cluster) -> bool:
    """Returns whether groups of warps of a kernel have tasks of their own."""
    return any(kernel.tiling.consumers for kernel in cluster.kernels)


def _way_of(read: dt.ReadOp) -> Hashable:
    """Returns the indices of a read, and the labels of the reductions around it."""
    names = sorted({*read.properties} - {"source"})
    return tuple(read.properties[name] for name in names), tuple(labels_around(read))
