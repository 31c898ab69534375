"""Python's object model: each protocol, defined by the user or by a library, in straight code, in a branch and in a loop, gives what Python gives."""

from __future__ import annotations

import linecache
import os
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import autograph as ag

# By protocol: classes, and an expression of `x`.
PROTOCOLS: dict[str, tuple[str, str]] = {
    "super().__setattr__": (
        """
class C:
    def __init__(self, x): super().__setattr__("x", x)
    def __setattr__(self, name, value): raise TypeError("frozen")
""",
        "C(x).x * 2",
    ),
    "object.__setattr__": (
        """
class C:
    def __init__(self, x): object.__setattr__(self, "x", x)
    def __setattr__(self, name, value): raise TypeError("frozen")
""",
        "C(x).x * 2",
    ),
    "__setattr__ that counts": (
        """
class C:
    def __init__(self, x): self.x = x
    def __setattr__(self, name, value):
        self.__dict__["n"] = self.__dict__.get("n", 0) + 1
        self.__dict__[name] = value
def use(x):
    c = C(x)
    c.x = c.x + 1
    c.y = 3
    return c.x + c.n
""",
        "use(x)",
    ),
    "__delattr__": (
        """
class C:
    def __init__(self, x): self.x, self.left = x, 1.0
    def __delattr__(self, name):
        self.left = 5.0
        super().__delattr__(name)
def use(x):
    c = C(x)
    del c.x
    return x + c.left
""",
        "use(x)",
    ),
    "__getattribute__": (
        """
class C:
    def __init__(self, x): self.x = x
    def __getattribute__(self, name): return super().__getattribute__(name)
    def twice(self): return self.x * 2
""",
        "C(x).twice() + C(x).x",
    ),
    "__getattribute__ that computes": (
        """
class C:
    def __init__(self, x): self.x = x
    def __getattribute__(self, name):
        if name.startswith("double_"):
            return object.__getattribute__(self, name[7:]) * 2
        return object.__getattribute__(self, name)
""",
        "C(x).double_x + C(x).x",
    ),
    "__getattr__": (
        """
class C:
    def __init__(self, x): self.x = x
    def __getattr__(self, name):
        if name == "half":
            return self.x / 2
        raise AttributeError(name)
""",
        "C(x).half + (1.0 if hasattr(C(x), 'third') else 2.0) + getattr(C(x), 'fourth', 7.0)",
    ),
    "__getattr__ of a dict": (
        """
class C(dict):
    __getattr__ = dict.__getitem__
    __setattr__ = dict.__setitem__
def use(x):
    c = C(x=x)
    c.y = c.x + 1
    return c.y + c["x"]
""",
        "use(x)",
    ),
    "a proxy": (
        """
class Inner:
    def __init__(self, x): self.x = x
    def twice(self): return self.x * 2
class C:
    def __init__(self, inner): object.__setattr__(self, "_inner", inner)
    def __getattr__(self, name): return getattr(self._inner, name)
    def __setattr__(self, name, value): setattr(self._inner, name, value)
def use(x):
    c = C(Inner(x))
    c.x = c.x + 1
    return c.twice()
""",
        "use(x)",
    ),
    "__instancecheck__": (
        """
class Meta(type):
    def __instancecheck__(cls, obj): return hasattr(obj, "x")
class C(metaclass=Meta):
    pass
class D:
    def __init__(self, x): self.x = x
""",
        "x * (2.0 if isinstance(D(x), C) else 3.0) + (1.0 if isinstance(4, C) else 0.5)",
    ),
    "__subclasscheck__": (
        """
class Meta(type):
    def __subclasscheck__(cls, sub): return hasattr(sub, "area")
class C(metaclass=Meta):
    pass
class D:
    area = 2.0
""",
        "x * (2.0 if issubclass(D, C) else 3.0)",
    ),
    "__class_getitem__": (
        """
class C:
    def __init__(self, x): self.x = x
    def __class_getitem__(cls, k): return lambda x: cls(x * k)
""",
        "C[3](x).x",
    ),
    "a metaclass with __call__": (
        """
class Meta(type):
    def __call__(cls, *args):
        made = super().__call__(*args)
        made.late = made.x * 2
        return made
class C(metaclass=Meta):
    def __init__(self, x): self.x = x
""",
        "C(x).late",
    ),
    "a metaclass with __getitem__": (
        """
class Meta(type):
    def __getitem__(cls, k): return k * 2
    def __len__(cls): return 3
class C(metaclass=Meta): pass
""",
        "C[x] + len(C)",
    ),
    "a singleton by __new__": (
        """
class C:
    held = None
    def __new__(cls):
        if cls.held is None:
            cls.held = super().__new__(cls)
        return cls.held
C()
""",
        "x * (2.0 if C() is C() else 3.0)",
    ),
    "slots": (
        """
class C:
    __slots__ = ("x", "y")
    def __init__(self, x): self.x = x
    def grown(self):
        self.y = self.x + 1
        self.x = self.y * 2
        return self
""",
        "C(x).grown().x + (1.0 if hasattr(C(x), 'y') else 2.0)",
    ),
    "a data descriptor": (
        """
class Positive:
    def __set_name__(self, owner, name): self.name = "_" + name
    def __get__(self, obj, owner=None): return self if obj is None else obj.__dict__[self.name] * 2
    def __set__(self, obj, value): obj.__dict__[self.name] = value if value > 0 else -value
class C:
    x = Positive()
    def __init__(self, x): self.x = x
""",
        "C(x - 5).x",
    ),
    "a descriptor without __set__": (
        """
class Twice:
    def __get__(self, obj, owner=None): return obj.x * 2 if obj.x > 0 else obj.x
class C:
    y = Twice()
    def __init__(self, x): self.x = x
""",
        "C(x).y",
    ),
    "properties": (
        """
class C:
    def __init__(self, x): self._x = x
    @property
    def x(self): return self._x if self._x > 0 else -self._x
    @x.setter
    def x(self, value): self._x = value if value < 9 else 9.0
    @x.deleter
    def x(self): self._x = 1.0
def use(x):
    c = C(x)
    c.x += 4
    y = c.x
    del c.x
    return y + c.x
""",
        "use(x)",
    ),
    "cached_property": (
        """
import functools
class C:
    def __init__(self, x): self.x = x
    @functools.cached_property
    def y(self): return self.x * 2 if self.x > 0 else self.x
def use(x):
    c = C(x)
    return c.y + c.y
""",
        "use(x)",
    ),
    "__init_subclass__": (
        """
class Base:
    factor = 1.0
    def __init_subclass__(cls, factor=2.0): cls.factor = factor
class C(Base, factor=3.0): pass
""",
        "x * C.factor + Base.factor",
    ),
    "a Protocol": (
        """
from typing import Protocol, runtime_checkable
@runtime_checkable
class Area(Protocol):
    def area(self): ...
class C:
    def __init__(self, x): self.x = x
    def area(self): return self.x ** 2
""",
        "C(x).area() if isinstance(C(x), Area) else x",
    ),
    "an ABC": (
        """
import abc
class Shape(abc.ABC):
    @property
    @abc.abstractmethod
    def area(self): ...
    def __lt__(self, other): return self.area < other.area
@Shape.register
class Other:
    area = 1.0
class C(Shape):
    def __init__(self, x): self.x = x
    @property
    def area(self): return self.x ** 2
""",
        "(1.0 if C(x) < C(x + 1) else 2.0) + (x if isinstance(Other(), Shape) else 0.0)",
    ),
    "enums": (
        """
import enum
class E(enum.Enum):
    A = 1.5
    B = 2.5
    def scaled(self, x): return self.value * x if x > 1 else x
    @property
    def other(self): return E.B if self is E.A else E.A
class F(enum.IntFlag):
    X = 1
    Y = 2
""",
        "E.A.scaled(x) + E.A.other.scaled(x) + (F.X | F.Y) + len(E) + (1.0 if E(1.5) is E.A else 2.0) + E['B'].value",
    ),
    "dataclasses": (
        """
import dataclasses
@dataclasses.dataclass(order=True)
class C:
    x: float
    y: float = 2.0
    z: list = dataclasses.field(default_factory=list, compare=False)
    def __post_init__(self): self.y = self.x * self.y
@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class D:
    x: float
    k: dataclasses.InitVar[float] = 3.0
""",
        "C(x).y + (1.0 if C(x) < C(x + 1) else 2.0) + (1.0 if C(x) == C(x) else 2.0) + dataclasses.replace(D(x=x), x=x * 2, k=1.0).x",
    ),
    "named tuples": (
        """
from typing import NamedTuple
class C(NamedTuple):
    x: float
    y: float = 2.0
    def total(self): return self.x + self.y if self.x > 0 else self.y
""",
        "C(x).total() + C(x)._replace(y=x).y + C(x)[0]",
    ),
    "operators": (
        """
class C:
    def __init__(self, x): self.x = x
    def __add__(self, o): return C(self.x + (o.x if isinstance(o, C) else o))
    __radd__ = __add__
    def __iadd__(self, o):
        self.x = self.x + o
        return self
    def __mul__(self, o): return NotImplemented
    def __rmul__(self, o): return C(o * self.x)
    def __neg__(self): return C(-self.x)
    def __abs__(self): return C(self.x if self.x > 0 else -self.x)
    def __matmul__(self, o): return self.x * o.x
    def __getitem__(self, k): return self.x * k
    def __round__(self, n=None): return self.x
    def __divmod__(self, o): return self.x, o
def use(x):
    c = C(x) + C(1.0) + 2
    c += 3
    return (2 + c).x + abs(-c).x + (3 * c).x + C(x) @ C(x) + c[2] + sum([C(x), C(x)]).x + divmod(c, 4)[1] + round(c)
""",
        "use(x)",
    ),
    "comparisons": (
        """
import functools
@functools.total_ordering
class C:
    def __init__(self, x): self.x = x
    def __eq__(self, o): return self.x == o.x
    def __lt__(self, o): return self.x < o.x
    __hash__ = None
""",
        "(1.0 if C(x) <= C(x + 1) else 2.0) + (1.0 if C(x) != C(x) else 2.0) + (x if C(x) >= C(3.0) else -x)",
    ),
    "containers": (
        """
class C:
    def __init__(self, x): self.held = [x, x + 1]
    def __len__(self): return len(self.held)
    def __iter__(self): return iter(self.held)
    def __getitem__(self, k): return self.held[k]
    def __setitem__(self, k, v): self.held[k] = v if v > 0 else -v
    def __delitem__(self, k): del self.held[k]
    def __contains__(self, v): return v == 2
    def __reversed__(self): return iter(self.held[::-1])
    def __bool__(self): return len(self.held) > 1
def use(x):
    c = C(x)
    c[0] = x - 9
    y = c[0] + len(c) + sum(c) + list(reversed(c))[0] + (1.0 if 2 in c else 2.0) + (1.0 if c else 2.0)
    del c[0]
    return y + max(c) + (1.0 if c else 2.0)
""",
        "use(x)",
    ),
    "context managers": (
        """
class C:
    def __init__(self, x): self.x = x
    def __enter__(self):
        self.x = self.x + 1
        return self
    def __exit__(self, *error):
        self.x = self.x * 2
def use(x):
    with C(x) as c:
        y = c.x
    return y + c.x
""",
        "use(x)",
    ),
    "__call__": (
        """
class C:
    def __init__(self, k): self.k = k
    def __call__(self, x): return x * self.k if x > 0 else x
""",
        "C(3.0)(x) + C(2.0)(-x)",
    ),
    "iterators": (
        """
class C:
    def __init__(self, n): self.n = n
    def __iter__(self): return self
    def __next__(self):
        if self.n == 0: raise StopIteration
        self.n -= 1
        return self.n
def use(x):
    for k in C(3):
        x = x + k
    return x
""",
        "use(x)",
    ),
    "__missing__": (
        """
class C(dict):
    def __missing__(self, key):
        self[key] = len(key)
        return self[key]
""",
        "x + C(a=1)['a'] + C()['abc']",
    ),
    "conversions": (
        """
class C:
    def __init__(self, x): self.x = x
    def __float__(self): return self.x
    def __index__(self): return 1
    def __str__(self): return "C"
    def __format__(self, spec): return spec or "none"
    def __hash__(self): return 5
    def __len__(self): return 2
""",
        "x + [1.0, 2.0][C(x)] + len(str(C(x)) + f'{C(x):abc}') + hash(C(x)) + len(C(x))",
    ),
    "weak references": (
        """
import weakref
class C:
    def __init__(self, x): self.x = x
def use(x):
    c = C(x)
    r = weakref.ref(c)
    return r().x * 2
""",
        "use(x)",
    ),
    "multiple inheritance and super": (
        """
class A:
    def f(self, x): return x + 1
class B(A):
    def f(self, x): return super().f(x) * 2 if x > 0 else super().f(x)
class D(A):
    def f(self, x): return super().f(x) + 5
class C(B, D): pass
""",
        "C().f(x)",
    ),
    "class and static methods": (
        """
class C:
    k = 2.0
    @classmethod
    def made(cls, x): return cls.k * x if x > 0 else x
    @staticmethod
    def plain(x): return x + 1 if x > 0 else x
""",
        "C.made(x) + C().made(x) + C.plain(x) + C().plain(x)",
    ),
    "an exception with fields": (
        """
class Wrong(ValueError):
    def __init__(self, k):
        super().__init__(k)
        self.k = k
def use(x):
    try:
        raise Wrong(3)
    except Wrong as error:
        return x * error.k
""",
        "use(x)",
    ),
    "generic classes": (
        """
from typing import Generic, TypeVar
T = TypeVar("T")
class C(Generic[T]):
    def __init__(self, x: T): self.x = x
""",
        "C[float](x).x * 2",
    ),
    "__slots__ and weak proxies": (
        """
import weakref
class C:
    __slots__ = ("x", "__weakref__")
    def __init__(self, x): self.x = x
def use(x):
    c = C(x)
    p = weakref.proxy(c)
    return p.x + c.x
""",
        "use(x)",
    ),
}
PLACES = {
    "straight": "    return USE\n",
    "branch": "    if x > 2:\n        y = USE\n    else:\n        y = -x\n    return y\n",
    "loop": "    y, k = 0.0 * x, 0\n    while k < x:\n        y = y + USE\n        k += 1\n    return y\n",
}
_LIBRARY = os.path.join(os.path.dirname(os.path.dirname(jax.__file__)), "somelib")


def made(text: str, file: str, space: dict[str, Any]) -> None:
    linecache.cache[file] = len(text), None, text.splitlines(keepends=True), file
    exec(compile(text, file, "exec"), space)  # noqa: S102


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("whose", ["user", "library"])
@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_as_python(protocol: str, whose: str, place: str) -> None:
    text, use = PROTOCOLS[protocol]
    name = f"{protocol}-{place}".replace(" ", "_").strip("_")
    space: dict[str, Any] = {"__name__": "abc" if whose == "library" else __name__}  # `dataclass` looks its module up
    made(text, f"{_LIBRARY}/{name}.py" if whose == "library" else f"{os.path.dirname(__file__)}/model_{name}.py", space)
    space["__name__"] = __name__
    made(f"def f(x):\n{PLACES[place].replace('USE', use)}", f"{os.path.dirname(__file__)}/used_{whose}_{name}.py", space)
    f = space["f"]
    for x in (3.0, -1.0) if whose == "user" else (3.0,):
        want = f(x)
        for form in (ag.function, lambda f: jax.jit(ag.convert(f))):
            got = _run(form(f), jnp.float32(x), whose, want)
            assert got is None or np.allclose(got, want), (got, want)
        assert np.allclose(f(x), want)


def _run(f: Any, x: Any, whose: str, want: Any) -> Any:
    """What it gives; a library's own code is not converted, so what it decides by a traced value may be refused."""
    try:
        return f(x)
    except (ag.AutographError, jax.errors.ConcretizationTypeError):
        if whose == "user":
            raise
        return None
