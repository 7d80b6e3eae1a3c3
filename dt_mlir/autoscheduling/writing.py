"""Schedules with the labels that a program's functions have.

Where the functions of a kernel call labels otherwise that are tiled alike, or alike what is tiled
otherwise, `rename` says so first.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace

from dt_mlir.autoscheduling.decisions import Decision
from dt_mlir.autoscheduling.likeness import stem_of
from dt_mlir.autoscheduling.naming import PART, Naming, is_of_parts
from dt_mlir.autoscheduling.slices import Algorithm
from dt_mlir.dialects.formats import names
from dt_mlir.dialects.sched import OUTER, Argument
from dt_mlir.frontend.own_labels import halo_of, own_label

KEYED = (
    "block", "tensorize", "unroll", "unroll_jam", "pipeline", "align_storage", "warp_specialize",
    "rfactor", "map", "reorder",
)  # fmt: skip
"""The directives whose arguments stand behind labels."""
SETTINGS = ("consumers", "registers", "rounds")
"""The words that arguments of directives stand behind."""
LISTED = ("map", "reorder", "fuse", "reorder_storage", "deterministic")
"""The directives whose arguments are labels, or new ones that are made of them."""
PLACES = {"online": 0, "scan": 0, "fuse_at": 1}
"""The place of the argument of others that is a label."""

REASON = "loops that are tiled alike have one label"
"""The reason for which labels are renamed."""

Part = tuple[Sequence[str], Sequence[Decision]]
"""The functions of a kernel, the root first, and its directives."""


class Writer:
    """Writes the schedules of kernels, one after the other, with a program's own labels.

    Args:
        naming: the program, and the labels that schedules are found with.
        algorithm: the program with these.
        taken: the names that the program has.
        apart: the roots of kernels whose passes have labels of names that nothing has which is
            read from memory; `online` may leave it apart by itself.
    """

    def __init__(
        self, naming: Naming, algorithm: Algorithm, taken: Collection[str],
        apart: Collection[str] = (),
    ) -> None:  # fmt: skip
        self.naming, self.algorithm, self.taken = naming, algorithm, {*taken}
        self.apart = apart
        self.counts: dict[str, object] = {}
        """The number of parts of each label that is split, by the label of parts."""
        self.joined: dict[str, tuple[str, ...]] = {}
        """The labels that each label joins which `fuse` has made."""

    def axes_of(self, tensor: str) -> dict[str, str]:
        """Returns what the program calls the axes of an input."""
        return dict(zip(names(self.algorithm.axes[tensor]), self.naming.axes[tensor]))

    def written(self, part: Part) -> list[Decision]:
        """Returns the directives of a kernel, those that rename its labels first."""
        members, decisions = part
        known = _Names(self, members, decisions)
        said = [known.written(item) for item in decisions]
        for item in said:
            if item.name == "rfactor":
                self.counts[f"{item.arguments[0].key}{PART}"] = item.arguments[0].value
        return [*known.renames(said), *said]


class _Names:
    """The names of the labels of a kernel's functions; arguments are those of `Writer.written`."""

    def __init__(
        self, writer: Writer, members: Sequence[str], decisions: Sequence[Decision]
    ) -> None:
        self.writer, self.naming = writer, writer.naming
        self.members, self.decisions = members, decisions
        self.placed = {
            name: [item.function for item in decisions if item.name == name]
            for name in ("fuse_at", "inline")
        }
        self.copies = {
            str(item.arguments[1].value): writer.axes_of(str(item.arguments[0].value))
            for item in decisions if item.name == "cache_read"
        }  # fmt: skip
        """The names of the labels of copies of tensors, by the copy."""
        self.names: dict[str, str] = {}
        """The name of each label, and of each that is made of one."""
        for member in members:
            for own, label in self.naming.labels.get(member, {}).items():
                if label not in self.names:
                    self.names[label] = self._free(label, own, member == members[0])
        for item in decisions:
            if item.name == "fuse":
                *labels, joined = (str(argument.value) for argument in item.arguments)
                self.names[joined] = self._joined([self.name_of(label) for label in labels])

    def _free(self, label: str, own: str, is_root: bool) -> str:
        """Returns a name for a label: that of the root if that is possible, else that of the first
        function that has it, else another one."""
        unwanted = self._unwanted(label)
        for name in (own, label, *self.naming.same.get(label, ())):
            is_free = name not in self.names.values() and name not in unwanted
            if is_free and (is_root or name not in self._of_root()):
                return name
        name = f"{label}_"
        others = {*self.writer.taken, *self.writer.joined, *self.names.values(), *unwanted}
        while name in others or is_of_parts(name, others):
            name += "_"
        return name

    def _joined(self, labels: Sequence[str]) -> str:
        """Returns a name for the label that joins others."""
        name, joined = "_".join(labels), tuple(labels)
        while name in self.writer.taken or self.writer.joined.get(name, joined) != joined:
            name += "_"
        self.writer.joined[name] = joined
        return name

    def _of_root(self) -> Collection[str]:
        return self.naming.labels.get(self.members[0], {})

    def _unwanted(self, label: str) -> set[str]:
        """Returns the names that a label cannot have because of what is outside of the kernel."""
        found = set[str]()
        for item in self.decisions:
            argument = item.arguments[0] if item.arguments else None
            if argument is not None and item.name == "rfactor" and argument.key == label:
                found |= {
                    name for name in self.naming.same.get(label, [label])
                    if self.writer.counts.get(name + PART, argument.value) != argument.value
                    or is_of_parts(name, self.writer.taken)
                }  # fmt: skip
            if argument is not None and item.name == "online" and argument.value == label:
                # What is inlined, or read from memory, is not computed in the pass.
                needed = self._needed()
                for other in [*self.placed["inline"], *needed]:
                    apart = self.members[0] in self.writer.apart and other in needed
                    known = self.naming.labels[other]
                    found |= {own for own, name in known.items() if apart or name != label}
        return found

    def _needed(self) -> list[str]:
        """Returns the functions outside of the kernel that it needs."""
        found = [*self.members]
        for name in found:
            reads = self.writer.algorithm.reads.get(name, ())
            found += [read for read in reads if read not in found]
        return found[len(self.members) :]

    def name_of(self, label: str) -> str:
        """Returns the program's name of a label, or of one that is made of it: `k_part` of `k`."""
        if label not in self.names:
            stem = stem_of(label, self.names)
            if stem is None:
                return label
            end = label.removeprefix(stem)
            made = self.names[stem] + end
            while end != PART and made != label and made in self.writer.taken:
                made += "_"
            self.names[label] = made
        return self.names[label]

    def _axis(self, item: Decision, label: str) -> str | None:
        """Returns the label of the place of a function that is fused, if it is an axis of a result
        which is fused, too: that keeps its name."""
        target = str(item.arguments[0].value)
        if item.name != "fuse_at" or target not in self.placed["fuse_at"]:
            return None
        if target not in self.writer.algorithm.outputs:
            return None
        known = self.naming.labels[target]
        axes = list(known)[: len(self.writer.algorithm.functions[target].label_names)]
        return next((own for own in axes if known[own] == label), None)

    def renames(self, said: Sequence[Decision]) -> Iterator[Decision]:
        """Yields the directives that give labels names that functions have not for them.

        Args:
            said: the other directives, as they are written.
        """
        loops: set[tuple[str, str]] | None = None
        for member in self.members:
            if member in self.placed["inline"]:
                continue
            known = self.naming.labels.get(member, {})
            other = {own: self.names[x] for own, x in known.items() if own != self.names[x]}
            if other and member in self.placed["fuse_at"]:
                if loops is None:
                    loops = self.writer.algorithm.loops(self.members, self.decisions)
                # Loops around the place are the other function's, but by the names of its labels
                # functions are fused into it.
                places = {
                    str(item.arguments[1].value) for item in self.decisions
                    if item.name == "fuse_at" and item.arguments[0].value == member
                }  # fmt: skip
                kept = {
                    own for own in other if (member, known[own]) in loops or known[own] in places
                }
                while more := {own for own in other if own in {other[x] for x in kept}} - kept:
                    kept |= more
                other = {own: name for own, name in other.items() if own in kept}
            apart = self._apart(member, other, said)
            pairs = {**other, **dict.fromkeys(apart, "")}
            if pairs:
                arguments = tuple(Argument(own, name or own) for own, name in pairs.items())
                reason = f"'{next(iter(apart.values()))}' is what it reduces" if apart else REASON
                yield Decision(member, "rename", arguments, reason)

    def _apart(
        self, member: str, renamed: Mapping[str, str], said: Sequence[Decision]
    ) -> dict[str, str]:
        """Returns the labels of a function's own that directives have to name, each with the label
        that the function also reduces.

        The program's name of that label is otherwise taken for one of the function's own.
        """
        known = self.naming.labels.get(member, {})
        named = {*renamed}
        meant = set[str]()
        for item in said:
            if item.name == "fuse_at" and item.arguments[0].value == member:
                meant.add(str(item.arguments[1].value))
            elif item.function == member:
                named.update(str(name) for a in item.arguments for name in (a.key, a.value))
        # The labels of a halo are named after the output.
        outputs = (o for o in self.writer.algorithm.outputs if halo_of(o) == member.rstrip("_"))
        functions = (member, *outputs)
        pairs = {
            own: x for x in known for own in known for function in functions
            if own.rstrip("_") == own_label(function, x)
        }  # fmt: skip
        return {
            own: label for own, label in pairs.items()
            if not {own, own + OUTER} & named and {label, label + OUTER} & (named | meant)
        }  # fmt: skip

    def written(self, item: Decision) -> Decision:
        """Returns a directive with the names of labels."""
        copied = self.copies.get(item.function, {})

        def name_of(label: str) -> str:
            return copied.get(label) or self.name_of(label)

        arguments: list[Argument] = []
        for number, (key, value, factor) in enumerate(item.arguments):
            is_new = key is None or factor is not None
            listed = item.name in LISTED and is_new or PLACES.get(item.name) == number
            if isinstance(value, str) and listed:
                value = self._axis(item, value) or name_of(value)
            if key is not None and item.name in KEYED and key not in SETTINGS:
                key = name_of(key)
            arguments.append(Argument(key, value, factor))
        return replace(item, arguments=tuple(arguments))
