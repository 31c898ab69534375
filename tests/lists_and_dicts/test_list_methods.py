"""`pop(i)`, `insert`, `remove`, `reverse` and `del items[i]` of lists: at data-dependent places, and in loops that make the list longer."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import autograph as ag


class Queue:
    """A list behind methods."""

    def __init__(self) -> None:
        self.items: list[Any] = []

    def push(self, x: Any) -> None:
        self.items.append(x)

    def push_first(self, x: Any) -> None:
        self.items.insert(0, x)

    def first(self) -> Any:
        return self.items.pop(0)

    def drop(self, i: int) -> None:
        del self.items[i]

    def shorten(self) -> None:
        del self.items[:-2]

    def __len__(self) -> int:
        return len(self.items)


def breadth_first(adjacent: Any, start: Any) -> Any:
    n = adjacent.shape[0]
    distance = jnp.full(n, -1)
    distance[start] = 0
    queue = [start]
    with ag.loop(max_steps=n):
        while queue:
            u = queue.pop(0)
            for v in range(n):
                if adjacent[u, v] and distance[v] < 0:
                    distance[v] = distance[u] + 1
                    queue.append(v)
    return distance


def insertion_sort(xs: Any) -> Any:
    out: list[Any] = []
    for x in xs:
        k = 0
        while k < len(out) and out[k] < x:
            k += 1
        out.insert(k, x)
    return jnp.stack(out)


def inserted_from_the_end(xs: Any) -> Any:
    out: list[Any] = []
    for x in xs:
        if x > 0:
            out.insert(-1, x)
        else:
            out.insert(100, x)
    return out[0], out[1], out[-1], len(out)


def josephus(people: Any, step: Any, left: Any) -> Any:
    circle = list(range(10))
    i = 0
    while len(circle) > left:
        i = (i + step - 1) % len(circle)
        circle.pop(i)
    return circle[0], len(people)


def removed(xs: Any) -> Any:
    out = [1, 2, 3, 4, 5]
    for x in xs:
        out.remove(x)
    return len(out), ag.padded(out, 5)


def removed_if_there(xs: Any) -> Any:
    out = [1, 2, 3, 4, 5]
    for x in xs:
        if x in out:
            out.remove(x)
    return len(out), ag.padded(out, 5)


def deleted(xs: Any) -> Any:
    out = [1, 2, 3]
    for x in xs:
        del out[x]
    return len(out)


def slices_deleted(xs: Any) -> Any:
    out: list[Any] = []
    for x in xs:
        out.append(x)
        if x > 2:
            del out[1:-1]
        elif len(out) > 3:
            del out[:2]
    return ag.padded(out, 8), len(out)


def turned_round(xs: Any) -> Any:
    out: list[Any] = []
    for x in xs:
        if x > 2:
            out.append(x)
        else:
            out.reverse()
    return ag.padded(out, 8)


def last_three(xs: Any) -> Any:
    out: list[Any] = []
    for x in xs:
        if x != 0:
            out.append(x)
        if len(out) > 3:
            out.pop(0)
    return ag.padded(out, 3), sum(out)


def taken_in_an_expression(xs: Any) -> Any:
    out = [1, 2, 3]
    total, i = 0, 0
    while out:
        total = total * 10 + out.pop(i)
        if xs[0] > 5:
            out.append(1)
    return total


def tuples(xs: Any) -> Any:
    out: list[Any] = []
    for x in xs:
        if x > 0:
            out.insert(0, (x, x * 0.5))
        elif (2, 1.0) in out:
            out.remove((2, 1.0))
    return len(out), out[0]


def arrays(xs: Any) -> Any:
    out: list[Any] = []
    for x in xs:
        if x > 0:
            out.insert(0, jnp.array([x, x * 2]))
        else:
            del out[-1]
    return len(out), out[0]


def an_error_before(xs: Any) -> Any:
    out: list[Any] = []
    for x in xs:
        if x < 0:
            raise ValueError("negative")
        out.insert(0, x)
        if x > 2:
            out.pop(0)
    return len(out)


def length_that_is_known(xs: Any) -> Any:
    out = [1, 2, 3, 4]
    out.insert(xs[0], xs[1])
    taken = out.pop(xs[2])
    del out[xs[3]]
    out.remove(xs[4])
    return out, taken, len(out)


def of_an_object(xs: Any) -> Any:
    queue = Queue()
    queue.items = [1, 2, 3, 4]
    queue.items.insert(xs[0], xs[1])
    taken = queue.items.pop(xs[2])
    del queue.items[xs[3]]
    queue.items.remove(xs[4])
    return queue.items, taken, len(queue)


def a_queue(xs: Any) -> Any:
    queue = Queue()
    total = 0
    for x in xs:
        if x > 0:
            queue.push(x)
        elif len(queue) > 0:
            total = total * 10 + queue.first()
    return total, len(queue)


def a_queue_that_is_emptied(xs: Any) -> Any:
    queue = Queue()
    total = 0
    for x in xs:
        queue.push(x)
        if x > 2 and len(queue) < 4:
            queue.push_first(x - 1)
    while queue:
        total = total * 10 + queue.first()
    return total, bool(queue), not queue


def a_queue_from_which_items_are_dropped(xs: Any) -> Any:
    queue = Queue()
    for x in xs:
        if x > 0:
            queue.push_first(x)
        else:
            queue.drop(-1)
    return len(queue), ag.padded(queue.items, 8)


def a_queue_that_is_shortened(xs: Any) -> Any:
    queue = Queue()
    for x in xs:
        queue.push(x)
        if x > 0:
            queue.shorten()
        else:
            queue.items.reverse()
    return len(queue), ag.padded(queue.items, 8)


def in_a_dict(xs: Any) -> Any:
    table: dict[str, list[Any]] = {"queue": []}
    total = 0
    for x in xs:
        if x > 0:
            table["queue"].insert(0, x)
        else:
            total = total * 10 + table["queue"].pop(0)
    return total, len(table["queue"])


def two_lists_in_a_dict(xs: Any) -> Any:
    table: dict[str, list[Any]] = {"even": [], "odd": []}
    for x in xs:
        if x % 2 == 0:
            table["even"].append(x)
        else:
            table["odd"].append(x)
    return len(table["even"]), ag.padded(table["odd"], 8)


def an_underscore(xs: Any) -> Any:
    _ = 7
    out = [xs[0], xs[1], xs[2]]
    for k in range(2):
        if xs[k] > 2:
            out.pop()
    return _, len(out)


def counted(xs: Any) -> Any:
    once: list[Any] = []
    for x in xs:
        if once.count(x) == 0:
            once.append(x)
    return once, once.count(xs[0]), once.index(xs[-1]), once.index(xs[-1], -1 - xs[0])


def pairs_counted(xs: Any) -> Any:
    out = []
    for x in xs:
        if x > 0:
            out.append((x, x + 1))
    return out.count((xs[0], xs[0] + 1)), out.index((xs[1], 5), 1, 3)


def of_known_length(xs: Any) -> Any:
    values = [xs[0] * 2, xs[1] + 1, xs[0] - xs[1]]
    best = values.index(max(values))
    total = 0
    for a in values:
        if a > 0:
            total += ("a", "b", "a").count("a") + [1, 2].index(2) + [xs[0], 4].count(a)
    values.remove(max(values))
    return best, total, (xs[0], xs[1], 3).index(3), [xs[0], xs[1], xs[0]].index(xs[0], 1), ((xs[0], 2), (xs[1], 1)).count((4, 1)), values


def moved_to_the_front(xs: Any) -> Any:
    table = [0, 1, 2, 3, 4]
    out = []
    for x in xs:
        k = table.index(x)
        out.append(k)
        table.insert(0, table.pop(k))
    return out, table


def turned_by_one(xs: Any) -> Any:
    items = [1, 2, 3, 4]
    for x in xs:
        if x > 2:
            items.append(items.pop(0))
        else:
            items.insert(0, items.pop())
    return items


def sorted_by_a_heap(xs: Any) -> Any:
    heap: list[Any] = []
    out = []
    for x in xs:
        heap.append(x)
        if len(heap) > 3:
            out.append(heap.pop(heap.index(min(heap))))
    with ag.loop(max_steps=3):
        while heap:
            out.append(heap.pop(heap.index(min(heap))))
    return out


def weight(a: Any, b: Any = 0) -> Any:
    return a * 2 + b


def taken_in_calls(xs: Any) -> Any:
    items, total = [1, 2, 3], 0
    for x in xs:
        if x > 1:
            total += weight(items.pop(0), b=items.pop())
            items.extend([x, x])
        else:
            items.append(max(items.pop(), x))
    return total, items


def taken_into_items(xs: Any) -> Any:
    items, order = [1, 2, 3, 4, 5], [0, 0]
    for x in xs:
        if x > 1:
            items[0] = items.pop()
        else:
            order[x] = order[0] = items.pop(0) + xs[items.pop(0) - 3]
    return items, order


def taken_in_an_index(xs: Any) -> Any:
    todo, order = [0], []
    with ag.loop(max_steps=10):
        while todo:
            at = xs[todo.pop()]
            order.append(int(at))
            if at > 0:
                todo.insert(0, at)
    return order


def whole(*values: int) -> Any:
    return np.array(values, np.int32)


_RNG = np.random.RandomState(0)
WORK: list[tuple[Callable[..., Any], tuple[Any, ...]]] = [
    (breadth_first, (_RNG.rand(6, 6) < 0.3, np.int32(2))),
    (insertion_sort, (_RNG.rand(6).astype(np.float32),)),
    (inserted_from_the_end, (_RNG.randn(6).astype(np.float32),)),
    (josephus, (whole(1), np.int32(3), np.int32(1))),
    (josephus, (whole(1), np.int32(2), np.int32(3))),
    (removed, (whole(2, 3, 5),)),
    (removed, (whole(2, 7, 5),)),
    (removed_if_there, (whole(2, 7, 5),)),
    (removed_if_there, (whole(1, 1, 1),)),
    (deleted, (whole(0, -1, 0),)),
    (deleted, (whole(0, 0, 0, 0),)),
    (deleted, (whole(3, 0),)),
    (slices_deleted, (whole(1, 2, 3, 1, 1, 4, 1),)),
    (slices_deleted, (whole(1, 1, 1, 1, 1),)),
    (turned_round, (whole(3, 4, 1, 5, 2, 6),)),
    (last_three, (whole(1, 2, 0, 3, 4, 5),)),
    (taken_in_an_expression, (whole(0),)),
    (tuples, (whole(1, 2, 3, 0, 4),)),
    (arrays, (whole(1, 2, 3, 0, 4),)),
    (arrays, (whole(1, 0, 0, 3),)),
    (an_error_before, (whole(1, 2, 3, 1),)),
    (an_error_before, (whole(1, 2, 3, -1),)),
    (length_that_is_known, (whole(0, 7, 1, -1, 2),)),
    (length_that_is_known, (whole(-1, 7, 1, -1, 9),)),
    (length_that_is_known, (whole(9, 7, -9, -1, 2),)),
    (of_an_object, (whole(0, 7, 1, -1, 2),)),
    (a_queue, (whole(1, 2, 0, 3, 0, 0, 4),)),
    (a_queue_that_is_emptied, (whole(1, 3, 2),)),
    (a_queue_from_which_items_are_dropped, (whole(1, 2, 0, 3, 0, 5, 4),)),
    (a_queue_from_which_items_are_dropped, (whole(1, 0, 0),)),
    (a_queue_that_is_shortened, (whole(-1, 2, 0, 3, 0, 0, 4),)),
    (in_a_dict, (whole(1, 2, 0, 3, 0),)),
    (in_a_dict, (whole(1, 0, 0),)),
    (two_lists_in_a_dict, (whole(1, 2, 0, 3, 0),)),
    (an_underscore, (whole(3, 4, 1),)),
    (counted, (whole(1, 3, 1, 2, 3, 2),)),
    (counted, (whole(1, 1),)),
    (pairs_counted, (whole(4, 4, 1, 4),)),
    (of_known_length, (whole(1, 4),)),
    (of_known_length, (whole(5, 2),)),
    (moved_to_the_front, (whole(3, 3, 1, 4, 0),)),
    (turned_by_one, (whole(3, 1, 4, 5),)),
    (sorted_by_a_heap, (whole(5, 3, 8, 1, 9, 2),)),
    (taken_in_calls, (whole(2, 1, 3),)),
    (taken_into_items, (whole(2, 1, 3),)),
    (taken_into_items, (whole(0, 2),)),
    (taken_in_an_index, (whole(2, 0, 3, 1),)),
]


def outcome(f: Callable[..., Any], args: tuple[Any, ...]) -> Any:
    try:
        return jax.tree.map(lambda x: np.asarray(x).tolist(), f(*args))
    except (IndexError, ValueError) as error:
        return type(error), str(error)


@pytest.mark.parametrize("f, args", WORK, ids=lambda x: getattr(x, "__name__", ""))
def test_methods_do_what_python_does(f: Callable[..., Any], args: tuple[Any, ...]) -> None:
    assert outcome(ag.function(f), jax.tree.map(jnp.asarray, args)) == outcome(ag.convert(f), copy.deepcopy(args))


def test_an_index_is_a_whole_number() -> None:
    @ag.function
    def f(xs: Any) -> Any:
        out: list[Any] = []
        for x in xs:
            out.insert(x, x)
        return len(out)

    with pytest.raises(TypeError, match="cannot be interpreted as an integer"):
        f(jnp.ones(3))


@pytest.mark.parametrize("f, args", [(pairs_counted, whole(4, 1)), (pairs_counted, whole(4, -1, 4)), (counted, whole(0, 1, 0))])
def test_an_index_of_what_is_not_there(f: Callable[..., Any], args: Any) -> None:
    for g in (ag.convert(f), ag.function(f)):
        with pytest.raises(ValueError, match="not in list"):
            g(args)


def test_a_slice_is_stored_into() -> None:
    @ag.function
    def f(xs: Any) -> Any:
        out: list[Any] = []
        for x in xs:
            if x > 0:
                out.append(x)
        out[:1] = [7]
        return len(out)

    with pytest.raises(ag.StagingError, match="AG405 it is data-dependent how long `out` is, and a slice of it is stored into"):
        f(jnp.ones(3))


def test_what_is_looked_for_is_a_number() -> None:
    @ag.function
    def f(xs: Any) -> Any:
        out: list[Any] = []
        for x in xs:
            if x > 0:
                out.append(jnp.array([x, x]))
            else:
                out.remove(jnp.array([1, 1]))
        return len(out)

    with pytest.raises(ag.StagingError, match=r"AG405 .*`out`.*looked for in it that is no number"):
        f(jnp.array([1, 0]))


class Account:
    """An object whose truth and length are its own."""

    def __init__(self) -> None:
        self.n: Any = 0

    def __bool__(self) -> bool:
        return bool(self.n > 2)

    def __len__(self) -> int:
        return 5 - self.n


@pytest.mark.parametrize("values", [(1, 1, 2, 1), (1, 1, -2, 1), (1, 1, 9, 1)])
def test_truth_and_length_of_objects(values: tuple[int, ...]) -> None:
    def f(xs: Any) -> Any:
        account = Account()
        for x in xs:
            if not account:
                account.n += x
        return account.n, bool(account), 1 if account else 2, len(account)

    assert outcome(ag.function(f), (jnp.array(values),)) == outcome(f, (whole(*values),))
