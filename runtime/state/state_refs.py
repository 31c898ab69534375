"""State that lives in Python objects: attributes, the contents of lists and dicts, global variables and cells.

While a block is traced such a place holds what the block sees, so that any code may read it; when the trace ends it holds again what it held
before, and what the block left there goes the way of the loop variables and results.
"""

from __future__ import annotations

import collections
from collections.abc import Iterable, Mapping
from types import CellType, FunctionType, MemberDescriptorType
from typing import Any

import jax

from autograph.runtime.errors.errors import AttributeStateError, EffectError, GlobalStateError, SourceSpan, StagingError
from autograph.runtime.errors.source_spans import here, variable_of
from autograph.runtime.values.values import Record, Unset


class StateRef(Record):
    """A place in an object.  `key` identifies it: two names for one object are one place."""

    error: type[StagingError] = EffectError
    advice = ""
    shared: Any = None  # what identifies a variable that functions share

    def __init__(self, obj: Any, key: tuple[Any, ...], name: str) -> None:
        self.obj, self.key, self.name = obj, (id(obj), *key), name
        self.holds(obj)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, StateRef) and self.key == other.key

    def __hash__(self) -> int:
        return hash(self.key)

    def __repr__(self) -> str:
        return f"<{self.name}>"

    @property
    def bare(self) -> str:
        """Its name without the quotes that sentences put around it."""
        return self.name.replace("`", "")

    def get(self) -> Any:
        raise NotImplementedError

    def put(self, value: Any) -> None:
        raise NotImplementedError

    def is_made_in(self, trace: Any) -> bool:
        """Whether it is a place of something that was made in a trace of JAX's: there, its changes are nobody's matter."""
        return False

    def refusal(self, why: str, place: SourceSpan | None, advice: str = "") -> StagingError:
        return self.error(f"{self.name} is changed in a compiled loop or branch: {why}", place, advice or self.advice)


class AttributeRef(StateRef):
    """`obj.name`, in the object's `__dict__`, a slot, or a class."""

    error = AttributeStateError
    advice = "keep the value in a local variable, and set the attribute after the loop or branch"

    def __init__(self, obj: Any, attribute: str) -> None:
        owner = obj.__name__ if isinstance(obj, type) else type(obj).__name__
        super().__init__(obj, (attribute,), f"`{owner}.{attribute}`")
        self.attribute = attribute

    def get(self) -> Any:
        try:
            return vars(self.obj)[self.attribute] if isinstance(self.obj, type) else _own(self.obj, self.attribute)
        except (AttributeError, KeyError):
            return Unset(self.name)

    def put(self, value: Any) -> None:
        own = type(self.obj).__setattr__
        native = not isinstance(own, FunctionType) and own.__name__ == "__setattr__"  # a class of C's insists on its own
        of: Any = type if isinstance(self.obj, type) else type(self.obj) if native else object
        if (known := intercepted(self.obj, self.attribute)) is not None and not isinstance(value, Unset):
            known.hold(self.obj, value)
        elif not isinstance(value, Unset) and not self._is_of_class(value):
            try:
                of.__setattr__(self.obj, self.attribute, value)
            except TypeError as error:
                raise self.refusal(f"it does not take what is data-dependent ({error})", here()) from None
        elif self._is_own():
            of.__delattr__(self.obj, self.attribute)

    def is_first(self) -> bool:
        """Whether the object has no other attribute: one that a constructor has only begun to fill."""
        if isinstance(self.obj, type) or getattr(self.obj, "__dict__", None):
            return False
        slots = [m for k in type(self.obj).__mro__ for m in vars(k).values() if isinstance(m, MemberDescriptorType)]
        return not any(_has(m, self.obj) for m in slots)

    def _is_of_class(self, value: Any) -> bool:
        """Whether a value is the one that the object's class gives: the object itself holds nothing."""
        return not isinstance(self.obj, type) and any(vars(k).get(self.attribute, self) is value for k in type(self.obj).__mro__)

    def _is_own(self) -> bool:
        own = vars(self.obj) if isinstance(self.obj, type) else getattr(self.obj, "__dict__", {})
        return self.attribute in own or not isinstance(self.obj, type) and not isinstance(self.get(), Unset) and not self._is_of_class(self.get())


def _has(slot: MemberDescriptorType, obj: Any) -> bool:
    try:
        slot.__get__(obj, type(obj))
    except AttributeError:
        return False
    return True


def _own(obj: Any, name: str) -> Any:
    """An attribute that the object itself holds, or a value of its class that it would hide."""
    own = obj.__dict__ if type(obj).__dictoffset__ else None  # not that of what a `__getattr__` of the class's asks
    if own is not None and name in own:
        return own[name]
    for cls in type(obj).__mro__:
        if name in cls.__dict__:
            member = cls.__dict__[name]
            if isinstance(member, Interception):
                return member.held(obj)
            if type(member).__name__ in ("member_descriptor", "getset_descriptor"):
                return member.__get__(obj, type(obj))
            if not hasattr(type(member), "__get__"):
                return member
            break
    raise AttributeError(name)


class Interception:
    """What a class of another library has in place of an attribute, so that changes are noticed; `held` and `hold` go to the attribute itself."""

    def held(self, obj: Any) -> Any:
        raise NotImplementedError

    def hold(self, obj: Any, value: Any) -> None:
        raise NotImplementedError


INTERCEPTED: dict[str, list[tuple[type, Interception]]] = {}  # by the attribute's name


def intercepted(obj: Any, name: str) -> Interception | None:
    return next((found for cls, found in INTERCEPTED.get(name, ()) if isinstance(obj, cls)), None)


def is_intercepted(obj: Any) -> bool:
    return any(isinstance(obj, cls) for found in INTERCEPTED.values() for cls, _ in found)


class ContentsRef(StateRef):
    """What a list, dict, set, deque or bytearray holds."""

    advice = "use a `jnp` array of known size"

    def refusal(self, why: str, place: SourceSpan | None, advice: str = "") -> StagingError:
        known = variable_of(self.obj)
        name = f"`{known}`, {self.name}," if known else self.name
        return self.error(f"{name} is changed in a compiled loop or branch: {why}", place, advice or self.advice)

    def __init__(self, obj: Any) -> None:
        super().__init__(obj, (), f"a `{type(obj).__name__}`")
        if isinstance(obj, collections.deque):
            self.advice = "use a list, which may become longer and shorter (`append`, `pop(0)`), or a `jnp` array of known size"

    def get(self) -> ContainerItems:
        obj, base = self.obj, base_of(self.obj)
        if isinstance(obj, dict):
            return ContainerItems(tuple(base.__iter__(obj)), list(base.values(obj)))
        if isinstance(obj, (set, bytearray)):
            return ContainerItems(base(base.__iter__(obj)), [])
        return ContainerItems(None, list(base.__iter__(obj)))

    def put(self, value: ContainerItems) -> None:
        obj, base = self.obj, base_of(self.obj)
        if isinstance(obj, (list, bytearray)):
            base.__setitem__(obj, slice(None), value.values if value.keys is None else value.keys)
            return
        base.clear(obj)
        if isinstance(obj, collections.deque):
            base.extend(obj, value.values)
        else:
            base.update(obj, zip(value.keys, value.values, strict=True) if isinstance(obj, dict) else value.keys)


_BASES = (collections.OrderedDict, dict, list, set, collections.deque, bytearray, tuple)


def base_of(x: Any) -> Any:
    """The builtin class that holds what a container holds: methods of a class derived from it may do more, such as count."""
    return next(k for k in _BASES if isinstance(x, k))


def own_method(x: Any, name: str) -> FunctionType | None:
    """The method of a class in Python that stands for an operation on items, such as `__setitem__`."""
    found = getattr(type(x), name, None)
    return found if isinstance(found, FunctionType) else None


class EntryRef(StateRef):
    """An item of a list or dict: what it holds changes with the `ContentsRef`, and only which array it is gets known by the item."""

    def __init__(self, container: Any, item: Any) -> None:
        self.obj, self.item, self.key = container, item, (id(container), "item", item)
        self.holds(container)

    @property
    def name(self) -> str:  # type: ignore[override]
        return f"`{variable_of(self.obj) or type(self.obj).__name__}[{self.item!r}]`"

    def get(self) -> Any:
        return self.inside(ContentsRef(self.obj).get()) if isinstance(self.obj, (list, dict)) else Unset(self.name)

    def put(self, value: Any) -> None:
        base_of(self.obj).__setitem__(self.obj, self.item, value)

    def inside(self, items: Any) -> Any:
        """What contents of the container have there."""
        if not isinstance(items, ContainerItems):
            return Unset(self.name)
        keys = range(len(items.values)) if items.keys is None else items.keys
        for key, x in zip(keys, items.values, strict=True):
            if key is self.item or hash(key) == hash(self.item) and key == self.item:  # as a dict finds it: Variables compare numbers
                return x
        return Unset(self.name)


def entries(container: Any, items: ContainerItems) -> list[EntryRef]:
    """The items of a list or dict, which holds `items`."""
    if not isinstance(container, (list, dict)):
        return []
    return [EntryRef(container, k) for k in (range(len(items.values)) if items.keys is None else items.keys)]


def one_way_only(changed: Iterable[Any], sides: Iterable[tuple[Iterable[Any], Mapping[Any, SourceSpan | None]]]) -> None:
    """Check that no side of a branch changes an attribute as such and another in the object's `__dict__`: it would hand on one place as two.

    `sides` are the places that each changes, and where.

    Raises:
      AttributeStateError: (AG401)
    """
    dicts = {id(x.obj): x for x in changed if isinstance(x, ContentsRef) and isinstance(x.obj, dict)}
    for x in changed if dicts else ():
        if isinstance(x, AttributeRef) and (whole := dicts.get(id(namespace(x.obj)))) is not None:
            for wrote, places in sides:
                if (x in wrote) != (whole in wrote):
                    raise AttributeStateError(
                        f"{x.name} is changed in a compiled branch, and the `__dict__` that holds it is changed too",
                        places.get(x) or places.get(whole),
                        "where the name is a variable, write `setattr(obj, name, value)` and `getattr(obj, name)`",
                    )  # fmt: skip


def namespace(obj: Any) -> Any:
    """The `__dict__` of an object, without asking a `__getattribute__` of its class; none of a class, or of an object with slots only."""
    getter = None if isinstance(obj, type) else next((vars(k)["__dict__"] for k in type(obj).__mro__ if "__dict__" in vars(k)), None)
    return None if getter is None else getter.__get__(obj)


class NameRef(StateRef):
    """A global variable."""

    error = GlobalStateError

    def __init__(self, space: dict[str, Any], variable: str) -> None:
        super().__init__(space, (variable, "global"), f"`{variable}`")
        self.shared = id(space), variable
        self.variable = variable

    def get(self) -> Any:
        return self.obj[self.variable] if self.variable in self.obj else Unset(self.variable)

    def put(self, value: Any) -> None:
        if isinstance(value, Unset):
            self.obj.pop(self.variable, None)
        else:
            self.obj[self.variable] = value


class CellRef(StateRef):
    """A variable that functions share."""

    error = GlobalStateError

    def __init__(self, cell: CellType, variable: str) -> None:
        super().__init__(cell, (), f"`{variable}`")
        self.shared = id(cell)
        self.variable = variable

    def get(self) -> Any:
        try:
            return self.obj.cell_contents
        except ValueError:
            return Unset(self.variable)

    def put(self, value: Any) -> None:
        if not isinstance(value, Unset):
            self.obj.cell_contents = value
        elif not isinstance(self.get(), Unset):
            del self.obj.cell_contents


class ContainerItems(Record):
    """What a container holds: keys (None of a list) and values, which are the children of a pytree in the container's order."""

    __slots__ = ("keys", "values")

    def __init__(self, keys: Any, values: list[Any]) -> None:
        self.keys, self.values = keys, values
        self.holds(*values)

    def __eq__(self, other: object) -> bool:
        """Whether two specs of contents are the same."""
        return isinstance(other, ContainerItems) and self.alike(other) and self.values == other.values

    __hash__ = None  # type: ignore[assignment]

    def same(self, other: ContainerItems) -> bool:
        """Whether nothing has changed: the very same objects under the same keys."""
        return self.alike(other) and all(a is b for a, b in zip(self.values, other.values, strict=True))

    def alike(self, other: ContainerItems) -> bool:
        return len(self.values) == len(other.values) and self.keys == other.keys


class _Keys:
    """What two contents must have in common."""

    __slots__ = ("count", "keys")

    def __init__(self, keys: Any, count: int) -> None:
        self.keys, self.count = keys, count

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Keys) and self.count == other.count and self.keys == other.keys

    def __hash__(self) -> int:
        return hash(self.count)


def _flatten(items: ContainerItems) -> tuple[list[Any], _Keys]:
    return items.values, _Keys(items.keys, len(items.values))


def _flatten_with_keys(items: ContainerItems) -> tuple[list[tuple[Any, Any]], _Keys]:
    names = range(len(items.values)) if items.keys is None else items.keys
    return [(jax.tree_util.DictKey(k), v) for k, v in zip(names, items.values, strict=False)], _flatten(items)[1]


jax.tree_util.register_pytree_with_keys(ContainerItems, _flatten_with_keys, lambda aux, values: ContainerItems(aux.keys, list(values)), _flatten)


def changed_under(location: StateRef, name: str, place: SourceSpan | None) -> EffectError:
    """The refusal of a change in a function that is given to JAX."""
    return EffectError(
        f"{location.name} is changed by a function under {name} of JAX, and would keep a traced value", place,
        "write it as an `if`, `while` or `for`, or return the new value",
    )  # fmt: skip


def under_vmap(location: StateRef, place: SourceSpan | None) -> EffectError:
    """The refusal of a change that each lane of `jax.vmap` makes."""
    return EffectError(
        f"{location.name} is changed under `vmap`, differently for each batch element", place,
        "return the new value, and store a reduction over the batch",
    )  # fmt: skip
