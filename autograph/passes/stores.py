"""Rewrite stores into subscripts and attributes.

    x[i] = v          =>   x = ag.set_item(x, i, v)          (an array is changed; of a list that grows there is a new one)
    x[i] += v         =>   x = ag.update_item(x, i, '+=', v)
    m[i][j] = v       =>   m = ag.set_path(m, (i, j), v)
    x[i], y = v       =>   item, y = v
                           x = ag.set_item(x, i, item)
    obj.a = v         =>   ag.set_attr(obj, 'a', v)
    obj.a += v        =>   ag.update_attr(obj, 'a', '+=', v)
    with c as x[i]: ...   =>   with c as item: x[i] = item; ...
    del x[i]          =>   ag.del_item(x, i)

Python evaluates the value, the object and the index, in this order: a value that could change the others goes to a temporary first."""

from __future__ import annotations

import functools
from typing import Any

from autograph.analysis.names import Names, binds, reads
from autograph.analysis.scopes import Scope
from autograph.analysis.targets import chain, leaves
from autograph.passes.context import Context
from autograph.passes.indices import deleted, index_of, one_by_one
from autograph.trees import syntax as s
from autograph.trees.quote import quote, quote_expr


def lower_stores(fn: Any, context: Context) -> None:
    fn.body = _Stores(fn, context).block(fn.body)


class _Stores:
    def __init__(self, fn: Any, context: Context) -> None:
        self.fn, self.context = fn, context

    @functools.cached_property
    def scope(self) -> Scope:
        return self.context.scope(self.fn)

    @property
    def shared(self) -> Names:
        return self.scope.shared

    def block(self, block: list[Any]) -> list[Any]:
        return [new for stmt in block for new in self.stmt(stmt)]

    def stmt(self, stmt: Any) -> list[Any]:
        match stmt:
            case s.Assign():
                return self._assign(stmt)
            case s.AnnAssign(target=s.Subscript() | s.Attribute(), value=value) if value is not None:
                return self._assign(s.at(s.Assign([stmt.target], value, None), stmt))
            case s.AugAssign(target=s.Subscript() | s.Attribute()):
                return self._update(stmt)
            case s.Delete(targets=targets) if any(isinstance(t, (s.Subscript, s.Attribute)) for t in targets):
                return [new for t in targets for new in deleted(t, stmt)]
            case s.For(target=target) if self._stored(target):
                item = self.context.fresh("item")
                first = s.at(s.Assign([target], s.at(s.name(item), target), None), target)
                stmt.target = s.at(s.name(item, s.Store()), target)
                stmt.body = [first, *stmt.body]
            case s.With(items=[first, *rest]) if any(i.optional_vars is not None and self._stored(i.optional_vars) for i in stmt.items):
                one_by_one(stmt, first, rest, self._stored, self.context)
        if not isinstance(stmt, s.SCOPES):
            for inner in s.blocks(stmt):
                inner[:] = self.block(inner)
        return [stmt]

    def _stored(self, target: Any) -> bool:
        return any(self._lowered(t) for t in leaves(target))

    def _lowered(self, target: Any) -> bool:
        match target:
            case s.Subscript() | s.Attribute():
                return True
        return False

    def _assign(self, stmt: Any) -> list[Any]:
        if not any(self._stored(t) for t in stmt.targets):
            return [stmt]
        if len(stmt.targets) == 1 and self._lowered(stmt.targets[0]):
            return self._store(stmt.targets[0], stmt.value, stmt)
        out: list[Any] = []
        value = stmt.value
        if len(stmt.targets) > 1:
            whole = self.context.fresh("value")
            out += quote("$whole = $value", stmt, whole=whole, value=value)
        for k, target in enumerate(stmt.targets):  # unpack all of it, then store from left to right
            if len(stmt.targets) > 1:
                value = s.at(s.name(whole), stmt)
            if self._lowered(target):
                out += self._store(target, value, stmt)
                continue
            stores: list[tuple[Any, str]] = []
            stmt.targets[k] = self._unpacked(target, stores)
            out.append(s.at(s.Assign([stmt.targets[k]], value, None), stmt))
            for leaf, temporary in stores:
                out += self._store(leaf, s.at(s.name(temporary), leaf), stmt)
        return out

    def _unpacked(self, target: Any, stores: list[tuple[Any, str]]) -> Any:
        if isinstance(target, (s.Tuple, s.List)):
            target.elts = [self._unpacked(e, stores) for e in target.elts]
            return target
        if isinstance(target, s.Starred):
            target.value = self._unpacked(target.value, stores)
            return target
        if isinstance(target, s.Name) and not stores:
            return target
        temporary = self.context.fresh("item")
        stores.append((target, temporary))
        return s.at(s.name(temporary, s.Store()), target)

    def _store(self, target: Any, value: Any, stmt: Any) -> list[Any]:
        match target:
            case s.Name():
                return [s.at(s.Assign([target], value, None), stmt)]
            case s.Attribute():
                before, value = self._first(value, target.value)
                return before + quote("ag.set_attr($obj, $name, $value)", stmt, obj=target.value, name=s.constant(target.attr), value=value)
            case s.Subscript():
                before, value = self._first(value, target)
                if isinstance(chain(target)[0], (s.Name, s.Attribute)):
                    return before + self._item(target, [value], "set", stmt)
                return before + quote("ag.store_item($x, $i, $value)", stmt, x=target.value, i=index_of(target.slice), value=value)
        return [s.at(s.Assign([target], value, None), stmt)]

    def _item(self, target: Any, values: list[Any], verb: str, stmt: Any) -> list[Any]:
        """A store into a subscript, and what else is bound anew by it."""
        base, indices = chain(target)
        path = [index_of(i) for i in indices]
        index = path[0] if len(path) == 1 else s.at(s.Tuple(path, s.Load()), target)
        kind = "item" if len(path) == 1 else "path"
        match base:
            case s.Name(id=id):
                new = quote_expr(f"ag.{verb}_{kind}($x, $i, $values)", stmt, x=s.at(s.name(id), base), i=index, values=values)
            case s.Attribute(value=owner, attr=attr):
                name = s.constant(attr)
                new = quote_expr(f"ag.{verb}_attr_{kind}($o, $name, $i, $values)", stmt, o=owner, name=name, i=index, values=values)
        return quote("$x = $new", stmt, x=base.id, new=new) if isinstance(base, s.Name) else quote("$new", stmt, new=new)

    def _update(self, stmt: Any) -> list[Any]:
        target, operator = stmt.target, s.constant(s.AUGMENTED[type(stmt.op).__name__])
        simple = isinstance(target, s.Attribute) or isinstance(chain(target)[0], (s.Name, s.Attribute))
        if simple and not _acts(stmt.value) and not binds(stmt.value) & reads(target):
            return self._updated(target, [operator, stmt.value], stmt)
        # Python reads the old value before it evaluates the new one, and the object and index only once.
        out: list[Any] = []
        self._held(target, out, stmt, binds(stmt.value))
        item = self.context.fresh("item")
        old = type(target)(*(getattr(target, f) for f in target._fields[:-1]), s.Load())
        out += quote("$item = $old", stmt, item=item, old=s.at(old, target))
        value = stmt.value if isinstance(target, s.Attribute) else self._temporary("value", stmt.value, out, stmt)  # it may store into the array
        return out + self._updated(s.copy(target), [operator, value, s.at(s.name(item), stmt)], stmt)

    def _updated(self, target: Any, values: list[Any], stmt: Any) -> list[Any]:
        """`target += value`, given the operator, the value, and perhaps what the target holds."""
        if isinstance(target, s.Subscript):
            return self._item(target, values, "update", stmt)
        return quote("ag.update_attr($obj, $name, $values)", stmt, obj=target.value, name=s.constant(target.attr), values=values)

    def _held(self, target: Any, out: list[Any], stmt: Any, changed: Names) -> None:
        """Names for the object and the indices of a store, but for those that can be evaluated again: the array itself may be another by then.

        `changed`: the variables that the value binds.
        """
        if isinstance(target, s.Subscript):
            if isinstance(target.value, (s.Subscript, s.Attribute)):
                self._held(target.value, out, stmt, changed)
            elif not isinstance(target.value, s.Name):
                target.value = self._temporary("owner", target.value, out, stmt)
            if reads(target.slice) & changed or self._rebound(target.slice) or s.contains(target.slice, *_SEEN):
                target.slice = self._temporary("index", index_of(target.slice), out, stmt)
        elif not isinstance(target.value, s.Name):
            target.value = self._temporary("owner", target.value, out, stmt)

    def _temporary(self, stem: str, value: Any, out: list[Any], stmt: Any) -> Any:
        held = self.context.fresh(stem)
        out += quote("$held = $value", stmt, held=held, value=value)
        return s.at(s.name(held), stmt)

    def _first(self, value: Any, target: Any) -> tuple[list[Any], Any]:
        """The value in a temporary, if evaluating it after the target's parts could be seen."""
        if isinstance(value, (s.Name, s.Constant)) or not self._disturbs(value, target):
            return [], value
        temporary = self.context.fresh("value")
        return quote("$name = $value", value, name=temporary, value=value), s.at(s.name(temporary), value)

    def _disturbs(self, value: Any, target: Any) -> bool:
        if _acts(value):  # a callee may store into the same array
            parts = target.slice if isinstance(target, s.Subscript) else target
            if self._rebound(target) or s.contains(parts, *_SEEN):
                return True
        return bool(binds(value) & reads(target))

    def _rebound(self, node: Any) -> Names:
        """The variables that a node reads and that a call may bind anew."""
        return reads(node) - (self.scope.locals - self.shared)


_SEEN = (s.Call, s.Attribute, s.Subscript, s.NamedExpr, *s.YIELDS)  # evaluating these sees what calls have done


def _acts(node: Any) -> bool:
    """Whether evaluating it could be seen by what is evaluated around it."""
    return s.contains(node, s.Call, s.NamedExpr, *s.YIELDS)
