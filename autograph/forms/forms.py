"""One function of the user's and the code of its two variants, each built once.

    def f(x):                      eager variant:   def f(x):  (asks whether a trace is active)  ...the statements as they are...
        if x > 0: x = -x      =>
        return x                   traced variant:  def f(x):  x = ag.cond(x > 0, lambda: -x, lambda: x); return x

`Form` is the record of one code object: its tree, its file, and the code of both variants, which are compiled when they are first needed.  Both have
the user's file name and positions, and run over the user's globals and cells.  `code.co_consts[-1]` of each is a mark (`mark_of`), by which the
runtime knows code that the transpiler made.

Always: the code of the eager variant holds its form, the form holds that code weakly, and the code of the traced variant does not know the form.
Nothing planted in a code object leads back to it, so a namespace that is executed again is freed.
"""

from __future__ import annotations

import ast
import functools
import inspect
import weakref
from collections.abc import Callable
from types import CodeType, FunctionType
from typing import Any

from autograph.forms.load import KEY, Table, compiled, placed, refer
from autograph.forms.lowering import LOCK, lowered
from autograph.forms.plain import Plain
from autograph.passes.stageable import WHY_PYTHON, obstacle
from autograph.runtime.calls.referenced_globals import adopt_mentioned
from autograph.runtime.native.noticed_writes import noticing
from autograph.runtime.state.captured_state import reachable
from autograph.runtime.state.program_keys import names_in
from autograph.source.errors import SourceUnavailable
from autograph.source.source import File, file_of
from autograph.trees.depth import with_depth


class Staged:
    """Marks the code of a staged function: it is converted already.  `names` are those in the user's own code; None if they are not known."""

    def __init__(self, names: frozenset[str] | None = None) -> None:
        self.names = names

    def __repr__(self) -> str:
        return "<staged>"


STAGED = Staged()


def _names(code: CodeType) -> frozenset[str]:
    """The names in a function, and in those inside it."""
    inner = [_names(c) for c in code.co_consts if isinstance(c, CodeType)]
    return frozenset((*code.co_varnames, *code.co_cellvars, *code.co_freevars, *code.co_names)).union(*inner)


class Form:
    """What is known of one code object: its node in the file, the functions inside it, and its codes."""

    new_site: Callable[[], Any]  # set by `sites`: what remembers a call site
    runtime: Any = None  # set by `callees`: the module that generated code calls

    def __init__(self, code: CodeType, file: File) -> None:
        self.code, self.file = code, file
        self.node, self.cls = file.find(code)
        reason = with_depth(self.node, lambda: obstacle(self.node))
        self.stageable, self.enters = not reason, reason in ("", "finally")
        self.python = f"`{code.co_name}` {WHY_PYTHON[reason].partition(';')[0]}" if reason else ""  # why it has no staged form
        self.generator = bool(code.co_flags & inspect.CO_GENERATOR)
        self.noticed = reason not in ("", "coroutine")  # stays Python, and what it changes has to be found out
        self.inside: dict[tuple[int, int], Form] = {}
        self.inner_nonlocals: frozenset[str] = frozenset()  # names of this function that one inside it may bind anew
        self._plain: Any = lambda: None
        self._staged: CodeType | None = None
        self._direct: CodeType | None = None
        stack = list(code.co_consts)
        while stack:
            constant = stack.pop()
            if isinstance(constant, CodeType):
                if constant.co_name == "<lambda>" or not constant.co_name.startswith("<"):
                    try:
                        form = Form(constant, file)
                    except SourceUnavailable:  # a class body
                        stack += constant.co_consts
                        continue
                    self.inside[form.node.lineno, form.node.col_offset] = form
                    self.inner_nonlocals |= form.nonlocals()
                else:  # a comprehension: looked through
                    stack += constant.co_consts

    @functools.cached_property
    def names(self) -> frozenset[str]:
        """The globals and attributes that the user's code names."""
        return names_in(self.code)

    def nonlocals(self) -> frozenset[str]:
        """Names of functions around that this one, or one inside it, binds."""
        return frozenset(n for b in ast.walk(self.node) if isinstance(b, ast.Nonlocal) for n in b.names)

    def plain(self) -> CodeType:
        """The plain form, with its entry."""
        with LOCK:
            code: CodeType | None = self._plain()
            if code is None:
                code = self._build_plain(entry=True)
                self._plain = weakref.ref(code)
            return code

    def direct(self) -> CodeType:
        """The plain form without its entry, for call sites that are in the plain form themselves."""
        with LOCK:
            if self._direct is None:
                self._direct = self._build_plain(entry=False)
            return self._direct

    def staged(self) -> CodeType:
        """The staged form."""
        with LOCK:
            if self._staged is None:
                self._staged = with_depth(self.node, self._build_staged)
            return self._staged

    def _build_staged(self) -> CodeType:
        node, references = lowered(self.node, self.file, frozenset(self.code.co_freevars))
        refer(references, None)
        mark = Staged(_names(self.code))
        return compiled(node, self.code, self.cls, {KEY: Form.runtime}, lambda _: mark)

    def _build_plain(self, entry: bool) -> CodeType:
        return with_depth(self.node, lambda: self._rewritten(entry))

    def _rewritten(self, entry: bool) -> CodeType:
        table: Table = {KEY: Form.runtime}
        node = Plain(self, self.file, table, entry).rewrite(self.node)
        placed(node, node)
        return compiled(node, self.code, self.cls, table, self._form_of)

    def _form_of(self, code: CodeType) -> Form | Staged:
        """The form of a code object inside this one; of lambdas that its line does not tell apart only that they are converted."""
        if code is self.code:
            return self
        found: list[Form] = []
        stack = list(self.inside.values())
        while stack:
            form = stack.pop()
            if form.code.co_firstlineno == code.co_firstlineno and form.code.co_name == code.co_name:
                found.append(form)
            stack += form.inside.values()
        return found[0] if len(found) == 1 else STAGED

    def enter(self, witness: FunctionType) -> Callable[..., Any]:
        """The staged function of the plain one that is running: its cells are the witness's, by name."""
        staged = self.stageable and (not self.generator or reachable())  # it would run on when this call has ended
        code = (self._staged or self.staged()) if staged else self.direct()
        cells = dict(zip(witness.__code__.co_freevars, witness.__closure__ or (), strict=True))
        fn = FunctionType(code, witness.__globals__, code.co_name, None, tuple([cells[n] for n in code.co_freevars]) or None)
        begin = functools.partial(adopt_mentioned, self.names, witness)
        if self.generator:
            begin()
            return fn
        return Form.runtime.entered(noticing(fn, self.names) if self.noticed else fn, begin)  # type: ignore[no-any-return]

    def function(self, code: CodeType, like: FunctionType) -> FunctionType:
        """A function with this code, over the globals, cells and defaults of another."""
        cells = dict(zip(like.__code__.co_freevars, like.__closure__ or (), strict=True))
        new = FunctionType(code, like.__globals__, like.__name__, like.__defaults__, tuple([cells[n] for n in code.co_freevars]) or None)
        new.__kwdefaults__ = like.__kwdefaults__
        return new


_forms: weakref.WeakValueDictionary[int, Form] = weakref.WeakValueDictionary()


def form_of(code: CodeType, module_globals: dict[str, Any] | None = None) -> Form:
    """The form of a code object, by identity: code objects of two files may compare equal."""
    form = _forms.get(id(code))
    if form is None or form.code is not code:
        form = _forms[id(code)] = Form(code, file_of(code.co_filename, module_globals, code))
    return form
