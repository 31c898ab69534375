"""What `ag.function` returns: called as the function, with `jax.jit`'s options and methods, a method in a class, copied, pickled, nested."""

from __future__ import annotations

import copy
import dataclasses
import gc
import inspect
import itertools
import pickle
import weakref
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import autograph as ag


@ag.function
def clamp(x: Any, low: float = 0.0, *, high: float = 1.0) -> Any:
    """Between two bounds."""
    if x < low:
        return low
    return high if x > high else x


def test_what_it_says_of_itself() -> None:
    assert clamp.__name__ == "clamp" and clamp.__doc__ == "Between two bounds." and clamp.__module__ == __name__
    assert clamp.__defaults__ == (0.0,) and clamp.__kwdefaults__ == {"high": 1.0}
    assert str(inspect.signature(clamp)) == "(x: 'Any', low: 'float' = 0.0, *, high: 'float' = 1.0) -> 'Any'"
    assert clamp.__wrapped__(-3) == 0.0 and not hasattr(clamp.__wrapped__, "__wrapped__")
    assert "clamp" in repr(clamp)


def test_calls() -> None:
    assert clamp(2.0) == 1.0 and clamp(-2.0, -1.0) == -1.0 and clamp(2.0, high=5.0) == 2.0
    assert isinstance(clamp(0.5), jax.Array)


def test_the_methods_of_jit() -> None:
    assert "clamp" in clamp.lower(1.0).as_text()
    assert clamp.eval_shape(1.0).shape == ()
    assert clamp.trace(1.0).jaxpr is not None
    clamp.clear_cache()


def test_the_options_of_jit() -> None:
    @ag.function(static_argnames=("n",))
    def power(x: Any, n: int) -> Any:
        y = 1.0
        for _ in range(n):
            y = y * x if x > 0 else y
        return y

    assert power(2.0, n=3) == 8.0

    @ag.function(donate_argnums=0)
    def next_(x: Any) -> Any:
        return x + 1 if x[0] > 0 else x

    assert next_(jnp.ones(1))[0] == 2.0


def test_copies_and_pickles() -> None:
    assert copy.copy(clamp) is clamp and copy.deepcopy([clamp])[0] is clamp
    assert pickle.loads(pickle.dumps(clamp)) is clamp


def test_transformed_and_nested() -> None:
    @ag.function
    def outer(x: Any) -> Any:
        return clamp(x) + clamp(-x, -5.0)

    assert outer(0.5) == 0.0
    np.testing.assert_allclose(jax.vmap(clamp)(jnp.array([-1.0, 0.5, 2.0])), [0.0, 0.5, 1.0])
    assert jax.grad(clamp)(0.5) == 1.0 and jax.grad(clamp)(2.0) == 0.0
    assert jax.jit(jax.grad(outer))(0.5) == 0.0


class Model:
    def __init__(self, scale: float) -> None:
        self.scale, self.weights, self.table = scale, jnp.ones(2), np.ones(2)
        self.traces: list[int] = []

    @ag.function
    def predict(self, x: Any) -> Any:
        self.traces.append(1)
        if x.sum() > 1:
            return x * self.scale + self.weights + self.table
        return x

    @staticmethod
    @ag.function
    def static(x: Any) -> Any:
        return x if x > 0 else -x

    @classmethod
    @ag.function(static_argnums=0)
    def of_class(cls, x: Any) -> Any:
        return x if x > 0 else -x


def test_methods() -> None:
    model = Model(2.0)
    x = jnp.ones(2)
    np.testing.assert_allclose(model.predict(x), [4.0, 4.0])
    np.testing.assert_allclose(Model.predict.__get__(model)(x), [4.0, 4.0])
    assert Model.static(-1.0) == 1.0 and model.static(2.0) == 2.0 and Model.of_class(-2.0) == 2.0


def test_a_change_of_the_object_is_seen() -> None:
    """A number, an array, an item of a NumPy array: never the old value."""
    model, x = Model(2.0), jnp.ones(2)
    np.testing.assert_allclose(model.predict(x), [4.0, 4.0])
    model.traces.clear()
    model.scale = 3.0
    np.testing.assert_allclose(model.predict(x), [5.0, 5.0])
    model.traces.clear()
    model.weights = jnp.zeros(2)
    np.testing.assert_allclose(model.predict(x), [4.0, 4.0])
    model.traces.clear()
    model.table = np.array([7.0, 1.0])
    np.testing.assert_allclose(model.predict(x), [10.0, 4.0])
    model.traces.clear()
    model.table[0] = 8.0
    np.testing.assert_allclose(model.predict(x), [11.0, 4.0])


def test_objects_that_hold_alike_compile_once() -> None:
    traces = itertools.count()

    class Scaled:
        def __init__(self, by: Any) -> None:
            self.by, self.calls = jnp.asarray(by), 0

        @ag.function
        def f(self, x: Any) -> Any:
            next(traces)
            self.calls += 1
            return x * self.by if x > 0 else -x

    first, second = Scaled(2.0), Scaled(3.0)
    first.f(1.0)
    before = next(traces)
    assert first.f(2.0) == 4.0 and second.f(2.0) == 6.0
    assert first.calls == 2 and second.calls == 1 and next(traces) == before + 1


def test_the_instance_is_freed() -> None:
    model = Model(1.0)
    model.predict(jnp.ones(2))
    alive = weakref.ref(model)
    del model
    gc.collect()
    assert alive() is None


def test_a_pytree_is_traced() -> None:
    @jax.tree_util.register_dataclass
    @dataclasses.dataclass
    class Point:
        x: Any

    @ag.function
    def norm(point: Any) -> Any:
        return point.x if point.x > 0 else -point.x

    Point.norm = norm  # type: ignore[attr-defined]
    try:
        assert Point(jnp.float32(-2)).norm() == 2.0  # type: ignore[attr-defined]
    finally:
        del Point.norm  # type: ignore[attr-defined]


def test_wrong_use() -> None:
    with pytest.raises(ag.ConversionError):
        ag.function(3)
    with pytest.raises(TypeError):
        ag.function(lambda x: x, no_such_option=1)
    with pytest.raises(ValueError, match="form is"):
        ag.convert(lambda x: x, form="other")  # type: ignore[call-overload]


def test_do_not_convert() -> None:
    @ag.do_not_convert
    def alone(x: Any) -> Any:
        return 1 if x > 0 else 2

    @ag.function
    def f(x: Any) -> Any:
        return alone(x)

    with pytest.raises(ag.AutographError, match="AG501.*`alone`"):
        f(1.0)
    assert alone(1) == 1


@pytest.mark.parametrize("changes", [False, True], ids=["reads", "changes"])
def test_shapes_that_may_fail_after_one_that_may_not(changes: bool) -> None:
    """Calls go to JAX directly as long as no trace may fail."""

    @ag.function
    def f(xs: Any, n: Any) -> Any:
        if xs.shape[0] > 2:
            ys = xs * 1
            if changes:
                ys += 1
            return [1, 2, 3][n], ys
        return n, xs

    for _ in range(2):
        assert f(jnp.ones(2), 1)[0] == 1
    for _ in range(2):
        assert f(jnp.ones(5), 1)[0] == 2
    with pytest.raises(IndexError, match="list index out of range"):
        f(jnp.ones(5), 7)
    assert f(jnp.ones(2), 1)[0] == 1


def test_coverage_counts_the_users_lines(tmp_path: Any) -> None:
    coverage = pytest.importorskip("coverage", reason="coverage is installed for development only")
    import importlib.util

    path = tmp_path / "covered.py"
    path.write_text("def f(x):\n    if x > 0:\n        y = 1\n    else:\n        y = 2\n    return y\n")
    spec = importlib.util.spec_from_file_location("covered", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)

    def lines(run: Any) -> list[int]:
        recorder = coverage.Coverage(data_file=None, config_file=False, include=[str(path)])
        recorder.start()
        run()
        recorder.stop()
        return sorted(recorder.get_data().lines(str(path)) or [])

    assert lines(lambda: ag.convert(module.f)(1)) == [2, 3, 6]
    assert set(lines(lambda: jax.jit(ag.convert(module.f))(1.0))) >= {2, 3, 5, 6}
