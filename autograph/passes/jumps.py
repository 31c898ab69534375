"""Lower `break` and `return` in loops to flags that the loop tests, `continue` to a branch, and `else` on loops to statements on the flag.

    while p(x):                     done, result = False, ag.blank
        if q(x):                    while not done and p(x):
            return a        =>          if q(x):
        x = f(x)                            done, result = True, a
    return x                            else:
                                            x = f(x)
                                    if done:
                                        return result
                                    else:
                                        return x

The statements of `else` follow the loop: as they are without a `break`, else in `if not done:`.  A `for` ends with `if done: break`, which the
lowering of loops knows.  A value that can as well be computed when the loop has ended is: then no iteration computes it, and nothing is kept for its
derivative (`_late_value`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from autograph.analysis.facts import Bound
from autograph.analysis.names import Names, State, binds, reads
from autograph.passes.context import Context
from autograph.passes.exits import falls_through, jumps, returns
from autograph.passes.generators import kept, yields
from autograph.passes.tail_position import nest_remaining
from autograph.trees import syntax as s
from autograph.trees.quote import quote, quote_expr


def lower_jumps(fn: Any, context: Context) -> None:
    returning = any(isinstance(j, s.Return) for stmt in s.own_statements(fn.body) if isinstance(stmt, s.LOOPS) for j in jumps([stmt]))
    bound = Bound(fn.body, frozenset(s.parameter_names(fn.args)), context.memo).before if returning else {}
    body = nest_remaining(_block(fn.body, context, bound), context)
    if any(isinstance(j, s.Return) for j in jumps(body)):
        _return_none(body)
    fn.body = body
    if not context.fresh.kinds.isdisjoint(s.YIELDS):
        context.kept |= kept(body)


def _block(block: list[Any], context: Context, bound: Mapping[Any, State]) -> list[Any]:
    """`block`; `bound` tells which names are surely set before a loop."""
    out: list[Any] = []
    for stmt in block:
        if isinstance(stmt, s.LOOPS):
            out += _loop(stmt, context, bound)
            continue
        for inner in s.blocks(stmt):
            inner[:] = _block(inner, context, bound)
        out.append(stmt)
    return out


def _loop(loop: Any, context: Context, bound: Mapping[Any, State]) -> list[Any]:
    loop.body, orelse = nest_remaining(_block(loop.body, context, bound), context), _block(loop.orelse, context, bound)
    if not context.fresh.kinds.isdisjoint(s.YIELDS) and yields(loop):
        loop.orelse = orelse
        return [loop]
    kinds = {type(j) for j in jumps(loop.body)}
    loop.orelse = []
    ends = _Ends(kinds, context, _late_value(loop, bound.get(loop) or frozenset()))
    loop.body = ends.block(loop.body) or [s.at(s.Pass(), loop)]
    if not ends.done:
        return [loop, *orelse]
    after: list[Any] = []
    forever = isinstance(loop, s.While) and isinstance(loop.test, s.Constant) and bool(loop.test.value)
    if ends.result and forever and not ends.breaks:  # it ends by `return` only
        after += quote("return $result", loop, result=ends.late or ends.result)
    elif ends.result:
        after += quote("if $returned:\n    return $result", loop, returned=ends.returned, result=ends.late or ends.result)
    if orelse:
        after += orelse if not ends.breaks else quote("if not $done:\n    $orelse", loop, done=ends.done, orelse=orelse)
    if isinstance(loop, s.While):
        template = "not $done" if forever else "not $done and $test"
        test = {} if forever else {"test": loop.test}
        loop.test = quote_expr(template, loop.test, done=ends.done, **test)
    else:
        loop.body += quote("if $done:\n    break", loop, done=ends.done)
    return [*ends.before(loop), loop, *after]


class _Ends:
    """The flags of one loop: `done` ends it, `returned` and `result` are what a `return` in it leaves; or the value is `late`."""

    def __init__(self, kinds: set[type], context: Context, late: Any) -> None:
        returns, self.breaks, self.late = s.Return in kinds, s.Break in kinds, late
        self.done = context.fresh("done") if returns or self.breaks else ""
        self.returned = (context.fresh("returned") if self.breaks else self.done) if returns else ""
        self.result = context.fresh("result") if returns else ""

    def before(self, at: Any) -> list[Any]:
        if not self.result or (self.late is not None and not self.breaks):
            return quote("$done = False", at, done=self.done)
        if self.late is not None:
            return quote("$done, $returned = False, False", at, done=self.done, returned=self.returned)
        if not self.breaks:
            return quote("$done, $result = False, ag.blank", at, done=self.done, result=self.result)
        return quote("$done, $returned, $result = False, False, ag.blank", at, done=self.done, returned=self.returned, result=self.result)

    def block(self, block: list[Any]) -> list[Any]:
        """`block`, whose tail jumps set the flags instead."""
        if not block:
            return block
        *init, last = block
        match last:
            case s.Continue():
                return init
            case s.Break():
                return [*init, *quote("$done = True", last, done=self.done)]
            case s.Return() if self.late is not None:
                flags = "$done = True" if not self.breaks else "$done, $returned = True, True"
                return [*init, *quote(flags, last, done=self.done, **({"returned": self.returned} if self.breaks else {}))]
            case s.Return():
                value = last.value if last.value is not None else s.at(s.constant(None), last)
                if not self.breaks:
                    return [*init, *quote("$done, $result = True, $value", last, done=self.done, result=self.result, value=value)]
                return [
                    *init,
                    *quote(
                        "$done, $returned, $result = True, True, $value", last,
                        done=self.done, returned=self.returned, result=self.result, value=value,
                    ),
                ]  # fmt: skip
            case s.While() | s.For():
                return block
        for inner in s.blocks(last):
            empty = not inner
            inner[:] = self.block(inner) or ([] if empty else [s.at(s.Pass(), last)])
        if isinstance(last, s.If) and [type(x) for x in last.orelse] == [s.Pass]:
            last.orelse = []
        return block


def _late_value(loop: Any, bound: Names) -> Any:
    """The value that a loop returns, if it is the same after the loop: the only one, of names that were set before or that no iteration sets."""
    found = [j for j in jumps(loop.body) if isinstance(j, s.Return)]
    if len(found) != 1 or found[0].value is None or found[0] not in _ends_of(loop.body):
        return None
    value = found[0].value
    if any(isinstance(n, (s.NamedExpr, s.Await, s.Yield, s.YieldFrom, s.Lambda)) for n in s.walk(value)):
        return None
    set_in_iterations = frozenset().union(*map(binds, loop.body), binds(loop.target) if isinstance(loop, s.For) else ())
    return value if not (reads(value) & set_in_iterations) - bound else None


def _ends_of(block: list[Any]) -> list[Any]:
    """The statements at the ends of a block, also inside branches: nothing runs between them and what follows the block."""
    if block and isinstance(block[-1], s.If):
        return [*_ends_of(block[-1].body), *_ends_of(block[-1].orelse)]
    return block[-1:]


def _return_none(body: list[Any]) -> None:
    """Make the ends explicit that a function reaches without a `return`: a branch that returns on some of its paths gives None on the others.

    Past a `with` or `try` that is left at its end there is nothing, and a function that ends there gives None by itself.
    """
    last = body[-1] if body else None
    if isinstance(last, s.If) and returns(body):
        for side in (last.body, last.orelse):
            if not returns(side) and falls_through(side):
                side += quote("return None", last)
            else:
                _return_none(side)
    elif not isinstance(last, (*s.LOOPS, *s.SCOPES, type(None))):
        for inner in s.blocks(last):
            _return_none(inner)
