"""Items 31 and 32 of the articles: static graphs; and what the eager style says of a symbolic value (item 5)."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy
import numpy as np
import pytest

import autograph as ag
from autograph.runtime.errors.errors import GraphError

pytest.importorskip("optax", reason="optimizers need the extra `train`")

graph = ag.graph
jnp, nn = graph.ops(jax.numpy), graph.ops(jax.nn)


@pytest.fixture
def session() -> Any:
    with graph.Graph().as_default(), graph.Session() as session:
        yield session


def test_31_build_first_and_run_afterwards(session: Any) -> None:
    x = graph.placeholder("float32", [None, 2], name="x")
    w = ag.Variable([[1.0], [2.0]], name="w")
    y = x @ w + 1
    assert y.shape == (None, 1) and y.dtype == np.float32 and not hasattr(y, "value")
    out = session.run(y, feed_dict={x: [[1.0, 1.0], [0.0, 3.0]]})
    assert type(out) is np.ndarray and out.tolist() == [[4.0], [7.0]]
    assert y.eval({x: np.zeros((1, 2))}).tolist() == [[1.0]]
    w.assign([[0.0], [0.0]])
    assert session.run({"y": y, "twice": (x * 2,), "w": w}, {x: np.ones((1, 2))})["y"].tolist() == [[1.0]]


def test_31_only_what_is_needed_is_evaluated(session: Any) -> None:
    ran: list[str] = []

    def counted(name: str) -> Any:
        @graph.op
        def through(x: Any) -> Any:
            print(name)
            return x

        return through

    x, unused = graph.placeholder("float32", []), graph.placeholder("float32", [], name="unused")
    a = counted("a")(x)
    b, c = counted("b")(a * 2), counted("c")(a + unused)
    d = counted("d")(b + a)

    def prints(fetches: Any, feeds: Any) -> tuple[Any, list[str]]:
        import contextlib
        import io

        with contextlib.redirect_stdout(io.StringIO()) as out:
            found = session.run(fetches, feeds)
            jax.effects_barrier()
        return found, out.getvalue().split()

    assert prints(d, {x: 1.0}) == (3.0, ["a", "b", "d"])  # each once, and `c` not at all
    assert prints([a, a, b], {x: 1.0}) == ([1.0, 1.0, 2.0], ["a", "b"])
    assert prints(d, {a: 5.0, b: 1.0}) == (6.0, ["d"])  # a node that is fed is not computed
    with pytest.raises(GraphError, match="the placeholder `unused` is needed and not fed"):
        session.run(c, {x: 1.0})
    assert ran == []


def test_32_all_gradients_in_one_evaluation(session: Any) -> None:
    x, times = graph.placeholder("float32", [None, 3]), ag.Variable(0, trainable=False)

    @graph.op
    def counted(h: Any) -> Any:
        times.assign_add(1)
        return h

    variables = [ag.Variable(np.full((3, 3), 0.1 * (k + 1), np.float32), name=f"w{k}") for k in range(6)]
    h = x
    for w in variables:
        h = jnp.tanh(counted(h) @ w)
    loss = jnp.mean(h**2)
    pairs = graph.gradients(loss)
    assert [v for _, v in pairs] == variables
    data = np.random.default_rng(0).normal(size=(4, 3)).astype(np.float32)
    values = session.run([loss, *(g for g, _ in pairs)], {x: data})
    assert times == 6  # once for each layer: not for each gradient, and not again for the loss

    def plain(ws: Any) -> Any:
        h = data
        for w in ws:
            h = jax.numpy.tanh(h @ w)
        return jax.numpy.mean(h**2)

    want, grads = jax.value_and_grad(plain)([v.value for v in variables])
    np.testing.assert_allclose(values[0], want, rtol=1e-5)
    for a, b in zip(values[1:], grads):
        np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-7)


def test_32_gradients_fetched_changed_outside_and_applied(session: Any) -> None:
    w = ag.Variable(3.0, name="w")
    optimizer = ag.optimizers.GradientDescentOptimizer(0.1)
    loss = graph.op(lambda: w * 5.0)  # without an input it is a value
    assert float(loss()) == 15.0
    x = graph.placeholder("float32", [])
    pairs = optimizer.compute_gradients(w * x)
    assert [v for _, v in pairs] == [w]
    given = [(graph.placeholder(g.dtype, g.shape, name=f"given/{v.name}"), v) for g, v in pairs]
    apply = optimizer.apply_gradients(given)
    for _ in range(5):
        found = session.run([g for g, _ in pairs], {x: 5.0})
        assert session.run(apply, {p: 0.1 * g for (p, _), g in zip(given, found)}) is None
    np.testing.assert_allclose(w.value, 3.0 - 5 * 0.1 * 0.5, rtol=1e-6)
    train = optimizer.minimize(w * x)
    session.run(train, {x: 5.0})
    np.testing.assert_allclose(w.value, 2.25, rtol=1e-6)
    assert optimizer.iterations == 6


def test_31_layers_losses_and_unknown_batches(session: Any) -> None:
    ag.set_seed(0)
    images = graph.placeholder("float32", [None, 8, 8, 1], name="images")
    labels = graph.placeholder("int32", [None], name="labels")
    keep = graph.placeholder_with_default(1.0, [], name="keep")
    h = ag.layers.Conv2D(4, 3, activation="relu")(images)
    h = ag.layers.MaxPooling2D()(h)
    assert h.shape == (None, 3, 3, 4)
    h = graph.dropout(ag.layers.Flatten()(h), keep)
    logits = ag.layers.Dense(3)(h)
    loss = graph.op(ag.losses.sparse_softmax_cross_entropy)(labels, logits)
    right = jnp.mean(jnp.equal(jnp.argmax(logits, -1), labels))
    train = ag.optimizers.Adam(0.01).minimize(loss)
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(30, 8, 8, 1)).astype(np.float32), np.arange(30) % 3
    for _ in range(60):
        session.run(train, {images: x, labels: y, keep: 0.9})
    accuracy, last = session.run([right, loss], {images: x, labels: y})
    assert accuracy > 0.9 and last < 0.5
    assert session.run(logits, {images: x[:7]}).shape == (7, 3)


def test_31_dropout_is_the_same_in_gradients_and_another_each_run(session: Any) -> None:
    x, keep = graph.placeholder("float32", [None]), graph.placeholder("float32", [])
    w = ag.Variable(np.ones(100, np.float32))
    dropped = graph.dropout(x * w, keep)
    [(gradient, _)] = graph.gradients(jnp.sum(dropped), [w])
    runs = [session.run([dropped, gradient], {x: np.ones(100), keep: 0.5}) for _ in range(2)]
    for value, by in runs:
        np.testing.assert_array_equal(value, by)
        assert set(value.tolist()) == {0.0, 2.0}
    assert (runs[0][0] != runs[1][0]).any()


def test_31_assignments_in_the_order_of_the_graph(session: Any) -> None:
    v, x = ag.Variable(1.0, name="v"), graph.placeholder("float32", [])
    before = v + x
    put = graph.assign(v, x * 10)
    after = v + x
    assert session.run([after, put, before], {x: 2.0}) == [22.0, 20.0, 3.0] and v == 20.0
    assert session.run(after, {x: 2.0}) == 22.0 and session.run(graph.group(put, after), {x: 1.0}) is None and v == 10.0


def test_31_second_order_and_gradients_by_nodes(session: Any) -> None:
    x = graph.placeholder("float32", [])
    y = x**3
    [(first, _)] = graph.gradients(y, x)
    [(second, _)] = graph.gradients(first, [x])
    assert session.run([y, first, second], {x: 2.0}) == [8.0, 12.0, 12.0]


def test_31_numpys_functions_and_methods_wait_too(session: Any) -> None:
    x = graph.placeholder("float32", [None, 3])
    made = [
        np.mean(np.exp(x)),
        x.reshape(-1),
        x.T,
        np.ones(3, np.float32) * x,
        1 - x,
        x[:, 0],
        -x,
        x.sum(axis=0),
        ag.Variable(2.0) * x,
        x.max(),
    ]
    data = np.arange(6, dtype=np.float32).reshape(2, 3)
    want = [np.exp(data).mean(), data.reshape(-1), data.T, data, 1 - data, data[:, 0], -data, data.sum(0), 2 * data, data.max()]
    for got, expected in zip(session.run(made, {x: data}), want):
        np.testing.assert_allclose(got, expected, rtol=1e-6)
    assert made[1].shape == (None,) and made[2].shape == (3, None)


def test_31_control_flow_in_a_converted_function_is_part_of_the_graph(session: Any) -> None:
    @graph.op
    def collatz(n: Any) -> Any:
        steps = 0
        while n != 1:
            n = n // 2 if n % 2 == 0 else 3 * n + 1
            steps += 1
        return steps

    n = graph.placeholder("int32", [])
    assert session.run(collatz(n), {n: 27}) == 111


def test_05_an_if_on_a_symbolic_value_names_conversion(session: Any) -> None:
    x = graph.placeholder("float32", [], name="x")

    def my_relu(x: Any) -> Any:
        if x > 0:
            return x
        return 0.0 * x

    with pytest.raises(GraphError, match=r"the truth of `gt` is asked for.*\n(.*\n)+.*@ag.graph.op"):
        my_relu(x)
    relu = graph.op(my_relu)
    assert [session.run(relu(x), {x: v}) for v in (5.0, -5.0)] == [5.0, 0.0] and float(relu(-5.0)) == 0.0


def test_31_what_is_wrong(session: Any) -> None:
    x = graph.placeholder("float32", [None, 3], name="x")
    with pytest.raises(GraphError, match=r"`x` is float32\[\?, 3\], and is fed float32\[2, 4\]"):
        session.run(x * 2, {x: np.ones((2, 4), np.float32)})
    with pytest.raises(GraphError, match="and is fed complex64"):
        session.run(x * 2, {x: np.ones((2, 3), np.complex64)})
    with pytest.raises(GraphError, match="`matmul` does not take `x`"):
        x @ np.ones((4, 4), np.float32)
    with pytest.raises(GraphError, match="which computes at once"):
        jax.numpy.sum(x)
    with pytest.raises(GraphError, match="the value of `x`"):
        float(x)
    with pytest.raises(GraphError, match="a `float` is fetched"):
        session.run([x, 2.0], {x: np.ones((1, 3))})
    with pytest.raises(GraphError, match="the keys of `feed_dict`"):
        session.run(x, {"x": np.ones((1, 3))})
    with pytest.raises(GraphError, match="depends on no trainable Variable"):
        graph.gradients(x * 2)
    with graph.Graph().as_default():
        other = graph.placeholder("float32", [])
        with pytest.raises(GraphError, match="`x` and `placeholder` are of two graphs"):
            x + other
    with pytest.raises(GraphError, match="of another graph than the session"):
        session.run(other, {other: 1.0})
    with pytest.raises(GraphError, match="JAX computes in 32 bits"):
        graph.placeholder("float64", [])
    lonely = graph.Session
    assert issubclass(graph.InteractiveSession, lonely)


def test_31_each_graph_and_name_by_itself() -> None:
    with graph.Graph().as_default() as one:
        a, b = graph.placeholder("float32", [], name="x"), graph.placeholder("float32", [], name="x")
        (a + b) * 2
    assert str(one).splitlines() == [
        "x: placeholder float32[]", "x_1: placeholder float32[]", "add: add(x, x_1) float32[]", "mul: mul(add, 2) float32[]"
    ]  # fmt: skip
    with pytest.raises(GraphError, match="outside of a session"):
        a.eval()
    assert graph.Session(one).run(a + b, {a: 1, b: 2}) == 3.0


def test_32_gradients_outside_of_the_block_and_of_a_penalty_on_gradients() -> None:
    w = ag.Variable(2.0, name="w")
    with graph.Graph().as_default() as one:
        x = graph.placeholder("float32", [], name="x")
        loss = w * x * w
    [(first, _)] = graph.gradients(loss)  # the graph is that of the loss
    penalty = loss + first**2
    [(second, v)] = graph.gradients(penalty)  # which depends on `w` through a gradient, too
    assert first.graph is second.graph is one and v is w
    assert graph.Session(one).run([first, second], {x: 3.0}) == [12.0, 12.0 + 2 * 12.0 * 6.0]


def test_31_a_variable_is_given_what_another_holds(session: Any) -> None:
    a, b = ag.Variable(1.0), ag.Variable(5.0)
    copy = graph.assign(a, b)
    assert float(a) == 1.0
    assert float(session.run(copy)) == float(a) == 5.0


def test_32_gradients_by_variables_that_functions_are_given(session: Any) -> None:
    x, w = graph.placeholder("float32", [None, 3]), ag.Variable(np.ones((3, 2), np.float32))
    given = np.arange(12, dtype=np.float32).reshape(4, 3)
    want = given.sum(0)[:, None] * np.ones(2)
    for y in (x @ w, jnp.matmul(x, w), jnp.dot(x, w), x.dot(w), np.matmul(x, w), jnp.einsum("ij,jk", x, w), nn.relu(jnp.matmul(x, w))):
        ((gradient, _),) = graph.gradients(y.sum(), [w])
        np.testing.assert_allclose(session.run(gradient, {x: given}), want, rtol=1e-6)


def test_31_an_interactive_session_is_there_until_it_is_closed() -> None:
    with graph.Graph().as_default():
        session = graph.InteractiveSession()
        x = graph.placeholder("float", [None])
        assert float((x * 2).sum().eval({x: [1.0, 2.0]})) == 6.0
        session.close()
        with pytest.raises(GraphError, match="outside of a session"):
            x.eval({x: [1.0]})


def test_31_what_is_no_placeholder_or_feed(session: Any) -> None:
    x, n = graph.placeholder("float32", [None]), graph.placeholder("int32", [2])
    for make, why in (
        (lambda: graph.placeholder([None, 3]), "the dtype .None, 3."),
        (lambda: graph.placeholder("float32", 3), "the shape 3"),
        (lambda: graph.placeholder("float32", [-1, 3]), "the shape .-1, 3."),
        (lambda: session.run(x, [1.0]), "`feed_dict` is a `list`"),
        (lambda: session.run(x, {x: x * 2}), "is fed the node"),
        (lambda: session.run(x, {x: "abc"}), "is fed a `str`"),
        (lambda: session.run(x, {x: None}), "is fed a `NoneType`"),
        (lambda: session.run(n * 1, {n: np.array([2**40, 3])}), "is fed integers beyond it"),
    ):
        with pytest.raises(GraphError, match=why):
            make()


def test_losses_of_nodes() -> None:
    with graph.Graph().as_default(), graph.Session() as session:
        x, y = graph.placeholder("float32", [None, 3]), graph.placeholder("int32", [None])
        entropy, error = ag.losses.sparse_softmax_cross_entropy(y, x), ag.losses.mean_squared_error(x, x * 2)
        got = session.run([entropy, error], {x: np.ones((2, 3), np.float32), y: np.array([0, 2], np.int32)})
    np.testing.assert_allclose(got, [np.log(3.0), 1.0], rtol=1e-6)


def test_variables_are_read_when_a_session_runs() -> None:
    w = ag.Variable([3.0, 4.0], name="w")
    with graph.Graph().as_default(), graph.Session() as session:
        x = graph.placeholder("float32", [])
        fetched = [w**2, 2 - w, x * w**2, w[1], w.sum(), jnp.max(w), w > 3.5, -w]
        [(gradient, _)] = graph.gradients((x * w**2).sum(), [w])
        for held in ([3.0, 4.0], [5.0, 1.0]):
            w.assign(held)
            a, b = held
            want = [[a * a, b * b], [2 - a, 2 - b], [2 * a * a, 2 * b * b], b, a + b, max(a, b), [a > 3.5, b > 3.5], [-a, -b]]
            for got, expected in zip(session.run(fetched, {x: 2.0}), want, strict=True):
                np.testing.assert_allclose(got, expected)
            np.testing.assert_allclose(session.run(gradient, {x: 2.0}), [4 * a, 4 * b])
        assert w.value.tolist() == [5.0, 1.0] and w.shape == (2,)
        with pytest.raises(GraphError, match="which computes at once"):
            jax.numpy.sum(w)
    assert (w * 2).tolist() == [10.0, 2.0] and float(jax.numpy.sum(w)) == 6.0
