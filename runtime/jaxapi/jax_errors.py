"""JAX's errors about values that are only known at run time, as errors of this project that name the user's line.

They come from constructs that stay Python (a comprehension's condition, a `match`, an index of a list) and from functions that are not
converted.
"""

from __future__ import annotations

import ast
import inspect
import linecache
import re
from collections import Counter
from collections.abc import Callable, Sequence
from types import AsyncGeneratorType, CodeType, CoroutineType, FrameType, GeneratorType, TracebackType
from typing import Any

import jax

from autograph.runtime.errors.advice import for_value, slice_part, written
from autograph.runtime.errors.errors import AttributeStateError, AutographError, ConcreteValueError, NotStagedError, SourceSpan, without_comment
from autograph.runtime.errors.large_integers import TOO_LARGE, too_large
from autograph.runtime.errors.raise_sites import as_of_concrete, is_of_tracers, is_unhashable, is_users, unset_global
from autograph.runtime.errors.source_spans import HIDDEN, here, is_block, mark_of, place_in, place_of
from autograph.runtime.jaxapi import traces as _jax
from autograph.runtime.tracing.jit_options import name_of

CALLS_FUNCTIONS_OF_THE_USER = True  # and not blocks: see `handed_to`

RAW = (
    jax.errors.ConcretizationTypeError, jax.errors.TracerArrayConversionError, jax.errors.TracerIntegerConversionError,
    jax.errors.NonConcreteBooleanIndexError,
)  # fmt: skip
_NOTE = "this happened"
_OPERATORS = {"staged_cond": "branch", "switch": "branch", "while_loop": "loop", "for_loop": "loop"}
_TRACED_SHAPE = ("Shapes must be 1D sequences of concrete values", "As of JAX v0.7, parameters to jaxpr equations must have __hash__")
_TRACED_SLICE = ("Slice entries must be static integers", "Array slice indices must have static start/stop/step")  # older JAX; newer


def named(fn: Callable[..., Any]) -> Callable[..., Any]:
    """`fn`, whose errors about traced values are named."""

    def staged(*args: Any, **kwargs: Any) -> Any:
        try:
            return fn(*args, **kwargs)
        except RAW as error:
            raise _named(error) from (error if _jax.full() else None)
        except NameError as error:
            if (unset := unset_global(error)) is None:
                raise
            raise unset from None
        except RecursionError as error:
            if (refusal := _recursion(error)) is None:
                raise
            raise refusal from None
        except (IndexError, TypeError) as error:
            if is_raw(error) or is_of_tracers(error):
                raise _named(error) from (error if _jax.full() else None)
            if is_unhashable(error):
                raise _unhashable(error) from (error if _jax.full() else None)
            as_of_concrete(error)
            _add_note(error)
            for pattern, hint in _HINTS.items():
                if re.search(pattern, str(error)) and hint not in getattr(error, "__notes__", ()):
                    error.add_note(hint)
            raise
        except AttributeError as error:
            as_of_concrete(error)
            _add_note(error)
            if (missing := re.match(r"\w*Tracer has no attribute '?(\w+)", str(error))) is None:
                raise
            error.args = (f"'Array' object has no attribute '{missing[1]}'",)
            if missing[1] in _OF_LISTS:
                error.add_note(f"an array keeps its shape: use a list for `{missing[1]}`, or store into the array (`x[k] = v`)")
            if missing[1] in _OF_VARIABLES and (at := _last_of_users(error)) is not None:
                raise AttributeStateError(
                    f"`{missing[1]}` is called on a Variable, and it is data-dependent on which one",
                    place_in(at.tb_frame.f_code, at.tb_lasti, at.tb_lineno),
                    "call it in a branch for each (`if k == 0: a.assign(x)`), or keep the values in one Variable and store into it (`v[k] = x`)",
                ) from (error if _jax.full() else None)
            if missing[1] in _OF_NUMPYS:
                error.add_note(f"an array of JAX's has no `{missing[1]}`: write {_OF_NUMPYS[missing[1]]}")
            raise error from (error.__cause__ if _jax.full() else None)
        except OverflowError as error:
            if not str(error).startswith(TOO_LARGE):
                raise
            at = _last_of_users(error)
            assert at is not None
            raise too_large(int(str(error).rsplit(" ", 1)[-1]), place_in(at.tb_frame.f_code, at.tb_lasti, at.tb_lineno)) from None
        except Exception as error:
            _add_note(error)
            raise

    return staged


_HINTS = {  # for errors of Python and JAX that do not say what to write
    r"got indexer with type float|indices must be integers .*not float": "a place is an integer: divide by `//`, or take `int(x)`",
    r"\bsub does not accept dtype bool": "truth values are subtracted as integers: `int(a) - int(b)`, or `a.astype(int) - b.astype(int)`",
}


def is_raw(error: BaseException | None) -> bool:
    """Whether an error of JAX's says that something which has to be known while tracing is traced."""
    return isinstance(error, RAW) or isinstance(error, (IndexError, TypeError)) and str(error).startswith((*_TRACED_SLICE, *_TRACED_SHAPE))


def _add_note(error: Exception) -> None:
    """Tell where an error of JAX's has come from: the user's line, and the compiled loops and branches that it is in."""
    if isinstance(error, AutographError) and not _jax.full():
        _cut(error)
    if isinstance(error, AutographError) or any(n.startswith(_NOTE) for n in getattr(error, "__notes__", ())):
        return
    places: list[SourceSpan] = []  # of the user's frames
    blocks: list[tuple[str, SourceSpan]] = []
    tb, last = error.__traceback__, ""
    while tb is not None:
        code = tb.tb_frame.f_code
        last = code.co_filename
        if is_users(last):
            places.append(SourceSpan(last, tb.tb_lineno))
        elif last.startswith(HIDDEN[:2]) and code.co_name in _OPERATORS and places and (_OPERATORS[code.co_name], places[-1]) not in blocks:
            blocks.append((_OPERATORS[code.co_name], places[-1]))
        tb = tb.tb_next
    if not last.startswith(HIDDEN) or not places:
        return
    if not _jax.full():
        _cut(error)
    if not blocks:
        return
    shown = [f"{_NOTE} at {places[-1]}: `{text_of(places[-1])}`"]
    shown += [f"  in the compiled {kind} of line {place.line}: `{text_of(place)}`" for kind, place in reversed(blocks)]
    error.add_note("\n".join(shown))


def _cut(error: Exception) -> None:
    """Let a traceback end with the user's line, without the frames of JAX below it."""
    last, tb = None, error.__traceback__
    while tb is not None:
        last = last if tb.tb_frame.f_code.co_filename.startswith(HIDDEN) else tb
        tb = tb.tb_next
    if last is not None:
        last.tb_next = None


def _recursion(error: RecursionError) -> AutographError | None:
    """A function that calls itself in a data-dependent branch: both branches are traced, so it does not end."""
    codes: Counter[CodeType] = Counter()
    lines: dict[CodeType, int] = {}
    branches, tb = 0, error.__traceback__
    while tb is not None:
        code = tb.tb_frame.f_code
        branches += code.co_name == "staged_cond"
        if is_users(code.co_filename):
            codes[code] += 1
            lines.setdefault(code, tb.tb_lineno)
        tb = tb.tb_next
    again = max((count for code, count in codes.items() if not is_block(code)), default=0) if len(codes) > 1 else max(codes.values(), default=0)
    if not codes or (again < 3 or branches < 3) and not str(error).startswith("Recursively calling"):  # `jax.jit` itself finds it
        return None
    code = next(c for c, _ in codes.most_common() if not is_block(c) or len(codes) == 1)
    return NotStagedError(
        f"`{code.co_name}` calls itself in a data-dependent branch: both branches are traced, so the recursion does not end",
        SourceSpan(code.co_filename, lines[code]),
        "write it as a loop, or let a static number end it (a depth that is a static argument, `static_argnames`)",
    )  # fmt: skip


def _last_of_users(error: Exception) -> TracebackType | None:
    """The innermost part of a traceback that is in the user's code."""
    last, tb = None, error.__traceback__
    while tb is not None:
        last = tb if is_users(tb.tb_frame.f_code.co_filename) else last
        tb = tb.tb_next
    return last


def _named(error: Exception) -> AutographError:
    last = _last_of_users(error)
    if last is None:
        return NotStagedError(str(error).splitlines()[0])
    frame, tb, library, module = last.tb_frame, last.tb_next, "", ""
    while tb is not None and not library:
        if not tb.tb_frame.f_code.co_filename.startswith(HIDDEN):
            library, module = tb.tb_frame.f_code.co_name, tb.tb_frame.f_globals.get("__name__", "").partition(".")[0]
        tb = tb.tb_next
    place = place_in(last.tb_frame.f_code, last.tb_lasti, last.tb_lineno)
    text = without_comment(linecache.getline(place.file, place.line, frame.f_globals)).strip()
    shown = f": `{text}`" if text else ""
    if library:
        called = ast.unparse(call.func) if (call := _call_at(place)) is not None else library
        library = called if called.endswith(f".{library}") else library
        return NotStagedError(
            f"`{library}`, which is not converted, needs the value of a traced value{shown}", place,
            f"call `{library}` outside, with what the compiled function returns; or `jax.debug.callback(f, x)`, where `f(x)` calls it with the value"
            if module in _OF_TEXTS else "use a function of `jax.numpy`, or write the loop out",
        )  # fmt: skip
    if isinstance(error, IndexError):
        masked = isinstance(error, jax.errors.NonConcreteBooleanIndexError)
        if masked and isinstance(expr := written(place), ast.Subscript):
            mask, array = ast.unparse(expr.slice), ast.unparse(expr.value)
            if isinstance(expr.slice, ast.Tuple):
                return ConcreteValueError(
                    f"a mask in `{array}[{mask}]` is traced, so the length of the result is not static{shown}", place,
                    f"take the row or column first, and the mask of it: `c = {array}[:, 0]`, then `c[mask] = v` or `jnp.where(mask, c, 0)`",
                )  # fmt: skip
            return ConcreteValueError(
                f"the mask `{mask}` is traced, so the length of `{array}[{mask}]` is not static{shown}", place,
                f"keep all elements, and the mask: `jnp.where({mask}, {array}, 0)`, `{array}.sum(where={mask})`; and `({mask}).sum()` of them",
            )  # fmt: skip
        return ConcreteValueError(
            f"{'a mask' if masked else f'the {slice_part(place)} of a slice'} is traced, so the length of the result is not static{shown}", place,
            "use `jnp.where(mask, x, 0)` or `x.sum(where=mask)`" if masked
            else "use a slice of static length (`x[i:i + 3]`), a mask over the whole array, or make the bound static",
        )  # fmt: skip
    if isinstance(error, jax.errors.TracerBoolConversionError):
        return _truth_needed(frame, place, shown)
    if (call := _call_at(place)) is not None:
        function = ast.unparse(call.func)
        what = "a shape" if str(error).startswith("Shapes") else "a value"
        given_to = [*call.args, *(k.value for k in call.keywords)]
        shapes = [a for a in given_to if isinstance(a, (ast.Tuple, ast.List)) and _traced_names(a, frame)] if what == "a shape" else []
        names = _traced_names(ast.Tuple([*shapes] or given_to), frame)
        traced = f"{' and '.join(names)} {'is' if len(names) == 1 else 'are'} traced" if names else "it is given a traced one"
        given = [n for n in names if n[1:-1] in frame.f_code.co_varnames[: frame.f_code.co_argcount] and not is_block(frame.f_code)]
        return ConcreteValueError(
            f"`{function}` needs {what} that is static, and {traced}", place,
            for_value(call, given[0][1:-1] if given else "", _is_callee(frame, error)),
        )  # fmt: skip
    if isinstance(taken := written(place), ast.Subscript) and isinstance(taken.slice, ast.Slice):
        decides = " and ".join(_traced_names(taken.slice, frame)) or "a traced value"
        return ConcreteValueError(
            f"`{ast.unparse(taken)}` takes part of a list or tuple, and {decides} decides how much: that is not static",
            place, f"make it an array, `jnp.array({ast.unparse(taken.value)})`, of which a slice may have traced ends, or make the ends static",
        )  # fmt: skip
    return ConcreteValueError(
        f"a concrete value is needed, and this one is traced{shown}", place,
        "use a function of `jax.numpy`, an array in the place of a list or NumPy array, or make the argument static",
    )  # fmt: skip


def _unhashable(error: Exception) -> AutographError:
    """A traced value as a key: of a dict, of a set, of a function that remembers its results."""
    last = _last_of_users(error)
    if last is None:
        return ConcreteValueError(str(error))
    place = place_in(last.tb_frame.f_code, last.tb_lasti, last.tb_lineno)
    names = _traced_names(written(place), last.tb_frame)
    traced = f"{names[0]} is traced, and" if names else "a traced value"
    text = linecache.getline(place.file, place.line, last.tb_frame.f_globals).strip()
    return ConcreteValueError(
        f"{traced} cannot be hashed: it is no key of a dict, no item of a set, and no argument of a function that caches: `{text}`", place,
        _for_key(names, text),
    )  # fmt: skip


def _for_key(names: Sequence[str], text: str) -> str:
    """What to write in the place of a traced key."""
    name = names[0].strip("`") if names else "k"
    if re.search(r"\.(add|discard|remove)\(|\{|\bin\b|\bset\(", text) and ":" not in text.partition("{")[2]:
        return f"in the place of a set use a `jnp` array of truth values (`seen = jnp.zeros(n, bool)`, `seen[{name}] = True`), or make it static"
    return "use an array that it indexes, or make it static (`static_argnames`); a cached function has its own in `__wrapped__`"


_OF_TEXTS = frozenset("json pickle csv re string textwrap pprint copyreg struct base64 hashlib sqlite3 configparser html xml yaml".split())
_OF_NUMPYS = {"fill": "`x[:] = v`", "itemset": "`x[i] = v`", "put": "`x[places] = values`", "resize": "`jnp.resize(x, shape)`"}
_OF_VARIABLES = frozenset({"assign", "assign_add", "assign_sub"})
_OF_LISTS = frozenset({"append", "extend", "insert", "pop", "remove", "count", "index"})


def _is_callee(frame: FrameType, error: BaseException) -> bool:
    """Whether the function that a frame runs was called by converted code: its arguments are not those of the compiled function."""
    tb = error.__traceback__
    while tb is not None and mark_of(tb.tb_frame.f_code) not in ("Form", "Staged"):
        tb = tb.tb_next
    return tb is not None and tb.tb_frame.f_code is not frame.f_code


def _traced_names(node: ast.AST | None, frame: FrameType) -> list[str]:
    """The variables in an expression whose values are traced."""
    found = [n.id for n in ast.walk(node) if isinstance(n, ast.Name)] if node is not None else []
    return [f"`{n}`" for n in dict.fromkeys(found) if _is_traced(frame.f_locals.get(n))]


def _truth_needed(frame: FrameType, place: SourceSpan, shown: str) -> NotStagedError:
    """The error where code that stays Python decides by a traced value: why it does."""
    code, name = frame.f_code, frame.f_code.co_name
    outer: FrameType | None = frame
    while not text_of(place) and outer is not None and (outer := outer.f_back) is not None:  # what `eval` and `exec` run has no lines to show
        if is_users(outer.f_code.co_filename) and text_of(spot := place_of(outer)):
            what = "the text that is evaluated here" if name == "<module>" else f"`{name}`, of which there is no source text,"
            return NotStagedError(
                f"the truth of a traced value is needed in {what} and stays Python: `{text_of(spot)}`", spot,
                "write it in a file as a function, which is converted; or use `jnp.where`",
            )  # fmt: skip
    if why := getattr(code.co_consts[-1], "python", "") if mark_of(code) == "Form" else "":
        return NotStagedError(f"the truth of a traced value is needed{shown}; {why}", place, "use `jnp.where`, or do without what keeps it Python")
    if code.co_flags & inspect.CO_GENERATOR and not name.startswith("<") and mark_of(code) == "Staged":
        return NotStagedError(
            f"the truth of a traced value is needed{shown}; of the generator `{name}` what yields, or jumps out of a loop that yields, stays Python",
            place, "yield in all cases, and end the loop over `zip(range(99), gen())` with `break`, or use `jnp.where`",
        )  # fmt: skip
    if code.co_flags & inspect.CO_GENERATOR:
        return NotStagedError(
            f"the truth of a traced value is needed{shown}; `{name}` is a generator, and stays Python", place,
            "use `jnp.where`, or decide outside of the generator",
        )  # fmt: skip
    if isinstance(call := written(place), ast.Call):
        return NotStagedError(
            f"`{ast.unparse(call.func)}` needs the truth of a traced value, and stays Python{shown}", place,
            "write it as a `for` loop with an `if`, or use functions of `jax.numpy` on an array",
        )  # fmt: skip
    if _is_converted(code):
        return NotStagedError(
            f"the truth of a traced value is needed by a construct that stays Python{shown}", place,
            "use an `if` statement or `for` loop, `jnp.where`, or `jnp.any`",
        )  # fmt: skip
    if not code.co_flags & inspect.CO_OPTIMIZED and name != "<module>":
        return NotStagedError(
            f"the truth of a traced value is needed{shown}; the class body of `{name}` stays Python", place,
            "use `jnp.where`, or decide before the class, in the function",
        )  # fmt: skip
    return NotStagedError(
        f"the truth of a traced value is needed in `{name}`, which is not converted{shown}", place,
        f"convert `{name}` with `@ag.convert` next to its `def`, or give it concrete values",
    )  # fmt: skip


UNFINISHED = (GeneratorType, CoroutineType, AsyncGeneratorType)


def unfinished(fn: Any) -> NotStagedError:
    """The error for a function that is compiled and gives a generator or coroutine: nothing of it has run when it is returned."""
    return NotStagedError(
        f"`{name_of(fn)}` returns a generator or coroutine, and its values cannot be returned from a compiled function", here(),
        "return a list or an array: `out.append(x)` in the place of `yield x`",
    )  # fmt: skip


def text_of(place: SourceSpan | None) -> str:
    """The line of the source at a place; nothing where there is no source."""
    return linecache.getline(place.file, place.line).strip() if place is not None else ""


def _call_at(place: SourceSpan) -> ast.Call | None:
    """The call that stands at a place."""
    text = linecache.getline(place.file, place.line).encode()[place.column : place.end] if place.end else b""
    try:
        found = ast.parse(text.decode(), mode="eval").body if text else None
    except (SyntaxError, UnicodeDecodeError):
        return None
    return found if isinstance(found, ast.Call) else None


def _is_traced(value: Any) -> bool:
    """Whether a value is, or holds, what is not known while tracing."""
    leaves = value if isinstance(value, (tuple, list)) else [value]
    return any(isinstance(x, jax.Array) and not _jax.concrete(x) for x in leaves)


def _is_converted(code: Any) -> bool:
    """Whether code was made by the transpiler; comprehensions in it have no mark."""
    return mark_of(code) in ("Staged", "Form") or code.co_name.startswith("<")
