"""What is refused, by id, at the user's line, with the variable and the advice; never a number instead."""

from __future__ import annotations

import re
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import autograph as ag
from autograph.runtime.errors import errors


def refused(f: Any, *args: Any) -> errors.AutographError:
    with pytest.raises(errors.AutographError) as caught:
        jax.jit(ag.convert(f))(*args)
    return caught.value


def line(f: Any, offset: int) -> str:
    return f"{__file__}:{f.__code__.co_firstlineno + offset}:"


def test_every_error_has_an_id_and_a_builtin() -> None:
    every = [e for e in vars(errors).values() if isinstance(e, type) and issubclass(e, errors.AutographError)]
    leaves = [e for e in every if not any(issubclass(o, e) and o is not e for o in every)]
    assert len({e.id for e in every}) == len(every)
    for e in leaves:
        assert any(b.__module__ == "builtins" and b is not Exception for b in e.__bases__), e


def test_errors_can_be_pickled() -> None:
    import pickle

    error = errors.LoopTypeError("message", errors.SourceSpan("file.py", 3), "advice")
    again = pickle.loads(pickle.dumps(error))
    assert str(again) == str(error) and type(again) is errors.LoopTypeError


def test_the_shape_of_a_loop_variable() -> None:
    def f(n: Any) -> Any:
        s = jnp.zeros(2)
        for _ in range(n):
            s = jnp.stack([s, s])
        return s

    error = refused(f, 3)
    assert isinstance(error, TypeError) and error.id == "AG201"
    text = str(error)
    assert text.startswith(line(f, 2)) and "`s` is float32[2] before the loop and float32[2,2] after one iteration" in text
    assert f"line {f.__code__.co_firstlineno + 3}" in text and "shape (2, 2)" in text


def test_the_structure_of_a_loop_variable() -> None:
    def f(n: Any) -> Any:
        p = (1, 2)
        while n > 0:
            p = (1, 2, n)
            n -= 1
        return p

    error = refused(f, 3)
    assert error.id == "AG201" and "`p`" in str(error)


def test_a_string_that_changes() -> None:
    def f(n: Any) -> Any:
        mode = "a"
        for _ in range(n):
            mode = mode + "b"
        return n if mode == "a" else 0

    error = refused(f, 3)
    assert error.id == "AG201" and "`mode` is 'a' before the loop and 'ab' after one iteration" in str(error)


def test_sides_of_different_shape() -> None:
    def f(x: Any) -> Any:
        if x > 0:
            y = jnp.zeros(2)
        else:
            y = jnp.zeros(3)
        return y

    error = refused(f, 3)
    assert isinstance(error, TypeError) and error.id == "AG202"
    assert str(error).startswith(line(f, 1)) and re.search(
        r"`y` is float32\[2\] \(line \d+\) where the test is true and float32\[3\] \(line \d+\) where it is false", str(error)
    )


def test_dicts_with_other_keys() -> None:
    def f(x: Any) -> Any:
        if x > 0:
            found = {"a": x, "b": x}
        else:
            found = {"a": x, 3: x}
        return found

    assert "help: give both dicts the same keys: 'b', 3 are in one of them only" in str(refused(f, 3))


def test_a_list_that_a_parameter_is_and_that_a_branch_makes_longer() -> None:
    def note(log: list[Any], x: Any) -> None:
        if x < 0:
            return
        log.append(x)

    def f(x: Any) -> Any:
        log: list[Any] = []
        note(log, x)
        return log

    error = refused(f, 3)
    assert error.id == "AG405" and "help: `log` is a parameter of `note`: let `note` return what to append" in str(error)


def test_one_of_several_variables() -> None:
    def f(x: Any) -> Any:
        if x > 0:
            a, b = 1, "text"
            x = x + 1
        else:
            a, b = 2, 3
        return a, b, x

    error = refused(f, 3)
    assert error.id == "AG202" and "`b` is 'text'" in str(error)


def test_a_variable_that_may_be_unset() -> None:
    def f(x: Any) -> Any:
        if x > 0:
            y = 1
        return y

    error = refused(f, 3)
    assert isinstance(error, UnboundLocalError) and error.id == "AG301"
    assert str(error).startswith(line(f, 3)) and "`y` is possibly undefined" in str(error)
    for form in (ag.convert(f), ag.convert(f, form="staged")):
        assert form(1) == 1
        with pytest.raises(UnboundLocalError, match="cannot access local variable 'y' where it is not associated with a value"):
            form(-1)


def test_an_integer_that_does_not_fit() -> None:
    def f(x: Any) -> Any:
        return 2**40 if x > 0 else x

    error = refused(f, 3)
    assert isinstance(error, OverflowError) and error.id == "AG203"


def test_a_raise_that_a_traced_value_decides() -> None:
    class Low(Exception):
        def __init__(self, text: str, need: Any) -> None:
            super().__init__(text)
            self.need = need

    def f(x: Any) -> Any:
        if x < 0:
            raise Low(f"{-x:.1f} more", -x)
        return x

    compiled = ag.function(f)
    assert compiled(2.0) == 2.0
    with pytest.raises(Low, match="1.5 more") as caught:
        compiled(-1.5)
    assert caught.value.need == 1.5
    assert caught.traceback[-1].lineno == f.__code__.co_firstlineno + 1
    with pytest.raises(Low):
        ag.convert(f)(-1.0)


def test_a_raise_that_the_same_function_catches_is_refused() -> None:
    def f(x: Any) -> Any:
        try:
            if x < 0:
                raise KeyError("low")
        except KeyError:
            return 0.0
        return x

    error = refused(f, 3.0)
    assert error.id == "AG404" and "KeyError" in str(error)


def test_an_error_of_an_operation_in_a_branch_is_that_error() -> None:
    def f(x: Any) -> Any:
        if x < 0:
            x = jnp.ones(2) @ jnp.ones(3)
        return x

    with pytest.raises(TypeError, match="dot_general"):
        jax.jit(ag.convert(f))(1.0)


def test_an_assert_that_a_traced_value_decides() -> None:
    def f(x: Any) -> Any:
        assert x > 0, f"positive, not {x}"
        return x

    assert ag.function(f)(3) == 3
    with pytest.raises(AssertionError, match="positive, not -1"):
        ag.function(f)(-1)
    with pytest.raises(AssertionError, match="positive"):
        ag.convert(f, form="staged")(-1)


class Counter:
    def __init__(self) -> None:
        self.h = 0

    @ag.function
    def add(self, x: Any) -> Any:
        self.h += x
        return self.h

    @ag.function
    def add_if(self, x: Any) -> Any:
        if x > 0:
            self.h += 1
        return self.h


def test_a_self_that_changes() -> None:
    counter = Counter()
    assert [float(counter.add(x)) for x in (1.0, 2.0)] == [1.0, 3.0] and counter.h == 3.0
    assert counter.add_if(-1.0) == 3.0 and counter.add_if(1.0) == 4.0 and counter.h == 4.0


def test_an_object_made_inside_may_change() -> None:
    @ag.function
    def f(x: Any) -> Any:
        counter = Counter()
        counter.h = x
        counter.h += 1
        return counter.h

    assert f(2.0) == 3.0


def test_a_store_into_a_numpy_array() -> None:
    a, b = np.zeros(3), np.zeros(3, np.float32)

    def outside(x: Any) -> Any:
        a[0] = x
        return x

    def outside_in_32_bits(x: Any) -> Any:
        b[0] = x
        return x

    def inside(x: Any) -> Any:
        c = np.zeros(3)
        c[0] = x
        return c

    assert ag.function(inside)(1.0)[0] == 1.0
    with pytest.raises(errors.ArrayStoreError, match="AG403"):
        ag.function(outside)(1.0)
    with pytest.raises(errors.ArrayStoreError, match="AG403"):
        jax.jit(ag.convert(outside))(1.0)
    assert a[0] == 0 and type(a) is np.ndarray
    ag.function(outside_in_32_bits)(2.0)
    assert type(b) is np.ndarray and b[0] == 2.0


def test_a_list_of_the_block_itself_may_change() -> None:
    @ag.convert
    def f(n: Any) -> Any:
        total = jnp.zeros(3)
        for i in range(n):
            parts = []
            for k in range(3):
                parts.append(i * k)
            parts[0] = 7
            total = total + jnp.array(parts)
        return total

    np.testing.assert_allclose(jax.jit(f)(2), [14, 1, 2])


def test_append_on_one_side_is_refused_and_undone() -> None:
    kept: list[Any] = [1]

    def f(x: Any) -> Any:
        if x > 0:
            kept.append(x)
        return x

    error = refused(f, 1.0)
    assert error.id == "AG405" and "`kept`" in str(error) and str(error).startswith(line(f, 2))
    assert kept == [1]


def test_a_store_into_a_list_in_a_staged_block() -> None:
    def f(x: Any) -> Any:
        v = [1, 2]
        if x > 0:
            v[0] = 5
        return v[0]

    def g(x: Any) -> Any:
        if x > 0:
            shared["a"][1] = 5
        return x

    shared: Any = {"a": [1, 2]}
    assert ag.function(f)(1) == 5 and ag.function(f)(-1) == 1
    compiled = ag.function(g)
    compiled(-1)
    assert shared == {"a": [1, 2]}
    compiled(1)
    assert shared == {"a": [1, 5]}


def test_a_global_that_a_compiled_function_changes() -> None:
    from tests.sourced import define

    f = define("total = 0\ndef f(x):\n    global total\n    total = total + x\n    return total\n")
    assert [float(ag.function(f)(x)) for x in (1.0, 2.0)] == [1.0, 3.0] and f.__globals__["total"] == 3.0


def test_reverse_mode_through_a_loop_that_works_on_a_reference() -> None:
    def f(x: Any) -> Any:
        turns = jax.new_ref(jnp.float32(0))
        while x < 10:
            turns[...] += 1
            x = x * 2
        return x * turns[...]

    with pytest.raises(errors.ReverseModeError) as caught:
        jax.jit(jax.grad(ag.convert(f)))(1.0)
    assert isinstance(caught.value, ValueError) and caught.value.id == "AG601"
    assert str(caught.value).startswith(line(f, 2))


def test_a_loop_over_a_number() -> None:
    def f(x: Any) -> Any:
        for y in x:
            x = y
        return x

    assert refused(f, 1.0).id == "AG501"


def test_a_range_of_floats() -> None:
    def f(x: Any) -> Any:
        for _ in range(x):
            pass
        return x

    assert refused(f, 1.0).id == "AG502"


def test_operands_of_different_shape() -> None:
    error = refused(lambda x: x or jnp.zeros(1), 1.0)
    assert error.id == "AG202" and "(1,)" in str(error)


def test_plain_python_errors_are_pythons() -> None:
    def f(x: Any) -> Any:
        v = [1, 2]
        for k in range(3):
            x = x + v[k]
        return x

    for form in (ag.convert(f), ag.convert(f, form="staged"), jax.jit(ag.convert(f))):
        with pytest.raises(IndexError, match="list index out of range"):
            form(1)


def comprehension(x: Any) -> Any:
    return {y for y in (1, 2) if y < x}


def test_a_construct_that_stays_python() -> None:
    error = refused(comprehension, 1)
    assert error.id == "AG501" and "stays Python" in str(error) and __file__ in str(error)
    assert error.__cause__ is None and error.__suppress_context__  # JAX's own error is no part of the traceback


@ag.do_not_convert
def left_alone(x: Any) -> Any:
    return 1 if x > 0 else 2


def test_a_callee_that_is_not_converted() -> None:
    error = refused(lambda x: left_alone(x), 1)
    assert error.id == "AG501" and "`left_alone`, which is not converted" in str(error)


def test_a_traced_index_of_what_is_no_array() -> None:
    for f in (lambda i: {1: 2}[i], lambda i: "abc"[i], lambda i: [1, jnp.zeros(2)][i], lambda i: ["a", "b"][i]):
        error = refused(f, 1)
        assert error.id == "AG502" and "is indexed by a traced value" in str(error)


def sums_into(acc: Any, xs: Any) -> None:
    for v in xs:
        acc[0] += v


def test_a_list_that_a_helper_changes() -> None:
    def f(xs: Any) -> Any:
        acc = [xs[0] * 0]
        sums_into(acc, xs)
        return acc[0]

    assert jax.jit(ag.convert(f))(jnp.array([1.0, 2.0])) == 3.0


def test_a_static_turn_that_changes_an_object_is_kept() -> None:
    @ag.convert
    def f(x: Any) -> Any:
        seen = []
        i = 0
        while i < 3:
            seen.append(i)
            i = i + 1 if len(seen) < 1 else i + x
        return i

    with pytest.raises(errors.EffectError):  # the second turn is staged, the first is not run again
        jax.jit(f)(1)


def test_effects_of_a_branch_that_gives_nothing(capfd: pytest.CaptureFixture[str]) -> None:
    @ag.convert
    def f(x: Any) -> Any:
        if x > 0:
            jax.debug.print("raw {}", x)
        if x > 1:
            print("seen", x)
        for i in range(2):
            if i < x:
                print("turn", i)
        return x

    jax.block_until_ready(jax.jit(f)(1))
    jax.effects_barrier()
    out = capfd.readouterr().out
    assert "raw 1" in out and "seen" not in out and "turn 0" in out and "turn 1" not in out


@pytest.mark.parametrize("test", ["found is True", "found is not False", "(found is True) or False"])
def test_identity_with_a_bool(test: str) -> None:
    from tests.sourced import define

    f = define(f"def f(v):\n    found = False\n    for x in v:\n        if x > 1:\n            found = True\n    return 1 if {test} else 0\n")
    assert refused(f, jnp.array([1.0, 2.0])).id == "AG501"
    assert ag.convert(f, form="staged")([1.0, 2.0]) == 1


@pytest.mark.parametrize("pattern", ["True", "(True, _)", "int()", "bool()"])
def test_match_on_a_bool_or_class(pattern: str) -> None:
    from tests.sourced import define

    f = define(f"def f(x):\n    match (x > 1, 2) if '(' == {pattern[0]!r} else x > 1:\n        case {pattern}: return 1\n        case _: return 0\n")
    assert refused(f, 2.0).id == "AG501"
    assert ag.convert(f, form="staged")(2.0) == 1


def test_recursion_that_traced_values_should_end():
    @ag.function
    def factorial(n):
        if n <= 1:
            return 1
        return n * factorial(n - 1)

    def gcd(a, b):
        return a if b == 0 else gcd(b, a % b)

    def depth(x, k):
        return x if k == 0 else depth(x + 1, k - 1)

    for f, args, name in ((factorial, (3,), "factorial"), (ag.function(gcd), (12, 18), "gcd")):
        with pytest.raises(ag.StagingError, match=f"AG501 `{name}` calls itself in a data-dependent branch"):
            f(*args)
    assert ag.function(lambda x: depth(x, 30))(1) == 31


@pytest.mark.parametrize("compiled", [ag.function, lambda f: jax.jit(ag.convert(f))], ids=["function", "jit"])
@pytest.mark.parametrize("f", [np.linalg.eigvals, np.linalg.eig, lambda a: np.roots([1.0, 0.0, a[0, 1]])], ids=["eigvals", "eig", "roots"])
def test_eigenvalues_are_real_or_an_error(f: Any, compiled: Any) -> None:
    """NumPy returns real numbers if all are: which dtype it is would be data-dependent."""
    run = compiled(lambda a: f(a))
    real, turned = np.array([[2.0, -1.0], [0.0, 3.0]]), np.array([[1.0, 1.0], [-1.0, 1.0]])
    for got, want in zip(jax.tree.leaves(run(real)), jax.tree.leaves(f(real)), strict=True):
        assert not np.iscomplexobj(want) and not np.iscomplexobj(got)
        np.testing.assert_allclose(np.sort(got, None), np.sort(want, None), rtol=1e-5)
    with pytest.raises(Exception, match="AG502 `np.* gives a complex number here, and its dtype must be static"):
        jax.block_until_ready(run(turned))
    if f is not np.linalg.eig:
        got = np.asarray(compiled(lambda a: f(a + 0j) if f is np.linalg.eigvals else np.roots([1.0 + 0j, 0.0, a[0, 1]]))(turned))
        np.testing.assert_allclose(sorted(got, key=np.imag), sorted(f(turned), key=np.imag), atol=1e-5)
