"""The facts of `autograph/analysis/facts.py`, derived a second time from the bytecode of CPython 3.11: jumps, exception table, loads and stores.

Every statement is preceded by an expression statement that reads a global named after its position; what holds at that load holds before
the statement, in each copy that the compiler makes of a `finally` block.  A statement whose load is nowhere reached is never reached.
"""

from __future__ import annotations

import ast
import dis
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from types import CodeType

Names = frozenset[str]
Place = tuple[int, int]  # line and column of a statement
NONE: Names = frozenset()

AVAILABLE = sys.implementation.name == "cpython" and sys.version_info[:2] == (3, 11)
REASON = "the bytecode oracle knows the instructions of CPython 3.11 only"

_READS = {"LOAD_FAST", "LOAD_DEREF", "LOAD_CLASSDEREF"}
_STORES = {"STORE_FAST", "STORE_DEREF"}
_DELETES = {"DELETE_FAST", "DELETE_DEREF"}
_JUMPS = {"JUMP_FORWARD", "JUMP_BACKWARD", "JUMP_BACKWARD_NO_INTERRUPT"}
_ENDS = {"RETURN_VALUE", "RAISE_VARARGS", "RERAISE"}
# Instructions that cannot raise (but for memory).  Reading a local can: it may be unbound.
_QUIET = {
    "NOP", "EXTENDED_ARG", "CACHE", "RESUME", "LOAD_CONST", "POP_TOP", "PUSH_NULL", "COPY", "SWAP", "POP_EXCEPT", "PUSH_EXC_INFO", "MAKE_CELL",
    "COPY_FREE_VARS", "LOAD_CLOSURE", "BUILD_TUPLE", "BUILD_LIST", "MAKE_FUNCTION", "KW_NAMES", "PRECALL", "RETURN_VALUE", "IS_OP",
    "LOAD_ASSERTION_ERROR", "POP_JUMP_FORWARD_IF_NONE", "POP_JUMP_FORWARD_IF_NOT_NONE", "POP_JUMP_BACKWARD_IF_NONE", "POP_JUMP_BACKWARD_IF_NOT_NONE",
} | _STORES | _JUMPS  # fmt: skip


@dataclass(frozen=True)
class Fact:
    """What holds before a statement that is reached."""

    live: Names
    bound: Names


def facts(fn: ast.FunctionDef) -> dict[Place, Fact | None]:
    """What holds before each statement of a function; None for one that is never reached.  Marks `fn` on the way."""
    places = {f"<{k}>": place for k, place in enumerate(_mark(fn.body))}
    module = compile(ast.fix_missing_locations(ast.Module([fn], [])), "<oracle>", "exec", dont_inherit=True, optimize=0)
    code = next(c for c in module.co_consts if isinstance(c, CodeType) and c.co_name == fn.name)
    flow = _Flow(code)
    live, bound = flow.live(), flow.bound()
    found: dict[Place, Fact | None] = dict.fromkeys(places.values())
    for k, instruction in enumerate(flow.instructions):
        here = bound[k]
        if instruction.opname == "LOAD_GLOBAL" and instruction.argval in places and here is not None:
            place = places[instruction.argval]
            other = found[place] or Fact(NONE, here)
            found[place] = Fact(other.live | live[k], other.bound & here)
    return found


def local_names(fn: ast.FunctionDef) -> Names:
    """The names that CPython keeps as locals of a function."""
    module = compile(ast.fix_missing_locations(ast.Module([fn], [])), "<oracle>", "exec", dont_inherit=True)
    code = next(c for c in module.co_consts if isinstance(c, CodeType) and c.co_name == fn.name)
    return frozenset(code.co_varnames + code.co_cellvars)


def _mark(body: list[ast.stmt], count: list[int] | None = None) -> Iterator[Place]:
    """Put the marks in front of the statements of a block and of the blocks inside; the places of the marks, in order."""
    count = [0] if count is None else count
    for stmt in list(body):
        mark = ast.Expr(ast.Name(f"<{count[0]}>", ast.Load()))
        count[0] += 1
        body.insert(body.index(stmt), ast.copy_location(mark, stmt))
        yield stmt.lineno, stmt.col_offset
        if isinstance(stmt, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            continue
        for part in (stmt, *getattr(stmt, "handlers", []), *getattr(stmt, "cases", [])):
            for field in ("body", "orelse", "finalbody"):
                yield from _mark(getattr(part, field, []), count)


class _Flow:
    """The instructions of a function and how control moves between them."""

    def __init__(self, code: CodeType) -> None:
        self.code = code
        self.instructions = list(dis.get_instructions(code))
        position = {i.offset: k for k, i in enumerate(self.instructions)}
        size = len(self.instructions)
        self.next: list[set[int]] = [set() for _ in range(size)]
        self.handler: list[int | None] = [None] * size
        for k, i in enumerate(self.instructions):
            if "JUMP" in i.opname or i.opname in ("FOR_ITER", "SEND"):
                self.next[k].add(position[i.argval])
            if i.opname not in _JUMPS | _ENDS:
                self.next[k].add(k + 1)
        for entry in dis._parse_exception_table(code):  # type: ignore[attr-defined]
            for k, i in enumerate(self.instructions):
                if entry.start <= i.offset < entry.end and i.opname not in _QUIET and not _is_mark(i) and not self._leaves_handler(k):
                    self.handler[k] = position[entry.target]
        self.before: list[set[int]] = [set() for _ in range(size)]
        for k in range(size):
            for after in self.after(k):
                self.before[after].add(k)

    def _leaves_handler(self, k: int) -> bool:
        """Whether an instruction deletes the name of an `except` clause, which has just been set to None."""
        i, last = self.instructions[k], self.instructions[k - 1]
        return i.opname in _DELETES and last.opname in _STORES and last.argval == i.argval

    def after(self, k: int) -> list[int]:
        handler = self.handler[k]
        return [*self.next[k], *([] if handler is None else [handler])]

    def read(self, k: int) -> Names:
        """The names that an instruction reads: a closure reads, when it is made, what its function may read later."""
        i = self.instructions[k]
        if i.opname in _READS | _DELETES:
            return frozenset([i.argval])
        if i.opname == "LOAD_CLOSURE":
            made = next(j.argval for j in self.instructions[k:] if j.opname == "LOAD_CONST" and isinstance(j.argval, CodeType))
            return frozenset([i.argval]) & _free_reads(made)
        return NONE

    def live(self) -> list[Names]:
        live: list[Names] = [NONE] * len(self.instructions)
        work = set(range(len(live)))
        while work:
            k = max(work)
            work.remove(k)
            i = self.instructions[k]
            new = NONE.union(*(live[after] for after in self.next[k]))
            if i.opname in _STORES | _DELETES:
                new -= {i.argval}
            handler = self.handler[k]
            new |= self.read(k) | (NONE if handler is None else live[handler])
            if new != live[k]:
                live[k] = new
                work |= self.before[k]
        return live

    def bound(self) -> list[Names | None]:
        code = self.code
        count = code.co_argcount + code.co_kwonlyargcount + bool(code.co_flags & 0x04) + bool(code.co_flags & 0x08)
        bound: list[Names | None] = [None] * len(self.instructions)
        bound[0] = frozenset(code.co_varnames[:count])
        work = {0}
        while work:
            k = min(work)
            work.remove(k)
            i, here = self.instructions[k], bound[k]
            assert here is not None
            done = here | {i.argval} if i.opname in _STORES else here - {i.argval} if i.opname in _DELETES else here
            for after, state in [*((after, done) for after in self.next[k]), *((h, here) for h in [self.handler[k]] if h is not None)]:
                known = bound[after]
                new = state if known is None else known & state
                if new != known:
                    bound[after] = new
                    work.add(after)
        return bound


def _is_mark(i: dis.Instruction) -> bool:
    return i.opname == "LOAD_GLOBAL" and i.argval.startswith("<")


def _free_reads(code: CodeType) -> Names:
    """The free variables that a function, or one inside it, may read."""
    found = {i.argval for i in dis.get_instructions(code) if i.opname in _READS | _DELETES}
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            found |= _free_reads(inner)
    return frozenset(found) & frozenset(code.co_freevars)
