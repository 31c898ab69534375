"""The passes, in order.  Each rewrites one function in place; no pass imports another but for `tails`, which `jumps` is made of.

A pass on statements runs once for each function of the user's in the tree, a pass on expressions once for the whole tree.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from autograph.analysis.names import Names, binds_all
from autograph.analysis.scopes import Scope
from autograph.passes.bindings import lower_bindings
from autograph.passes.calls import lower_calls
from autograph.passes.chains import cut_chains
from autograph.passes.comprehensions import lower_comprehensions
from autograph.passes.context import Context
from autograph.passes.control_flow import lower_control_flow
from autograph.passes.declared import declare
from autograph.passes.excepts import check_excepts
from autograph.passes.expressions import lower_expressions
from autograph.passes.iterables import lower_iterables
from autograph.passes.jumps import lower_jumps
from autograph.passes.list_mutations import lower_appends
from autograph.passes.matching import lower_matches
from autograph.passes.maybe_unbound import note_unsure_reads
from autograph.passes.private import mangle_private
from autograph.passes.stageable import stageable
from autograph.passes.stores import lower_stores
from autograph.passes.texts import lower_texts
from autograph.passes.walrus import spill_walruses
from autograph.trees import syntax as s
from autograph.trees.quote import quote


class Pass(NamedTuple):
    name: str
    lower: Callable[[Any, Context], bool | None]  # False: it has changed nothing
    each: bool  # once for each function, or once for the whole tree


PASSES = (
    Pass("declared", declare, True),  # first, while the names that the function binds are those of its text
    Pass("appends", lower_appends, True),  # early: a list that a block makes longer is a variable that changes
    Pass("stores", lower_stores, True),  # early, likewise: a store into `x[i]` makes `x` a variable that changes
    Pass("facts", note_unsure_reads, True),  # definite assignment, on the user's own structure; changes nothing
    Pass("matches", lower_matches, True),  # after facts, which know patterns; its conditions are lowered below
    Pass("excepts", check_excepts, True),
    Pass("walrus", spill_walruses, True),  # operands become functions, which cannot bind a name outside
    Pass("chains", cut_chains, True),  # before jumps, which nest
    Pass("jumps", lower_jumps, True),  # blocks are left at their end only, so that they can become functions
    Pass("bindings", lower_bindings, True),  # before control flow: a block hands such a variable on itself
    Pass("control_flow", lower_control_flow, True),
    Pass("comprehensions", lower_comprehensions, False),  # what they evaluate becomes functions, whose expressions are lowered next
    Pass("texts", lower_texts, False),
    Pass("expressions", lower_expressions, False),  # after control flow: tests are conditions there
    Pass("calls", lower_calls, False),  # whatever is still called
    Pass("iterables", lower_iterables, False),  # what Python still goes over
    Pass("private", mangle_private, False),  # last, when no more attributes become texts
)


def run_passes(fn: Any, context: Context, last: str = "") -> None:
    """Rewrite a function, up to and including the pass `last`."""
    functions = _functions(fn, context)
    for step in PASSES:
        for target in functions if step.each else [fn]:
            if not (step.each and isinstance(target, s.Lambda)):
                if step.lower(target, context) is not False:
                    context.scopes.clear()
        if step.name == last:
            break
    for target, names in context.dropped.items():
        _keep_local(target, names)


def _keep_local(fn: Any, names: Names) -> None:
    """A name stays local even if the code that binds it never runs."""
    scope = Scope(fn)
    missing = names - binds_all(fn.body) - scope.globals - scope.nonlocals - frozenset(s.parameter_names(fn.args))
    if missing:
        fn.body += [q for name in sorted(missing) for q in quote("if False:\n    $name = None", fn.body[-1], name=name)]


def _functions(fn: Any, context: Context) -> list[Any]:
    """A function and those inside it that can be staged, outermost first; notes which names are local around each."""
    context.around[fn] = context.free
    locals_of: dict[Any, Names] = {}
    for inner, around in context.fresh.functions:
        if around:
            for outer in around:
                if outer not in locals_of:
                    locals_of[outer] = context.scope(outer).locals
            context.around[inner] = context.free.union(*(locals_of[outer] for outer in around))
    return [fn, *(inner for inner, around in context.fresh.functions if around and isinstance(inner, s.FunctionDef) and stageable(inner))]
