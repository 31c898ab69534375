"""Lists that compiled loops and branches make longer or shorter."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import autograph as ag

V = [1.0, -2.0, 3.0, 7.0, 2.0]
GRAPH = [[0, 1, 1, 0], [0, 0, 0, 1], [0, 0, 0, 1], [0, 0, 0, 0]]


def rows(v: Any) -> Any:
    out = []
    for x in v:
        out.append(x * 2)
    return out, len(out), out[-1]


def positive(v: Any) -> Any:
    out = [0.0]
    for x in v:
        if x > 0:
            out.append(x)
    return out, len(out), sum(out), max(out), 3.0 in out, any(x > 6 for x in out)


def digits(n: Any) -> Any:
    out = []
    with ag.loop(max_steps=10):
        while n > 0:
            out.append(n % 10)
            n //= 10
    return out


def chosen(v: Any) -> Any:
    out = []
    for i in range(4):
        if v[i] > 0:
            out.append(v[i])
    return out


def warned(v: Any) -> Any:
    out = []
    if v[0] > 0:
        out.append(v[1])
    return out


def pairs(v: Any) -> Any:
    out = []
    for x in v:
        for y in v:
            out.append((x, y))
            if x > y:
                out.append((y, x))
    total = 0.0
    for x, y in out:
        total += x * y
    return out, total


def depth_first(graph: Any, start: Any) -> Any:
    seen = np.zeros(len(graph), bool)
    order = []
    stack = [start]
    with ag.loop(max_steps=20):
        while stack:
            v = stack.pop()
            if seen[v]:
                continue
            seen[v] = True
            order.append(v)
            for w in range(len(graph)):
                if graph[v, w] and not seen[w]:
                    stack.append(w)
    return order


def early(v: Any) -> Any:
    out = []
    for x in v:
        out.append(x)
        if len(out) > 2 and out[-1] > 2:
            break
    return out


def table(v: Any) -> Any:
    out = []
    for x in v:
        row = []
        for y in v:
            row.append(x * y)
        out.append(row)
    return out


def both_sides(v: Any) -> Any:
    out = []
    for x in v:
        if x > 0:
            out.append(x)
        else:
            out.append(-x)
    return jnp.stack([jnp.asarray(x) for x in out]).sum()


def augmented(v: Any) -> Any:
    out = [1.0]
    for x in v:
        if x > 0:
            out += [x, 2 * x]
            out[0] += 1.0
    return out


def cleared(v: Any) -> Any:
    out = []
    for x in v:
        out.append(x)
        if x < 0:
            out.clear()
    return out


def balanced(codes: Any) -> Any:
    stack = []
    for c in codes:
        if c > 0:
            stack.append(c)
        else:
            if not stack:
                return False
            top = stack.pop()
            if top != -c:
                return False
    return len(stack) == 0


def plain(x: Any) -> Any:
    return jax.tree.map(lambda leaf: np.asarray(leaf).tolist(), x)


CASES = [
    (rows, (V,)), (positive, (V,)), (digits, (1234,)), (digits, (0,)), (chosen, (V,)), (warned, (V,)), (warned, (V[::-1],)), (warned, ([-1.0, 2.0],)),
    (pairs, (V,)), (depth_first, (GRAPH, 0)), (depth_first, (GRAPH, 2)), (early, (V,)), (table, (V,)), (both_sides, (V,)), (augmented, (V,)),
    (cleared, (V,)), (balanced, ([1, 2, -2, -1],)), (balanced, ([1, 2, -1],)), (balanced, ([-1, 2],)), (balanced, ([1, 2],)),
]  # fmt: skip


@pytest.mark.parametrize(("f", "args"), CASES, ids=[f"{f.__name__}-{k}" for k, (f, _) in enumerate(CASES)])
def test_as_python(f: Any, args: Any) -> None:
    want = f(*(np.asarray(a, np.float32 if isinstance(a, list) and isinstance(a[0], float) else np.int32) for a in args))
    got = ag.function(f)(*(jnp.asarray(a) for a in args))
    assert jax.tree.structure(got) == jax.tree.structure(want)
    assert plain(got) == plain(want)


def test_known_lengths_are_lists_under_jit() -> None:
    out, length, last = jax.jit(ag.convert(rows))(jnp.asarray(V))
    assert len(out) == length == 5 and last == 4.0


def test_gradients_and_lanes() -> None:
    def total(v: Any) -> Any:
        return sum(positive(v)[0])

    def positive(v: Any) -> Any:
        out = []
        for x in v:
            if x > 0:
                out.append(x * x)
        return out, 0

    v = jnp.asarray(V)
    assert ag.function(lambda v: jax.jvp(total, (v,), (jnp.ones(5),)))(v)[1] == 2 * 13.0
    lanes = jax.vmap(ag.function(lambda v: ag.padded(positive(v)[0], 5, fill=-1.0)))(jnp.stack([v, -v]))
    assert lanes.tolist() == [[1.0, 9.0, 49.0, 4.0, -1.0], [4.0, -1.0, -1.0, -1.0, -1.0]]


def test_an_unknown_number_of_turns_is_refused() -> None:
    @ag.function
    def f(n):
        out = []
        for i in range(n):
            out.append(i)
        return out

    with pytest.raises(ag.StagingError, match="(?s)AG405 `.*` grows.*max_steps"):
        f(3)


def test_an_unknown_length_is_refused_where_it_must_be_known() -> None:
    def lengths(v):
        out = []
        for x in v:
            if x > 0:
                out.append(x)
        return out

    v = jnp.asarray(V)
    for use in (lambda v: jnp.stack(lengths(v)), lambda v: lengths(v) * 2, lambda v: tuple(lengths(v)), lambda v: lengths(v) < [1.0]):
        with pytest.raises(ag.StagingError, match="AG405 it is data-dependent how long `out` is"):
            ag.function(use)(v)
    with pytest.raises(ag.StagingError, match="AG405"):
        jax.jit(ag.convert(lengths))(v)
    with pytest.raises(ag.StagingError, match="AG405"):
        jax.vmap(ag.function(lengths))(jnp.stack([v, v]))


def test_items_that_differ_are_refused() -> None:
    @ag.function
    def f(v):
        out = [jnp.zeros(2)]
        for x in v:
            if x > 0:
                out.append(x)
        return out

    with pytest.raises(ag.StagingError, match="AG405 `.*` grows in compiled code, and its items differ"):
        f(jnp.asarray(V))


def test_an_item_that_has_a_name_changes_with_it() -> None:
    def f(v):
        out = []
        for x in v:
            row = [x, x]
            out.append(row)
            row[0] = 5.0
        return out

    assert [[*map(float, row)] for row in ag.function(f)(jnp.asarray(V))] == f(V)
    with pytest.raises(ag.StagingError, match="AG405 a `list` is changed: it was appended"):

        @ag.function
        def g(x, n):
            out = []
            with ag.loop(max_steps=5):
                while n > 0:
                    row = [x]
                    out.append(row)
                    row[0] = 5.0
                    n -= 1
            return out

        g(1.0, 3)


def test_pop_from_nothing() -> None:
    @ag.function
    def f(n):
        out = [1]
        with ag.loop(max_steps=4):
            while n > 0:
                n -= 1
                out.pop()
        return out

    assert f(1) == [] and f(0) == [1]
    with pytest.raises(IndexError, match="pop from empty list"):
        f(2)


def test_padded_of_a_list() -> None:
    assert ag.padded([1, 2], 3, fill=9).tolist() == [1, 2, 9]
    with pytest.raises(IndexError, match="3 items do not fit 2 rows"):
        ag.padded([1, 2, 3], 2)

    @ag.function
    def f(v, k):
        out = []
        for x in v:
            if x > k:
                out.append(x)
        return ag.padded(out, 2)

    assert f(jnp.asarray(V), 2.5).tolist() == [3.0, 7.0]
    with pytest.raises(IndexError, match="the items do not fit 2 rows"):
        f(jnp.asarray(V), 0.0)


def test_another_name_of_the_list_sees_nothing_silently() -> None:
    @ag.function
    def f(v):
        out = []
        same = out
        for x in v:
            if x > 0:
                out.append(x)
        return same

    with pytest.raises(ag.StagingError, match="AG405"):
        f(jnp.asarray(V))


def test_hints_swallow_no_exception() -> None:
    assert "nonlocal" not in ag.to_code(digits)


def test_a_list_that_other_code_holds_does_not_grow_on_one_side() -> None:
    def alias(x):
        found = [1.0]
        same = found
        if x > 0:
            found += [2.0]
        return same

    def parameter(found, x):
        if x > 0:
            found += [x]
        return x

    def method(v):
        found = []
        push = found.append
        for x in v:
            push(x)
            if x > 2:
                found.append(-x)
        return found

    for f, args in ((alias, (1.0,)), (parameter, ([1.0], 2.0)), (method, (jnp.asarray(V),))):
        with pytest.raises(ag.StagingError, match="AG405 `found`, a `list`, is changed in a compiled loop or branch"):
            ag.function(f)(*args)


def _last_of_each(ts: Any) -> Any:
    stack: Any = []
    for t in ts:
        if t >= 0:
            stack.append(t * 1.0)
        else:
            b = stack.pop()
            stack.append(b + 100)
    return stack.pop(), len(stack)


def _merged(ts: Any) -> Any:
    out: Any = []
    for t in ts:
        a, b = abs(t), abs(t) + 2
        if len(out) > 0 and out[-1][1] >= a:
            first, last = out.pop()
            a, b = first, max(b, last)
        out.append((a, b))
    return out


def _rising(ts: Any) -> Any:
    s: Any = []
    area = 0
    for t in ts:
        while len(s) > 0 and s[-1] > t:
            s.pop()
        s.append(t)
        area += len(s)
    return s, area


def _begun_again(ts: Any) -> Any:
    run: Any = []
    for t in ts:
        if t < 0:
            run.clear()
        run.append(t)
    return sum(run), len(run)


def _popped_first(ts: Any) -> Any:
    s: Any = []
    for t in ts:
        if t < 0:
            s.pop()
        s.append(t)
    return s, len(s), s[-1]


def _two_at_once(ts: Any) -> Any:
    s: Any = []
    for t in ts:
        if t < 0:
            s.pop()
        s.extend([t, t])
    return s


def _in_expressions(ts: Any) -> Any:
    stack, count = [1], 0
    for t in ts:
        if t >= 0:
            stack.append(t)
        elif len(stack) > 1:
            stack.append(stack.pop() - stack.pop())
            count += stack.pop()
            stack.append(t)
        count += 1
    if stack.pop() > 2:
        count += 100
    return count, stack


def _never_filled(ts: Any) -> Any:
    s: Any = []
    for t in ts:
        if t > 100:
            s.pop()
    return s


@pytest.mark.parametrize("f", [_last_of_each, _merged, _rising, _begun_again, _popped_first, _two_at_once, _in_expressions, _never_filled])
@pytest.mark.parametrize("ts", [[3, 4, -1, 2, -5], [3, 1, 2, 5, 0], [1, -1, -2, 7], [-2, 3], [200]])
def test_what_pop_and_clear_take_away_is_gone(f: Any, ts: list[int]) -> None:
    def outcome(run: Any) -> Any:
        try:
            return jax.tree.map(float, run())
        except IndexError as error:
            return str(error).splitlines()[0]

    assert outcome(lambda: ag.function(f)(jnp.array(ts))) == outcome(lambda: f(ts))


def weights(x: Any) -> Any:
    w = [1.0, 2.0] * np.ones(2)
    for i in range(3):
        w += i
    return w * x


def shifted(x: Any) -> Any:
    w = [1.0, 2.0] + np.ones(2)
    if x > 0:
        w += 2
    return w * x


def padded(x: Any) -> Any:
    w = [0.0] * 2 + [x]
    if x > 0:
        w.append(x * 2)
    return len(w), sum(w)


@pytest.mark.parametrize("f", [weights, shifted, padded])
def test_what_a_list_times_or_plus_something_is(f: Any) -> None:
    """An array of NumPy's, to which `+=` adds, or a list."""
    for x in (1.5, -1.5):
        for form in (ag.convert(f), jax.jit(ag.convert(f)), ag.function(f)):
            for got, want in zip(jax.tree.leaves(form(x)), jax.tree.leaves(f(x)), strict=True):
                np.testing.assert_allclose(got, want)
