"""Draws programs: an algorithm, a schedule, element types, sizes and layouts.

The grammar below knows what makes a program well formed, and leans towards legal schedules; what
the compiler refuses all the same is checked to be refused in words. Everything is drawn with
hypothesis, so that failures shrink.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from cases import Case
from chains import draw_chain, draw_parts, schedule_chain
from hypothesis import strategies as st

from dt_mlir.boundary_conditions import BOUNDARIES, CONSTANT

LABELS = ("x", "y", "z", "k", "j", "w")
SIZES = (1, 2, 3, 5, 7, 8, 13, 16, 17, 19, 24, 31, 32, 33, 40)
FLOATS = ("f32", "f32", "f32", "f16", "f16", "bf16", "f64")
INTEGERS = ("i32", "i32", "i64", "i16", "i8", "u8")
NARROW = ("f8e4m3", "f8e5m2")
WALKS = ("", "1", "2", "rounds:alternating", "2, rounds:alternating")
UNARY = (
    "exp", "exp2", "sqrt", "rsqrt", "log", "log2", "log10", "log1p", "expm1", "sin", "cos", "tan",
    "tanh", "erf", "sigmoid", "relu", "gelu", "silu", "softplus", "abs", "sign", "floor", "ceil",
    "trunc", "round",
)  # fmt: skip


SPECIAL_FLOATS = (
    "0.0", "(-0.0)", "inf", "(-inf)", "nan", "1e30", "1e-30", "(-1e30)", "3e38", "1.2e-38", "1e-44",
)  # fmt: skip
SPECIAL_INTEGERS = ("2147483647", "(-2147483648)", "32768", "(-129)", "4294967296")
"""Numbers that are special to their types, or at the ends of one."""


@dataclass
class _Tensor:
    name: str
    type: str
    home: tuple[str, ...]


@dataclass
class _Function:
    name: str
    labels: tuple[str, ...]
    kind: str
    reduced: list[str] = field(default_factory=list[str])
    reads: list[str] = field(default_factory=list[str])


class _Drawer:
    """Draws one program."""

    def __init__(self, draw: st.DrawFn, gpu: bool) -> None:
        self.draw = draw
        self.gpu = gpu
        count = self.pick((1, 2, 2, 3, 3, 3, 4, 4, 6))
        self.labels = LABELS[:count]
        self.inputs: list[_Tensor] = []
        self.scalars: list[_Tensor] = []
        self.functions: list[_Function] = []
        self.current: _Function
        self.has_dot = False
        self.online: str | None = None
        """The label over which the last function's reductions are computed in one pass."""
        self.scanned: str | None = None
        """The label that the last function scans."""
        self.chunked = False
        """True if it scans it in chunks."""

    def pick(self, options):
        return self.draw(st.sampled_from(options))

    def chance(self, percent: int) -> bool:
        return self.draw(st.integers(0, 99)) >= 100 - percent

    def some_labels(self, least: int, most: int) -> tuple[str, ...]:
        most = min(most, len(self.labels))
        count = self.draw(st.integers(min(least, most), most))
        return tuple(self.draw(st.permutations(self.labels))[:count])

    # the algorithm

    def algorithm(self) -> tuple[str, list[str]]:
        """The declarations and definitions."""
        for name in ("A", "B", "C", "V")[: self.pick((1, 2, 3, 4))]:
            kind = self.pick(("float",) * 6 + ("int", "bool", "narrow"))
            types = {"float": FLOATS, "int": INTEGERS, "bool": ("bool",), "narrow": NARROW}[kind]
            home = self.some_labels(1, 6 if len(self.labels) > 4 else 3)
            self.inputs.append(_Tensor(name, self.pick(types), home))
        if self.chance(25):
            self.scalars.append(_Tensor("s", self.pick(FLOATS + INTEGERS + ("bool",)), ()))
        definitions: list[str] = []
        chained = len(self.labels) > 1 and self.chance(20)
        count = 0 if chained else self.pick((1, 1, 2, 2, 3, 4))
        if chained:
            definitions = draw_chain(self, _Function)
        for number in range(count):
            name = f"f{number}"
            labels = self.some_labels(0 if self.chance(10) else 1, 6 if count == 1 else 3)
            kind = self.pick(("float",) * 7 + ("int", "int", "bool"))
            self.current = _Function(name, labels, kind)
            expression = self.expression(kind, self.pick((1, 2, 2, 3, 3, 4)), labels)
            definitions.append(f"{name}[{', '.join(labels)}] = {expression};")
            self.functions.append(self.current)
        declared = ["Func " + ", ".join(f.name + self.declared(f) for f in self.functions) + ";"]
        if self.inputs:
            shown = ", ".join(f"{t.name} : {self.input_type(t)}" for t in self.inputs)
            declared.append(f"In {shown};")
        # A scalar of no declared type is an f32, or an f64 where it meets one.
        declared += [
            f"SIn {t.name};" if t.type == "f32" else f"SIn {t.name} : {t.type};"
            for t in self.scalars
        ]
        split = self.draw(st.integers(0, len(self.labels)))
        if split:
            declared.append(f"Var {', '.join(map(self.label, self.labels[:split]))};")
        if split < len(self.labels):
            declared.append(f"RVar {', '.join(map(self.label, self.labels[split:]))};")
        return "\n".join(declared), definitions

    def label(self, name: str) -> str:
        """The declaration of a label, seldom with a size."""
        if not self.chance(8):
            return name
        other = self.pick([label for label in self.labels if label != name] or [name])
        tensor = self.pick(self.inputs or [_Tensor("A", "", ())])
        return f"{name} = " + self.pick((
            "3", "7", "16", f"len({other}) + 1", f"2 * len({other})", f"(len({other}) + 1) // 2",
            f"size({tensor.name}, 0)", f"(size({tensor.name}, 0) - 3) // 2 + 2",
        ))  # fmt: skip

    def input_type(self, tensor: _Tensor) -> str:
        # Triton's interpreter multiplies bf16 wrongly in a dot.
        if self.has_dot and not self.gpu and tensor.type in ("bf16", *NARROW):
            return "f16"
        return tensor.type

    def declared(self, function: _Function) -> str:
        if not self.chance(25):
            return ""
        types = {"float": ("f32", "f16", "f64"), "int": ("i32", "i64", "i16", "i8", "u8", "f32")}
        types["float"] += ("bf16", "f8e5m2") if self.gpu else ()
        type = self.pick(types.get(function.kind, ("bool", "i32")))
        return f" : {type}"

    def expression(self, kind: str, depth: int, labels: tuple[str, ...]) -> str:
        """An expression of a kind in which the given labels are bound."""
        if depth <= 0:
            return self.leaf(kind, labels)
        return getattr(self, f"_{kind}")(depth - 1, labels)

    def leaf(self, kind: str, labels: tuple[str, ...]) -> str:
        wanted = {
            "float": (*FLOATS, *NARROW), "int": INTEGERS, "bool": ("bool",)
        }[kind]
        tensors = [t for t in self.inputs if t.type in wanted]
        tensors += [_Tensor(f.name, "", f.labels) for f in self.functions if f.kind == kind]
        if tensors and self.chance(85):
            # A function is what there is most to get wrong about.
            return self.read(self.pick([*tensors[-2:], *tensors]), labels)
        scalars = [t.name for t in self.scalars if t.type in wanted]
        if scalars and self.chance(40):
            return self.pick(scalars)
        if kind == "int":
            if self.chance(10):
                return self.pick(SPECIAL_INTEGERS)
            options = [*labels, *(f"len({x})" for x in labels[:1]), "0", "1", "2", "3", "-7"]
            return self.pick(options)
        if kind == "float":
            if self.chance(20):
                return self.pick(SPECIAL_FLOATS)
            return self.pick(("0.5", "1.0", "2.0", "-1.5", "3", "0.25"))
        left = self.leaf("int", labels)
        return f"({left} {self.pick(('<', '>=', '==', '!='))} {self.leaf('int', labels)})"

    def read(self, tensor: _Tensor, labels: tuple[str, ...]) -> str:
        if tensor.name.startswith("f"):
            self.current.reads.append(tensor.name)
        indices: list[str] = []
        for home in tensor.home:
            if not labels or self.chance(4):
                indices.append(str(self.pick((0, 0, 1))))
            elif home in labels and self.chance(80):
                indices.append(home)
            else:
                indices.append(self.pick(labels))
        if not tensor.home or not labels or not self.chance(22):
            return f"{tensor.name}[{', '.join(indices)}]"
        guarded = self.chance(65)
        for axis in range(len(indices)):
            if axis == 0 or self.chance(40):
                indices[axis] = self.index(labels, guarded)
        shown = f"{tensor.name}[{', '.join(indices)}]"
        if not guarded:
            return shown
        boundary = self.pick((CONSTANT, *BOUNDARIES))
        if boundary != CONSTANT:
            return f"{boundary}({shown})"
        drawn = self.chance(20)
        outside = self.leaf("int", labels) if drawn else self.pick(("0", "1", "-3", "7"))
        return f"{boundary}({shown}, {outside})"

    def index(self, labels: tuple[str, ...], guarded: bool) -> str:
        """An index that is an expression of labels, or data."""
        a, b = self.pick(labels), self.pick(labels)
        n, m = self.pick("1235"), self.pick(("2", "3", "4", "8", "16"))
        if self.chance(25):
            data = self.leaf("int", labels)
            return self.pick((
                data, data, f"{data} * {self.pick('12')} - 1", f"{m} * {data} + {a} % {m}",
                f"where({self.leaf('bool', labels)}, {a}, {b} + {m})",
            ))  # fmt: skip
        inside = (
            f"{a} + {n}", f"{n} * {a}", f"{a} + {b}", f"{n} * {a} + {m} * {b}", f"{a} // {m}",
            f"{a} % {m}", f"({a} + {n}) // {m}", f"{a} // len({b})", f"{a} % len({b})",
            f"{a} // {m} + {b} % {n}",
        )  # fmt: skip
        anywhere = (
            f"{a} - {n}", f"{n} - {a}", f"{a} - {b}", f"{n} * {a} - {m} * {b} + 1", f"({a} - {n}) // {m}",
            f"({n} - {a}) % {m}", f"len({a}) - 1 - {a}", f"{a} * len({b}) - {b}",
        )
        return self.pick((*inside, *anywhere) if guarded else inside)

    def conditions(self, over: list[str], bound: tuple[str, ...]) -> str:
        """Conditions of a reduction, most of them affine."""
        shown = ""
        while self.chance(18):
            k, x, n = self.pick(over), self.pick(bound), self.pick("0123")
            data = self.leaf("int", tuple(label for label in bound if label not in over))
            shown += ", " + self.pick((
                f"{k} < {data}", f"{k} - {x} >= {data}", f"{n} * {k} <= {x} + {data}",
                f"{k} <= {x}", f"{k} < {x} + {n}", f"{k} > {x} - {n}", f"{n} * {k} >= {x}",
                f"{k} + {x} <= {n} * 4", f"2 * {k} - {x} < {n}", f"{k} % 2 == {n}", f"{x} >= {n}",
                f"{k} < len({x}) - {n}", f"{k} == {x}", f"({k} + {x}) // 2 > {n}",
                self.expression("bool", 1, bound),
            ))  # fmt: skip
        return shown

    def _float(self, depth: int, labels: tuple[str, ...]) -> str:
        def sub(kind: str = "float", bound: tuple[str, ...] = labels) -> str:
            return self.expression(kind, depth, bound)

        match self.pick(("leaf",) * 2 + ("binary",) * 4 + ("unary",) * 3 + ("reduce",) * 4 + (
            "dot", "dot", "where", "extreme", "cast", "int", "power", "clamp", "mean", "other")):
            case "leaf":
                return self.leaf("float", labels)
            case "binary":
                return f"({sub()} {self.pick('+-*/')} {sub()})"
            case "unary":
                return f"{self.pick(UNARY)}({sub()})"
            case "reduce":
                name = self.pick(("rsum", "rsum", "rsum", "rmax", "rmin", "rprod"))
                return self.reduction(name, "float", depth, labels)
            case "mean":
                return self.reduction("rmean", self.pick(("float", "int")), depth, labels)
            case "dot":
                self.has_dot = True
                over = self.reduced()
                bound = tuple(dict.fromkeys((*labels, *over)))
                a, b = sub("float", bound), sub("float", bound)
                return f"rdot({a}, {b}, {', '.join(over)}{self.conditions(over, bound)})"
            case "where":
                return f"where({sub('bool')}, {sub()}, {sub()})"
            case "extreme":
                return f"{self.pick(('maximum', 'minimum'))}({sub()}, {sub()})"
            case "cast":
                # Triton's interpreter does not round to bf16, it cuts off.
                type = self.pick(("f32", "f16", "bf16" if self.gpu else "f16", "f64"))
                return f"cast({sub(self.pick(('float', 'int', 'bool')))}, {type})"
            case "int":
                return f"({sub('int')} {self.pick('+-*/')} {sub()})"
            case "power":
                return f"({sub()} ** {self.pick(('2', '3', '-1', '0.5', '0'))})"
            case "clamp":
                return f"clamp({sub()}, {self.pick(('-1', '-0.5', '0'))}, {self.pick(('1', '2.5'))})"
            case _:
                return self.pick((
                    f"(-{sub()})", f"fma({sub()}, {sub()}, {sub()})", f"({sub()} // {sub()})",
                    f"({sub()} % {sub()})", f"({sub()} ** {sub()})",
                ))

    def _int(self, depth: int, labels: tuple[str, ...]) -> str:
        def sub(kind: str = "int") -> str:
            return self.expression(kind, depth, labels)

        match self.pick(("leaf", "leaf", "binary", "binary", "divide", "bits", "reduce", "argument",
                         "cast", "where", "other")):
            case "leaf":
                return self.leaf("int", labels)
            case "binary":
                return f"({sub()} {self.pick('+-*')} {sub()})"
            case "divide":
                return f"({sub()} {self.pick(('//', '%'))} {sub()})"
            case "bits":
                return f"({sub()} {self.pick(('&', '|', '^'))} {sub()})"
            case "reduce":
                name = self.pick(("rsum", "rmax", "rmin", "rprod"))
                return self.reduction(name, "int", depth, labels)
            case "argument":
                name = self.pick(("rargmax", "rargmin"))
                return self.reduction(name, self.pick(("float", "int")), depth, labels)
            case "cast":
                type = self.pick(("i32", "i64", "i16", "i8", "u8"))
                return f"cast({sub(self.pick(('float', 'int', 'bool')))}, {type})"
            case "where":
                return f"where({sub('bool')}, {sub()}, {sub()})"
            case _:
                return self.pick((
                    f"(-{sub()})", f"(~{sub()})", f"abs({sub()})", f"sign({sub()})",
                    f"maximum({sub()}, {sub()})", f"({sub()} << {self.pick('0123')})",
                    f"({sub()} >> {self.pick('0123')})", f"({sub()} ** {self.pick('0123')})",
                    f"clamp({sub()}, -3, 5)",
                ))

    def _bool(self, depth: int, labels: tuple[str, ...]) -> str:
        def sub(kind: str) -> str:
            return self.expression(kind, depth, labels)

        match self.pick(("compare",) * 3 + ("logic", "not", "reduce", "leaf")):
            case "compare":
                kind = self.pick(("float", "int"))
                operator = self.pick(("<", "<=", ">", ">=", "==", "!="))
                return f"({sub(kind)} {operator} {sub(kind)})"
            case "logic":
                return f"({sub('bool')} {self.pick(('and', 'or'))} {sub('bool')})"
            case "not":
                return f"(not {sub('bool')})"
            case "reduce":
                return self.reduction(self.pick(("rany", "rall")), "bool", depth, labels)
            case _:
                return self.leaf("bool", labels)

    def reduced(self) -> list[str]:
        count = 2 if self.chance(15) else 1
        over = list(self.some_labels(count, count))
        self.current.reduced += over
        return over

    def reduction(self, name: str, kind: str, depth: int, labels: tuple[str, ...]) -> str:
        over = self.reduced()
        bound = tuple(dict.fromkeys((*labels, *over)))
        body = self.expression(kind, depth, bound)
        return f"{name}({body}, {', '.join(over)}{self.conditions(over, bound)})"

    # the schedule

    def schedule(self) -> tuple[list[str], dict[str, int]]:
        """The directives, and the least step with which each label is walked."""
        lines: list[str] = []
        home = {f.name: f.name for f in self.functions}
        joins = self.online is None
        own = {
            f.name: self.joined(f.name, f.labels, "j", lines) if joins else f.labels
            for f in self.functions
        }
        reduced = {
            f.name: self.joined(f.name, tuple(dict.fromkeys(f.reduced)), "r", lines)
            if joins else tuple(dict.fromkeys(f.reduced))
            for f in self.functions
        }
        inside = {f.name: {*own[f.name], *reduced[f.name]} for f in self.functions}
        if joins:
            for function in self.functions:
                if len(function.reduced) == 1 and self.chance(15):
                    over = self.pick(function.reduced)
                    labels = function.labels
                    bound = sorted(inside[function.name])
                    lines += draw_parts(self, _Function, function.name, over, labels, bound)
                    inside[function.name] -= {over}
                    inside[function.name].add(f"{over}_part")
        if self.online is not None and self.chance(90):
            return schedule_chain(self, _Function), dict.fromkeys(self.labels, 8)
        by_name = {f.name: f for f in self.functions}
        for producer in reversed(self.functions[:-1]):
            users = [f for f in self.functions if producer.name in f.reads and f.name in home]
            if not users or not self.chance(60):
                continue
            if self.chance(15):
                lines.append(f"{producer.name}.inline();")
                for user in users:
                    # What is inlined is read in the kernels of all of its readers.
                    inside[user.name] |= inside[producer.name]
                home.pop(producer.name)
                continue
            consumer = users[-1] if self.chance(80) else self.pick(users)
            at = [*own[consumer.name], *reduced[consumer.name]] or list(self.labels)
            lines.append(f"{producer.name}.fuse_at({consumer.name}, {self.pick(at)});")
            home[producer.name] = home[consumer.name]
        for name, root in home.items():
            if name != root:
                inside[root] |= inside[name]
        steps: dict[str, int] = {}
        for name in dict.fromkeys(home.values()):
            lines += self.root(by_name[name], own[name], sorted(inside[name]), steps)
        if self.chance(15):
            lines += self.copy(home)
        if self.chance(6):
            lines.append(self.nonsense())
        return list(self.draw(st.permutations(lines))) if self.chance(20) else lines, steps

    def joined(
        self, function: str, labels: tuple[str, ...], kind: str, lines: list[str]
    ) -> tuple[str, ...]:
        """The labels of loops, of which some may be joined by a directive."""
        if len(labels) < 2 or not self.chance(15):
            return labels
        some = list(self.draw(st.permutations(labels)))[: self.pick((2, 2, 3))]
        label = f"{function}_{kind}"
        lines.append(f"{function}.fuse({', '.join(some)}, {label});")
        return (label, *(other for other in labels if other not in some))

    def root(
        self, function: _Function, labels: tuple[str, ...], inside: list[str], steps: dict[str, int]
    ) -> list[str]:
        lines: list[str] = []
        blocks: dict[str, int] = {}
        if labels and self.chance(65):
            for label in labels:
                if self.chance(75):
                    blocks[label] = self.pick((1, 2, 3, 4, 6, 8, 16, 32))
        if blocks:
            lines.append(f"{function.name}.block({_sizes(blocks)});")
        pieces: dict[str, int] = {}
        for label in labels:
            if self.chance(12):
                fits = [n for n in (2, 3, 4, 8) if blocks.get(label, n) % n == 0]
                pieces[label] = self.pick(fits or (2,))
        if pieces:
            lines.append(f"{function.name}.split({_sizes(pieces)});")
        if len(labels) > 1 and self.chance(12):
            names = [*labels, *(f"{label}_outer" for label in pieces)]
            order = self.draw(st.permutations(names))
            lines.append(f"{function.name}.reorder({', '.join(order)});")
        sums = [label for label in inside if label not in labels]
        if len(sums) > 1 and self.chance(15):
            order = list(self.draw(st.permutations(sums)))[: self.pick((2, 2, 3))]
            lines.append(f"{function.name}.reorder({', '.join(order)});")
        blocks |= pieces
        tiles: dict[str, int] = {}
        for label in inside:
            if not self.chance(75):
                continue
            block = blocks.get(label)
            if block is None or self.chance(5):
                tiles[label] = self.pick((0, 0, 0, 1, 2, 3, 4, 5, 8, 8, 16, 16, 32))
            else:
                fits = [n for n in (1, 2, 3, 4, 8, 16, 32) if block % n == 0]
                tiles[label] = self.pick((0, block, *fits))
        for label in inside:
            step = tiles.get(label, 1)
            steps[label] = min(steps.get(label, 64), step or 64)
        if tiles:
            lines.append(f"{function.name}.tensorize({_sizes(tiles)});")
            parts = {
                label: [n for n in (2, 3, 4) if tiles[label] % n == 0]
                for label in labels if tiles.get(label)
            }
            apart = [label for label, numbers in parts.items() if numbers]
            if apart and self.chance(15):
                some = list(self.draw(st.permutations(apart)))[: self.pick((1, 1, 2))]
                jammed = {label: self.pick(parts[label]) for label in some}
                lines.append(f"{function.name}.unroll_jam({_sizes(jammed)});")
                if sums and self.chance(60):
                    lines.append(f"{function.name}.unroll({self.pick(sums)}:8);")
        if blocks and self.chance(35):
            lines.append(f"{function.name}.map({', '.join(self.walk(list(blocks)))});")
        if blocks and self.chance(15):
            lines.append(f"{function.name}.persistent({self.pick(WALKS)});")
        if sums and self.chance(10):
            lines.append(f"{function.name}.pipeline({self.pick(sums)}:{self.pick((1, 2, 3))});")
        read = any(function.name in other.reads for other in self.functions)
        if function.labels and read and self.chance(35):
            multiples = {
                label: self.pick((tiles.get(label) or blocks.get(label) or 2, 1, 3, 4, 8, 16, 32))
                for label in function.labels
            }
            lines.append(f"{function.name}.align_storage({_sizes(multiples)});")
        if len(function.labels) > 1 and read and self.chance(20):
            order = self.draw(st.permutations(function.labels))
            lines.append(f"{function.name}.reorder_storage({', '.join(order)});")
        if self.chance(20):
            lines.append(f"{function.name}.num_warps({self.pick((1, 2, 4, 8))});")
        if self.chance(15):
            lines.append(f"{function.name}.num_stages({self.pick((1, 2, 3, 4))});")
        if self.chance(15):
            lines.append(f"{function.name}.math(accurate);")
        if self.chance(15):
            lines.append(f"{function.name}.dependent_launch();")
        if self.has_dot and self.chance(10):
            lines.append(f"{function.name}.precision({self.pick(('tf32', 'tf32x3', 'ieee', 'narrow'))});")
        return lines

    def walk(self, blocked: list[str]) -> list[str]:
        items: list[str] = []
        for label in self.draw(st.permutations(blocked)):
            if self.chance(40):
                items += [f"{label}:{label}_i/{self.pick((1, 2, 3, 4, 8))}", f"{label}_i"]
            else:
                items.append(label)
        return list(self.draw(st.permutations(items)))

    def copy(self, home: dict[str, str]) -> list[str]:
        """A copy of what a function reads, with directives of its own."""
        function = self.pick(self.functions)
        read = [name for name in dict.fromkeys(function.reads) if home.get(name, name) == name]
        if not read:
            return []
        tensor, name = self.pick(read), "f_copy"
        lines = [f"{function.name}.cache_read({tensor}, {name});"]
        # The axes of inputs are called after the labels that read them first.
        known = {f.name: f.labels for f in self.functions}.get(tensor, ())
        for directive in ("block", "tensorize", "align_storage"):
            if known and self.chance(50):
                sizes = {label: self.pick((1, 2, 4, 8)) for label in known if self.chance(70)}
                lines += [f"{name}.{directive}({_sizes(sizes)});"] if sizes else []
        return [*lines, *([f"{name}.inline();"] if self.chance(20) else [])]

    def nonsense(self) -> str:
        """A directive that is likely to be illegal."""
        name = self.pick([f.name for f in self.functions])
        label = self.pick((*self.labels, "q"))
        other = self.pick([f.name for f in self.functions] + ["A"])
        return self.pick((
            f"{name}.block({label}:{self.pick((0, 3, 5))});",
            f"{name}.tensorize({label}:{self.pick((3, 7, 1000))});",
            f"{name}.map({label});", f"{name}.map({label}:{label}_i/2);",
            f"{name}.fuse_at({other}, {label});", f"{name}.num_warps(3);",
            f"{name}.align_storage({label}:{self.pick((0, 5))});",
            f"{name}.unroll_jam({label}:{self.pick((2, 3))});", f"{name}.math(slow);", f"{name}.unroll({label}:2);", f"{name}.inline();",
            f"{name}.split({label}:5);", f"{name}.reorder({label}, {self.pick(self.labels)});",
            f"{name}.fuse({label}, {self.pick(self.labels)}, {self.pick(('m', label, 'A'))});",
            f"{name}.online({label});",
        ))

    def outputs(self) -> list[str]:
        arguments = "dynamic:1" if self.chance(15) else ""
        read = {name for f in self.functions for name in f.reads}
        names = [self.functions[-1].name]
        for function in self.functions[:-1]:
            # What nothing reads is there to be an output.
            if self.chance(25 if function.name in read else 97):
                names.append(function.name)
        names = list(self.draw(st.permutations(names)))
        return [f"{name}.compile({arguments});" for name in names]


def _needed(functions: list[_Function], outputs: list[str]) -> set[str]:
    """The functions that outputs need, by their `compile` lines."""
    found = {line.partition(".")[0] for line in outputs}
    for function in reversed(functions):
        found |= {*function.reads} if function.name in found else set()
    return found


def _sizes(items: dict[str, int]) -> str:
    return ", ".join(f"{label}:{size}" for label, size in items.items())


@st.composite
def cases(draw: st.DrawFn, gpu: bool = False) -> Case:
    """Programs with what they are run on.

    Args:
        draw: hypothesis' source of choices.
        gpu: whether they run on a GPU, where every type and value may be met.
    """
    drawer = _Drawer(draw, gpu)
    declared, definitions = drawer.algorithm()
    directives, steps = drawer.schedule()
    sizes: dict[str, int] = {}
    for label in drawer.labels:
        # Loops of step 1 take long on an interpreter.
        step = steps.get(label, 64)
        most = 40 if step >= 8 else 17 if step >= 3 else 6
        most = min(most, {1: 40, 2: 40, 3: 24, 4: 13}.get(len(drawer.labels), 5))
        sizes[label] = drawer.pick([n for n in SIZES if n <= most])
    if drawer.chance(3):
        sizes[drawer.pick(drawer.labels)] = 0
    outputs = drawer.outputs()
    if drawer.chance(95):
        unneeded = {f.name for f in drawer.functions} - _needed(drawer.functions, outputs)
        directives = [line for line in directives if line.partition(".")[0] not in unneeded]
    text = "\n".join([declared, *definitions, *directives, *outputs]) + "\n"
    layout = drawer.pick(("contiguous",) * 3 + ("transposed", "strided"))
    # Triton's interpreter has no infinities of 8 bits, and no subnormal numbers of bf16.
    narrow = any(t.type in ("bf16", *NARROW) for t in drawer.inputs)
    special = drawer.chance(25) and (gpu or not narrow)
    fixed = drawer.chance(20)
    return Case(text, sizes, layout, draw(st.integers(0, 2**31)), special, fixed)
