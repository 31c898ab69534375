"""Lives of state: who makes it x what it is x who uses it afterwards x under a tape or not, compiled beside eager.

What a compiled call makes is state in that call and in every later one, of this and of any other function; where it cannot be (an attribute that only
some runs have), that is an error with an id.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest

import autograph as ag


class Owner:
    """What holds the state; `kind` says what that is."""

    def __init__(self, kind: Any) -> None:
        self.kind = kind
        self.v: Any = None
        self.w: Any = None
        self.ready = False


class VariableKind:
    """One whose first value is a number."""

    def make(self, o: Owner) -> None:
        o.v = ag.Variable(2.0)

    def change(self, o: Owner, x: Any) -> None:
        o.v.assign_add(x)

    def use(self, o: Owner, x: Any) -> Any:
        return o.v * x

    def sources(self, o: Owner) -> list[Any]:
        return [o.v]


class ComputedKind(VariableKind):
    """One whose first value is computed."""

    def make(self, o: Owner) -> None:
        o.v = ag.Variable(jnp.ones(2) * 3.0)

    def use(self, o: Owner, x: Any) -> Any:
        return jnp.sum(o.v * x)


class CalledKind(VariableKind):
    """One whose first value a function gives."""

    def make(self, o: Owner) -> None:
        o.v = ag.Variable(lambda: jnp.ones(2))

    def use(self, o: Owner, x: Any) -> Any:
        return jnp.sum(o.v * x)


class ListKind(VariableKind):
    """Two, in a list."""

    def make(self, o: Owner) -> None:
        o.v = [ag.Variable(1.0), ag.Variable(2.0)]

    def change(self, o: Owner, x: Any) -> None:
        for v in o.v:
            v.assign_add(x)

    def use(self, o: Owner, x: Any) -> Any:
        return o.v[0] * x + o.v[1]

    def sources(self, o: Owner) -> list[Any]:
        return list(o.v)


class LayerKind:
    """A layer, which is built when it is first called."""

    def make(self, o: Owner) -> None:
        o.v = ag.layers.Dense(2, kernel_initializer="ones")

    def change(self, o: Owner, x: Any) -> None:
        self.use(o, x)
        o.v.kernel.assign_add(jnp.ones((1, 2)) * x)

    def use(self, o: Owner, x: Any) -> Any:
        return jnp.sum(o.v(jnp.stack([x, x + 1.0])[:, None]))

    def sources(self, o: Owner) -> list[Any]:
        return list(o.v.trainable_variables)


class Net(ag.layers.Model):
    """A model with a layer, and a number that its calls count up."""

    def __init__(self) -> None:
        super().__init__()
        self.dense = ag.layers.Dense(1, kernel_initializer="ones")
        self.calls, self.seen = 0, [0.0]

    def call(self, inputs: Any) -> Any:
        if jnp.sum(inputs) > 0:
            self.seen[0] = self.seen[0] + 1.0
        self.calls += 1
        return self.dense(inputs) + self.seen[0]


class ModelKind(LayerKind):
    """A model whose attributes change when it is called."""

    def make(self, o: Owner) -> None:
        o.v = Net()

    def change(self, o: Owner, x: Any) -> None:
        self.use(o, x)
        o.v.dense.kernel.assign_add([[x]])

    def use(self, o: Owner, x: Any) -> Any:
        return jnp.sum(o.v(jnp.stack([x, x + 1.0])[:, None])) + o.v.calls


class OptimizerKind:
    """An optimizer with what it remembers of a Variable."""

    def make(self, o: Owner) -> None:
        o.w = ag.Variable(1.0)
        o.v = ag.optimizers.Adam(0.1)

    def change(self, o: Owner, x: Any) -> None:
        o.v.apply_gradients([(jnp.asarray(x) * 2.0, o.w)])

    def use(self, o: Owner, x: Any) -> Any:
        return o.w * x + o.v.iterations

    def sources(self, o: Owner) -> list[Any]:
        return [o.w]


class MetricKind:
    """A metric."""

    def make(self, o: Owner) -> None:
        o.v = ag.metrics.Mean()

    def change(self, o: Owner, x: Any) -> None:
        o.v.update_state(x)

    def use(self, o: Owner, x: Any) -> Any:
        return o.v.result() + x

    sources = None


class NumberKind:
    """An attribute that holds a number."""

    def make(self, o: Owner) -> None:
        o.v = 2.0

    def change(self, o: Owner, x: Any) -> None:
        o.v = o.v + x

    def use(self, o: Owner, x: Any) -> Any:
        return o.v * x

    sources = None


class ArrayKind(NumberKind):
    """An attribute that holds an array."""

    def make(self, o: Owner) -> None:
        o.v = jnp.ones(3)

    def use(self, o: Owner, x: Any) -> Any:
        return jnp.sum(o.v) * x


KINDS = [VariableKind, ComputedKind, CalledKind, ListKind, LayerKind, ModelKind, OptimizerKind, MetricKind, NumberKind, ArrayKind]


def changed(o: Owner, x: Any) -> Any:
    o.kind.change(o, x)
    return o.kind.use(o, x)


def taped(o: Owner, x: Any) -> Any:
    o.kind.change(o, x)
    with ag.GradientTape() as tape:
        y = o.kind.use(o, x) * 2.0
    return y, tape.gradient(y, o.kind.sources(o))


# --- who makes it ----------------------------------------------------------------------------------------------------------------------------


def in_constructor(o: Owner, x: Any, n: Any, work: Callable[..., Any]) -> Any:
    return work(o, x)


def where_it_is_none(o: Owner, x: Any, n: Any, work: Callable[..., Any]) -> Any:
    if o.v is None:
        o.kind.make(o)
    return work(o, x)


def behind_a_flag(o: Owner, x: Any, n: Any, work: Callable[..., Any]) -> Any:
    if not o.ready:
        o.kind.make(o)
        o.ready = True
    return work(o, x)


def in_a_branch(o: Owner, x: Any, n: Any, work: Callable[..., Any]) -> Any:
    if x > 0:
        if o.v is None:
            o.kind.make(o)
        return work(o, x)
    return None


def in_a_loop(o: Owner, x: Any, n: Any, work: Callable[..., Any]) -> Any:
    y = None
    for _ in range(2):
        if o.v is None:
            o.kind.make(o)
        y = work(o, x)
    return y


def in_a_traced_loop(o: Owner, x: Any, n: Any, work: Callable[..., Any]) -> Any:
    for _ in range(n):
        if o.v is None:
            o.kind.make(o)
        o.kind.change(o, x)
    return work(o, x)


MAKERS = [in_constructor, where_it_is_none, behind_a_flag, in_a_branch, in_a_loop, in_a_traced_loop]


# --- who uses it afterwards ------------------------------------------------------------------------------------------------------------------


def _same(step: Any, o: Owner, other: Any, keep: Any) -> Iterator[Any]:
    yield step(o, 2.0)
    yield step(o, 3.0)


def _another_function(step: Any, o: Owner, other: Any, keep: Any) -> Iterator[Any]:
    yield other(o, 2.0)
    yield step(o, 3.0)
    yield other(o, 0.5)


def _eagerly(step: Any, o: Owner, other: Any, keep: Any) -> Iterator[Any]:
    yield changed(o, 2.0)
    yield step(o, 3.0)
    yield o.kind.use(o, jnp.float32(1.0))


def _another_object(step: Any, o: Owner, other: Any, keep: Any) -> Iterator[Any]:
    second = Owner(o.kind)
    if keep:
        o.kind.make(second)
    yield step(second, 2.0)
    yield step(o, 3.0)
    yield step(second, 1.0)
    yield o.kind.use(o, jnp.float32(1.0))


def _restored(step: Any, o: Owner, other: Any, keep: Any, folder: Any) -> Iterator[Any]:
    path = ag.Checkpoint(o=o).save(folder / "c")
    yield step(o, 2.0)
    ag.Checkpoint(o=o).restore(path)
    yield step(o, 3.0)
    yield other(o, 1.0)


AFTERWARDS = [_same, _another_function, _eagerly, _another_object, _restored]


def _flat(x: Any) -> list[np.ndarray]:
    if isinstance(x, (tuple, list)):
        return [y for part in x for y in _flat(part)]
    return [] if x is None else [np.asarray(x, np.float64)]


def _life(kind: Any, maker: Any, afterwards: Any, work: Any, compiled: bool, folder: Any) -> list[np.ndarray]:
    o = Owner(kind())
    if maker is in_constructor:
        o.kind.make(o)
    form = ag.function if compiled else (lambda f: f)
    whole, part = form(lambda o, x, n: maker(o, x, n, work)), form(lambda o, x: changed(o, x))

    def step(o: Owner, x: float) -> Any:
        return whole(o, jnp.float32(x), 2)

    def other(o: Owner, x: float) -> Any:
        return part(o, jnp.float32(x))

    out = [step(o, 1.0)]
    out += afterwards(step, o, other, maker is in_constructor, *([folder] if afterwards is _restored else []))
    return _flat(out)


def _cells() -> Iterator[Any]:
    for kind, maker, afterwards, work in itertools.product(KINDS, MAKERS, AFTERWARDS, [changed, taped]):
        if work is taped and kind.sources is None or afterwards is _restored and kind in (NumberKind, ArrayKind):
            continue
        yield pytest.param(kind, maker, afterwards, work, id=f"{kind.__name__}-{maker.__name__}-{afterwards.__name__[1:]}-{work.__name__}")


REFUSED = {"AG202", "AG401", "AG405"}  # what only some runs have: an attribute made in a branch, a first value that a loop replaces


@pytest.mark.parametrize(("kind", "maker", "afterwards", "work"), list(_cells()))
def test_state_has_one_life(kind: Any, maker: Any, afterwards: Any, work: Any, tmp_path: Any) -> None:
    want = _life(kind, maker, afterwards, work, False, tmp_path / "eager")
    try:
        got = _life(kind, maker, afterwards, work, True, tmp_path / "compiled")
    except ag.AutographError as error:
        assert maker in (in_a_branch, in_a_traced_loop) and error.id in REFUSED, error
        return
    assert len(want) == len(got) > 0
    for a, b in zip(want, got, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-5)
