"""MAML on sinusoids (paper, 15.3): 25 tasks of 10 + 10 points, 1-40-40-1 relu net, one inner SGD step, Adam outside.

Everything is functional (weights and Adam moments are loop variables), so that each call computes the same thing.
"""

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

RTOL, ATOL = 2e-3, 2e-5
SIZES = {"paper": dict(meta_steps=10), "one": dict(meta_steps=1), "check": dict(meta_steps=2, tasks=3), "long": dict(meta_steps=100)}
INNER_RATE, META_RATE, B1, B2, EPS = 1e-3, 1e-3, 0.9, 0.999, 1e-7
LAYERS = (1, 40, 40, 1)


def inputs(meta_steps, tasks=25, points=20):
    r = np.random.RandomState(5)
    amp, phase = r.uniform(0.1, 5, (meta_steps, tasks, 1, 1)), r.uniform(0, np.pi, (meta_steps, tasks, 1, 1))
    x = r.uniform(-5, 5, (meta_steps, tasks, points, 1))
    y = amp * np.sin(x - phase)
    ws = []
    for i, o in zip(LAYERS[:-1], LAYERS[1:]):
        ws += [(r.randn(i, o) * 0.1).astype(np.float32), np.zeros(o, np.float32)]
    return (x.astype(np.float32), y.astype(np.float32), *ws)


def static(**_):
    return {"inner_steps": 1}


def model(x, w):
    x = jax.nn.relu(x @ w[0] + w[1])
    x = jax.nn.relu(x @ w[2] + w[3])
    return x @ w[4] + w[5]


def mse(w, x, y):
    return jnp.mean(jnp.square(model(x, w) - y))


def adam(w, m, v, g, t):
    m = [B1 * a + (1 - B1) * b for a, b in zip(m, g)]
    v = [B2 * a + (1 - B2) * b * b for a, b in zip(v, g)]
    w = [a - META_RATE * (b / (1 - B1**t)) / (jnp.sqrt(c / (1 - B2**t)) + EPS) for a, b, c in zip(w, m, v)]
    return w, m, v


def adapt(w, x, y, inner_steps):
    for _ in jnp.arange(inner_steps):
        g = jax.grad(mse)(w, x, y)
        w = [a - INNER_RATE * b for a, b in zip(w, g)]
    return w


def meta_loss(w, xs, ys, inner_steps):
    half = xs.shape[1] // 2
    total = 0.0
    for i in jnp.arange(xs.shape[0]):
        xi, yi = xs[i], ys[i]
        wi = adapt(w, xi[:half], yi[:half], inner_steps)
        total += mse(wi, xi[half:], yi[half:])
    return total / xs.shape[0]


def metalearn(x, y, *w, inner_steps):
    w = list(w)
    m = [jnp.zeros_like(a) for a in w]
    v = [jnp.zeros_like(a) for a in w]
    loss = 0.0
    for s in jnp.arange(x.shape[0]):
        loss, g = jax.value_and_grad(meta_loss)(w, x[s], y[s], inner_steps)
        w, m, v = adam(w, m, v, g, s + 1.0)
    return (*w, loss)


IMPERATIVE = metalearn


def adapt_by_hand(w, x, y, inner_steps):
    def step(_, w):
        return [a - INNER_RATE * b for a, b in zip(w, jax.grad(mse)(w, x, y))]

    return step(0, w) if inner_steps == 1 else lax.fori_loop(0, inner_steps, step, w)


def outer(x, y, w, meta):
    def step(c, xy):
        w, m, v, s, _ = c
        loss, g = jax.value_and_grad(meta)(w, *xy)
        w, m, v = adam(w, m, v, g, s + 1.0)
        return (w, m, v, s + 1, loss), None

    zeros = [jnp.zeros_like(a) for a in w]
    (w, _, _, _, loss), _ = lax.scan(step, (w, zeros, zeros, jnp.int32(0), jnp.float32(0)), (x, y))
    return (*w, loss)


def by_hand(x, y, *w, inner_steps):
    """The same loop over the tasks as in the other versions, as a scan."""

    def meta(w, xs, ys):
        half = xs.shape[1] // 2

        def task(total, xy):
            xi, yi = xy
            wi = adapt_by_hand(w, xi[:half], yi[:half], inner_steps)
            return total + mse(wi, xi[half:], yi[half:]), None

        total, _ = lax.scan(task, jnp.float32(0), (xs, ys))
        return total / xs.shape[0]

    return outer(x, y, list(w), meta)


BY_HAND = by_hand
