"""The syntax that an emitted module may consist of; any other is a fault of the emitter."""

from __future__ import annotations

import ast

IMPORTS = frozenset({
    "import contextlib", "import numbers", "import torch", "import triton",
    "import triton.language as tl", "from triton.language.extra import libdevice",
})  # fmt: skip
STATEMENTS = (
    ast.Expr, ast.Assign, ast.For, ast.If, ast.With, ast.Return, ast.FunctionDef, ast.Pass,
)  # fmt: skip
EXPRESSIONS = (
    ast.Name, ast.Attribute, ast.Call, ast.Constant, ast.BinOp, ast.UnaryOp, ast.BoolOp, ast.Compare,
    ast.IfExp, ast.Tuple, ast.Subscript, ast.Slice, ast.Dict, ast.Lambda,
    ast.keyword, ast.operator, ast.unaryop, ast.boolop, ast.cmpop, ast.expr_context,
    ast.arguments, ast.arg, ast.withitem,
)  # fmt: skip
METHODS = frozenset({"to", "shape", "stride", "device", "numel", "permute", "expand"})
"""Attributes of values."""
MODULES = frozenset({"tl", "triton", "torch", "libdevice", "numbers"})
BUILTINS = frozenset({"float", "range", "max", "min", "bool"})


class UnexpectedCodeError(AssertionError):
    """An emitted module holds what no module should."""


def check_emitted(source: str) -> None:
    """Checks that an emitted module holds imports, functions, and calls that are expected.

    Raises:
        UnexpectedCodeError: at the first statement, name or call that is not.
    """
    from dt_mlir.backend.triton import initial_values, product_waits
    from dt_mlir.backend.triton.combine import COMBINE
    from dt_mlir.backend.triton.helpers import support_names

    tree = ast.parse(source)
    compile(source, "emitted.py", "exec")
    texts = {initial_values.HIDDEN: initial_values.TEXT, **product_waits.TEXTS}
    helpers = {*COMBINE, *support_names(), *texts}
    first, *rest = tree.body
    if not (isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant)):
        raise UnexpectedCodeError("the module has no docstring")
    own = {node.name for node in rest if isinstance(node, ast.FunctionDef)}
    for node in rest:
        if isinstance(node, ast.Import | ast.ImportFrom):
            if ast.unparse(node) not in IMPORTS:
                raise UnexpectedCodeError(ast.unparse(node))
        elif not isinstance(node, ast.FunctionDef):
            raise UnexpectedCodeError(ast.unparse(node))
        elif node.name in texts:
            if ast.unparse(node) != ast.unparse(ast.parse(texts[node.name])):
                raise UnexpectedCodeError(f"{node.name} is not what the emitter writes")
        elif node.name not in helpers:
            _check_function(node, own | helpers)


def _check_function(function: ast.FunctionDef, known: set[str]) -> None:
    decorators = [ast.unparse(item) for item in function.decorator_list]
    if decorators not in ([], ["triton.jit"]):
        raise UnexpectedCodeError(f"decorators {decorators}")
    local = {arg.arg for arg in (*function.args.args, *function.args.kwonlyargs)}
    for node in ast.walk(function):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            local.add(node.id)
    if local & (MODULES | BUILTINS | known):
        raise UnexpectedCodeError(f"{function.name} hides {local & (MODULES | BUILTINS | known)}")
    docstring, *body = function.body
    if not (isinstance(docstring, ast.Expr) and isinstance(docstring.value, ast.Constant)):
        raise UnexpectedCodeError(f"{function.name} has no docstring")
    for statement in body:
        for node in ast.walk(statement):
            _check_node(node, local, known)


def _check_node(node: ast.AST, local: set[str], known: set[str]) -> None:
    if not isinstance(node, (*STATEMENTS, *EXPRESSIONS)) or isinstance(node, ast.FunctionDef):
        raise UnexpectedCodeError(f"{type(node).__name__}: {ast.unparse(node)}")
    match node:
        case ast.Name(name) if name not in local | known | MODULES | BUILTINS:
            raise UnexpectedCodeError(f"the name {name}")
        case ast.Attribute(value, name):
            head = value
            while isinstance(head, ast.Attribute):
                head = head.value
            from_module = isinstance(head, ast.Name) and head.id in MODULES - local
            if name.startswith("_") or not (from_module or name in METHODS):
                raise UnexpectedCodeError(f"the attribute {ast.unparse(node)}")
        case ast.Call(function):
            match function:
                case ast.Name(name) if name in known | BUILTINS:
                    pass
                case ast.Subscript(ast.Name(name)) if name in known:
                    pass
                case ast.Attribute():
                    pass
                case _:
                    raise UnexpectedCodeError(f"the call {ast.unparse(node)}")
        case ast.Expr(value) if not isinstance(value, ast.Call):
            raise UnexpectedCodeError(f"the statement {ast.unparse(node)}")
        case _:
            pass
