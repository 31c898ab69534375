"""What to write instead, read off the user's expression at which an error has been found."""

from __future__ import annotations

import ast
import builtins
import linecache
import re

from autograph.runtime.errors.errors import SourceSpan

_SIZED = frozenset({"nonzero", "flatnonzero", "argwhere", "unique", "where", "union1d", "intersect1d", "setdiff1d", "bincount"})
_NUMBERS = frozenset({"item", "tolist", "__int__", "__float__"})


def written(place: SourceSpan | None) -> ast.expr | None:
    """The expression that stands at a place; of a statement the one in its header, of a `for` what it iterates over."""
    if place is None:
        return None
    line = linecache.getline(place.file, place.line).encode()
    text = (line[place.column : place.end] if place.end else line).decode(errors="replace").strip()
    header = re.fullmatch(r"(?:(?:el)?if|while|assert|match|return|for .+? in)\b(.*?):?\s*(?:#.*)?", text)
    for candidate in (text, header.group(1).strip() if header else "", text.partition("=")[2].strip()):
        try:
            return ast.parse(candidate, mode="eval").body
        except (SyntaxError, ValueError):
            continue
    return None


def for_truth(place: SourceSpan | None, size: int) -> str:
    """What to write where the truth of an array of several elements, or of none, is asked for."""
    expr = written(place)
    match expr:
        case ast.BoolOp(op=op, values=values):
            return f"masks are combined by `{_joined([ast.unparse(v) for v in values], '&' if isinstance(op, ast.And) else '|')}`"
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return f"a mask is turned around by `~{_operand(operand)}`"
        case ast.Compare(left=left, ops=[_, _, *_]):
            terms = [left, *expr.comparators]
            pairs = [ast.unparse(ast.Compare(a, [op], [b])) for a, op, b in zip(terms, expr.ops, terms[1:], strict=False)]
            return f"two comparisons of an array are `{_joined(pairs, '&')}`"
        case ast.Call(func=ast.Name(id="max" | "min" as name), args=[a, b], keywords=[]):
            which = "largest" if name == "max" else "smallest"
            return f"element by element it is `jnp.{name}imum({ast.unparse(a)}, {ast.unparse(b)})`; the {which} of all is `jnp.{name}`"
    if size == 0:
        return f"ask for its length: `len({ast.unparse(expr) if expr is not None else 'x'}) > 0`"
    return "use `.any()` or `.all()`, or `jnp.where(test, a, b)` to choose element by element"


def for_value(call: ast.Call, static: str, callee: bool = False) -> str:
    """What to write where a call needs a value that is static; `static` is a parameter that would do as a static one.

    `callee`: it is that of a function that the compiled function calls.
    """
    if isinstance(call.func, ast.Attribute) and call.func.attr in _NUMBERS:
        return f"use `{ast.unparse(call.func.value)}` without `.{call.func.attr}()`, and take the number outside of the compiled function"
    if isinstance(call.func, ast.Attribute) and call.func.attr == "bincount":
        how = "give `minlength=`, above the largest value" if ast.unparse(call.func.value) in ("np", "numpy") else "give `length=`"
        return f"how many bins there are is data-dependent: {how}"
    if isinstance(call.func, ast.Attribute) and call.func.attr in _SIZED:
        return "how many there are is data-dependent: give `size=` (and `fill_value=`), or use a mask: `jnp.where(mask, x, 0)`"
    if isinstance(call.func, ast.Name) and call.func.id == "chr":
        return "compare the number (`x == ord('a')`), and make the text outside of the compiled function"
    made = (
        f"make the argument of the compiled function static (`static_argnames`) that becomes `{static}` here" if static and callee
        else f'make it static (`@ag.function(static_argnames="{static}")`)' if static else "compute it outside and make it static (`static_argnames`)"
    )  # fmt: skip
    return f"take it from a `.shape`, {made}, or use a fixed size and a mask"


def for_text(place: SourceSpan | None) -> str:
    """What to write where the characters of a traced value are needed."""
    match written(place):
        case ast.Subscript(value=value, slice=ast.JoinedStr() | ast.Call() | ast.BinOp()):
            return (
                f"a key has to be known while tracing: make the value static (`static_argnames`), or make `{ast.unparse(value)}` a list or an array"
            )
    return "format it in `print`, `raise`, `assert` or a logging call, or return it and format it outside"


def slice_part(place: SourceSpan | None) -> str:
    """Which part of the slice that stands at a place is not a constant."""
    match written(place):
        case ast.Subscript(slice=ast.Slice(lower=None, upper=None, step=ast.expr())):
            return "step"
    return "end"


def iterated(place: SourceSpan | None) -> str:
    """What the `for` statement at a place iterates over, if that is a name."""
    match written(place):
        case ast.Name(id=name):
            return name
    return "n"


def _joined(terms: list[str], symbol: str) -> str:
    return f" {symbol} ".join(t if t.isidentifier() else f"({t})" for t in terms)


def _operand(node: ast.expr) -> str:
    text = ast.unparse(node)
    return text if isinstance(node, (ast.Name, ast.Call, ast.Subscript, ast.Attribute)) else f"({text})"


def changed_object(place: SourceSpan | None) -> str:
    """The list whose method is called at a place, by the name that the program has for it."""
    match written(place):
        case ast.Call(func=ast.Attribute(value=ast.Name() | ast.Attribute() as value)):
            return f"`{ast.unparse(value)}`"
    return "a list"


def for_keys(place: SourceSpan | None) -> str:
    """What to write where a dict has other keys on one side of a branch or after an iteration, and this changed it."""
    line = linecache.getline(place.file, place.line) if place is not None else ""
    if re.match(r"\s*del\b", line) or re.search(r"\.(?:pop|popitem|clear)\(", line):
        return "keep the key, and store a value that says that it is gone (`None`, or a flag beside it)"
    return "give the dict all keys before (a missing key would then be there, with that value)"


def for_length(place: SourceSpan | None, kind: str) -> str:
    """What to write where a method changes the length of a list, and it is data-dependent whether it is called."""
    fixed = "or use a `jnp` array of known size, and a number that counts the items"
    match written(place):
        case ast.Call(func=ast.Attribute()) if kind != "list":
            return f"use a list: `append` and `pop` may change its length; {fixed}"
        case ast.Call(func=ast.Attribute(attr=method)) if method not in ("append", "extend", "insert", "pop", "remove", "reverse", "clear"):
            return f"`append` and `pop` may change the length of a list, and `{method}` may not; {fixed}"
        case ast.Call(func=ast.Attribute(value=ast.Name(id=name))) if (callee := _given_to(name, place)) is not None:
            return (
                f"`{callee}` is given `{name}` and might keep it: write what it does where `{name}` is made, or let an object hold the list "
                f"(`self.{name}`) and give it that: then it may grow; {fixed}"
            )
        case ast.Call(func=ast.Attribute(value=ast.Name(id=name))) if (own := _function_around(place)) and name in _parameters(own):
            return (
                f"`{name}` is a parameter of `{own.name}`: let `{own.name}` return what to append, and append it where the list is made; "
                f"or let an object hold the list (`self.{name}`): then it may grow; {fixed}"
            )
        case ast.Call(func=ast.Attribute(value=ast.Name(id=name))):
            return (
                f"append to it in the function that makes it (`{name} = []`), or through what holds it (`self.{name}.append(x)`), "
                f"and give it no other name: then it may grow; {fixed}"
            )
    return fixed.removeprefix("or ")


def _given_to(name: str, place: SourceSpan | None) -> str | None:
    """The function that a list is given to, in the function of the user's that a place stands in."""
    around = _function_around(place)
    for call in [n for n in ast.walk(around) if isinstance(n, ast.Call)] if around else ():
        given = any(isinstance(a, ast.Name) and a.id == name for a in (*call.args, *(k.value for k in call.keywords)))
        if given and isinstance(call.func, ast.Name) and not hasattr(builtins, call.func.id):
            return call.func.id
    return None


def _function_around(place: SourceSpan | None) -> ast.FunctionDef | ast.AsyncFunctionDef | None:
    """The innermost function of the user's that a place stands in."""
    try:
        tree = ast.parse("".join(linecache.getlines(place.file))) if place is not None else ast.Module([], [])
    except SyntaxError:
        return None
    functions = [n for n in ast.walk(tree) if isinstance(n, (ast.FunctionDef, ast.AsyncFunctionDef))]
    around = [n for n in functions if place is not None and n.lineno <= place.line <= (n.end_lineno or 0)]
    return around[-1] if around else None


def _parameters(function: ast.FunctionDef | ast.AsyncFunctionDef) -> set[str]:
    return {a.arg for a in (*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs)}
