"""L-BFGS without line search (paper, 15.2): tied sigmoid autoencoder 784-100-784 on 100 images, 20 iterations, 100 pairs.

Follows the control flow of the original: early return, two nested ifs, two loops over a ring buffer, five ways to break.
The images are synthetic and the weights start at small random values.
"""

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

# 20 quasi-Newton steps amplify rounding: both float32 programs are 1e-2 from the float64 weights (of size 4 and 23),
# and 5e-6 from its loss history
RTOL, ATOL = (1e-2, 1e-4), (5e-2, 2e-5)
SIZES = {"paper": dict(hidden=100), "small": dict(hidden=10, pixels=196), "check": dict(hidden=4, pixels=64, images=20)}
MAX_ITER, MAX_EVAL, TOL_F, TOL_X, PAIRS, RATE = 20, 25, 1e-5, 1e-9, 100, 1.0


def inputs(hidden, pixels=784, images=100):
    r = np.random.RandomState(1)
    data = (r.rand(images, pixels) * (r.rand(images, pixels) < 0.19)).astype(np.float32)
    return (r.randn(pixels * hidden) * 0.05).astype(np.float32), data


def static(**_):
    return {}


def loss_fn(w, data):
    m = w.reshape(data.shape[1], -1)
    return jnp.mean(jnp.square(jax.nn.sigmoid(jax.nn.sigmoid(data @ m) @ m.T) - data))


def two_loop(g, steps, diffs, count, scale):
    q = -g
    rho = jnp.zeros(PAIRS)
    al = jnp.zeros(PAIRS)
    n = jnp.minimum(count, PAIRS)
    for j in range(n):
        k = (count - 1 - j) % PAIRS
        r = 1.0 / jnp.vdot(diffs[k], steps[k])
        a = r * jnp.vdot(steps[k], q)
        rho = rho.at[k].set(r)
        al = al.at[k].set(a)
        q -= a * diffs[k]
    d = q * scale
    for j in range(n):
        k = (count - n + j) % PAIRS
        d += (al[k] - rho[k] * jnp.vdot(diffs[k], d)) * steps[k]
    return d


def lbfgs(x, data):
    f, g = jax.value_and_grad(loss_fn)(x, data)
    hist = jnp.zeros(MAX_ITER + 1).at[0].set(f)
    if jnp.sum(jnp.abs(g)) <= TOL_F:
        return x, hist
    steps = jnp.zeros((PAIRS, x.size))
    diffs = jnp.zeros((PAIRS, x.size))
    count = 0
    evals = 1
    scale = 1.0
    d = -g
    t = jnp.minimum(1.0, 1.0 / jnp.sum(jnp.abs(g)))
    prev_g = g
    it = jnp.int32(0)
    while it < MAX_ITER:
        it += 1
        if it > 1:
            y = g - prev_g
            s = d * t
            ys = jnp.vdot(y, s)
            if ys > 1e-10:
                steps = steps.at[count % PAIRS].set(s)
                diffs = diffs.at[count % PAIRS].set(y)
                count += 1
                scale = ys / jnp.vdot(y, y)
            d = two_loop(g, steps, diffs, count, scale)
            t = RATE
        prev_g, prev_f = g, f
        if jnp.vdot(g, d) > -TOL_X:
            break
        x = x + t * d
        if it < MAX_ITER:
            f, g = jax.value_and_grad(loss_fn)(x, data)
            hist = hist.at[evals].set(f)
            evals += 1
        if it == MAX_ITER:
            break
        if evals >= MAX_EVAL:
            break
        if jnp.sum(jnp.abs(d * t)) <= TOL_X:
            break
        if jnp.abs(f - prev_f) < TOL_X:
            break
    return x, hist


IMPERATIVE = lbfgs


def two_loop_by_hand(g, steps, diffs, count, scale, ring, pairs):
    n = jnp.minimum(count, pairs)

    def back(j, c):
        q, rho, al = c
        k = (count - 1 - j) % ring
        s, y = steps[k], diffs[k]
        r = 1.0 / jnp.vdot(y, s)
        a = r * jnp.vdot(s, q)
        return q - a * y, rho.at[k].set(r), al.at[k].set(a)

    q, rho, al = lax.fori_loop(0, n, back, (-g, jnp.zeros(ring), jnp.zeros(ring)))

    def forth(j, d):
        k = (count - n + j) % ring
        return d + (al[k] - rho[k] * jnp.vdot(diffs[k], d)) * steps[k]

    return lax.fori_loop(0, n, forth, q * scale)


def by_hand(x, data, pairs=PAIRS):
    """No conditional carries the 2 x 31 MB ring: one spare slot takes the pair that is not accepted, and the first
    iteration needs no case of its own (no pairs stored: the direction is -g)."""
    ring = pairs + 1
    value_and_grad = jax.value_and_grad(loss_fn)
    f0, g0 = value_and_grad(x, data)
    size0 = jnp.sum(jnp.abs(g0))

    def body(c):
        x, f, g, d, t, prev_g, steps, diffs, count, scale, it, evals, hist, _ = c
        it = it + 1
        y, s = g - prev_g, d * t
        ys = jnp.vdot(y, s)
        take = ys > 1e-10  # False at it == 1, where y == 0
        steps = steps.at[count % ring].set(s)
        diffs = diffs.at[count % ring].set(y)
        count = count + take
        scale = jnp.where(take, ys / jnp.vdot(y, y), scale)
        d = two_loop_by_hand(g, steps, diffs, count, scale, ring, pairs)
        t = jnp.where(it > 1, RATE, t)
        bad = jnp.vdot(g, d) > -TOL_X
        x = jnp.where(bad, x, x + t * d)
        last = it == MAX_ITER
        f2, g2 = lax.cond(bad | last, lambda x: (f, g), lambda x: value_and_grad(x, data), x)
        hist = hist.at[evals].set(jnp.where(bad | last, hist[evals], f2))
        evals = evals + ~(bad | last)
        stop = bad | last | (evals >= MAX_EVAL) | (jnp.sum(jnp.abs(d * t)) <= TOL_X) | (jnp.abs(f2 - f) < TOL_X)
        return x, f2, g2, d, t, g, steps, diffs, count, scale, it, evals, hist, stop

    init = (
        x,
        f0,
        g0,
        -g0,
        jnp.minimum(1.0, 1.0 / size0),
        g0,
        jnp.zeros((ring, x.size)),
        jnp.zeros((ring, x.size)),
        jnp.int32(0),
        jnp.float32(1),
        jnp.int32(0),
        jnp.int32(1),
        jnp.zeros(MAX_ITER + 1).at[0].set(f0),
        size0 <= TOL_F,
    )
    out = lax.while_loop(lambda c: ~c[-1] & (c[10] < MAX_ITER), body, init)
    return out[0], out[12]


BY_HAND = by_hand
