"""Programs of many functions."""


def elementwise(count: int) -> str:
    """A chain of elementwise functions, no two of which are alike."""
    names = ", ".join(f"f{i}" for i in range(count))
    lines = ["f0[x, y] = A[x, y] * 2;"]
    lines += [f"f{i}[x, y] = f{i - 1}[x, y] * {i} + B[y];" for i in range(1, count)]
    return f"Func {names}; In A, B; Var x, y;\n" + "\n".join([*lines, f"f{count - 1}.compile();"])


def less_their_sums(count: int, crossing: int = 0) -> str:
    """Functions that each subtract the sum of a row; one may read the one before transposed."""
    names = ", ".join(f"f{i}" for i in range(count))
    lines = ["f0[x, y] = A[x, y] * 2;"]
    for i in range(1, count):
        other = f"f{i - 1}[y, x]" if i == crossing else f"f{i - 1}[x, y]"
        lines.append(f"f{i}[x, y] = {other} - rsum(f{i - 1}[x, k], k);")
    text = f"Func {names}; In A; Var x, y; RVar k;\n" + "\n".join(lines)
    return f"{text}\nf{count - 1}.compile();"


def softmax_of_softmax(count: int) -> str:
    """Softmax of a softmax of …: rows' maxima and sums, and functions that others read thrice."""
    names, lines = ["f0"], ["f0[x, y] = A[x, y] * 2;"]
    for i in range(1, count + 1):
        f, g, m, t = f"f{i - 1}", f"f{i}", f"m{i}", f"t{i}"
        names += [m, t, g]
        lines += [
            f"{m}[x] = rmax({f}[x, k], k);", f"{t}[x] = rsum(exp({f}[x, k] - {m}[x]), k);",
            f"{g}[x, y] = exp({f}[x, y] - {m}[x]) / {t}[x];",
        ]  # fmt: skip
    text = "\n".join([f"Func {', '.join(names)}; In A; Var x, y; RVar k;", *lines])
    return f"{text}\nf{count}.compile();"


def less_sums(count: int) -> str:
    """Sums of rows, and functions that subtract them, in turns."""
    names, lines = ["f0"], ["f0[x, y] = A[x, y] * 2;"]
    for i in range(1, count + 1):
        names += [f"s{i}", f"f{i}"]
        lines += [f"s{i}[x] = rsum(f{i - 1}[x, k], k);", f"f{i}[x, y] = f{i - 1}[x, y] - s{i}[x];"]
    text = "\n".join([f"Func {', '.join(names)}; In A; Var x, y; RVar k;", *lines])
    return f"{text}\nf{count}.compile();"


def sums_of_inputs(count: int) -> str:
    """The sum of sums of rows, each of another input."""
    names = ", ".join(f"g{i}" for i in range(count))
    inputs = ", ".join(f"A{i}" for i in range(count))
    lines = [f"g{i}[x] = rsum(A{i}[x, k], k);" for i in range(count)]
    lines.append(f"f[x] = {' + '.join(f'g{i}[x]' for i in range(count))};")
    text = f"Func {names}, f; In {inputs}; Var x; RVar k;\n" + "\n".join(lines)
    return f"{text}\nf.compile();"
