"""In-graph SGD (paper, table 2): one linear layer 784 -> 10, batch 200, 1000 steps, rate 0.1, the whole loop staged.

The images are synthetic (no download): sparse, MNIST-like intensities, labels from a random linear teacher.
"""

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

RTOL, ATOL = 1e-3, 1e-5
SIZES = {
    "paper": dict(steps=1000),
    "source": dict(steps=101),
    "check": dict(steps=20, examples=1000, batch=50),
    "tiny_batch": dict(steps=1000, batch=8),
}
RATE = 0.1


def inputs(steps, examples=10000, batch=200):
    r = np.random.RandomState(0)
    x = (r.rand(examples, 784) * (r.rand(examples, 784) < 0.19)).astype(np.float32)
    y = (x @ r.randn(784, 10)).argmax(1)
    labels = np.eye(10, dtype=np.float32)[y]
    w = (r.randn(784, 10) * 0.05).astype(np.float32)
    return x, labels, w, np.zeros(10, np.float32), np.int32(steps)


def static(batch=200, **_):
    return {"batch": batch}


def loss_fn(params, xs, ys):
    w, b = params
    return -jnp.mean(jnp.sum(ys * jax.nn.log_softmax(xs @ w + b), 1))


def train(x, labels, w, b, steps, batch):
    per_epoch = x.shape[0] // batch
    loss = 0.0
    for i in range(steps):
        start = (i % per_epoch) * batch
        xs = lax.dynamic_slice_in_dim(x, start, batch)
        ys = lax.dynamic_slice_in_dim(labels, start, batch)
        loss, (dw, db) = jax.value_and_grad(loss_fn)((w, b), xs, ys)
        w -= RATE * dw
        b -= RATE * db
    return w, b, loss


IMPERATIVE = train


def by_hand(x, labels, w, b, steps, batch):
    per_epoch = x.shape[0] // batch

    def body(i, c):
        w, b, _ = c
        start = (i % per_epoch) * batch
        xs = lax.dynamic_slice_in_dim(x, start, batch)
        ys = lax.dynamic_slice_in_dim(labels, start, batch)
        loss, (dw, db) = jax.value_and_grad(loss_fn)((w, b), xs, ys)
        return w - RATE * dw, b - RATE * db, loss

    return lax.fori_loop(0, steps, body, (w, b, jnp.float32(0)))


BY_HAND = by_hand
