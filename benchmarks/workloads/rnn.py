"""Dynamic RNN forward pass (paper, table 1): tanh cell of 256 units, 50 features, ragged lengths, masked outputs."""

import jax.numpy as jnp
import numpy as np
from jax import lax

RTOL, ATOL = 1e-4, 1e-5
SIZES = {f"b{b}_t{t}": dict(batch=b, steps=t) for b in (32, 64, 128) for t in (64, 128)}
SIZES.update(paper=SIZES["b64_t128"], check=dict(batch=4, steps=9))


def inputs(batch, steps, features=50, hidden=256):
    r = np.random.RandomState(17)
    x = r.rand(batch, steps, features).astype(np.float32)
    lengths = np.r_[steps, r.randint(steps // 2, steps, batch - 1)].astype(np.int32)
    x[np.arange(steps)[None] >= lengths[:, None]] = 0
    w = (r.randn(features + hidden, hidden) / np.sqrt(features + hidden)).astype(np.float32)
    b = (r.randn(hidden) * 0.1).astype(np.float32)
    return x, lengths, w, b, np.zeros((batch, hidden), np.float32)


def static(**_):
    return {}


def dynamic_rnn(x, lengths, w, b, h):
    x = jnp.transpose(x, (1, 0, 2))
    outs = jnp.zeros((x.shape[0],) + h.shape, h.dtype)
    for t in range(jnp.max(lengths)):
        new = jnp.tanh(jnp.concatenate([x[t], h], 1) @ w + b)
        live = (t < lengths)[:, None]
        outs = outs.at[t].set(jnp.where(live, new, 0.0))
        h = jnp.where(live, new, h)
    return jnp.transpose(outs, (1, 0, 2)), h


IMPERATIVE = dynamic_rnn


def by_scan(x, lengths, w, b, h):
    def step(h, tx):
        t, xt = tx
        new = jnp.tanh(jnp.concatenate([xt, h], 1) @ w + b)
        live = (t < lengths)[:, None]
        return jnp.where(live, new, h), jnp.where(live, new, 0.0)

    h, outs = lax.scan(step, h, (jnp.arange(x.shape[1]), x.transpose(1, 0, 2)))
    return outs.transpose(1, 0, 2), h


BY_HAND = by_scan
