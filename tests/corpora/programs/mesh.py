"""Derivatives of loops on a mesh of two devices; run by `tests/derivatives/test_derivatives.py` in a process of its own."""

from __future__ import annotations

import os

os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=2"

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

import autograph as ag

jax.config.update("jax_enable_x64", True)
P = jax.sharding.PartitionSpec
MESH = jax.make_mesh((2,), ("d",), axis_types=(jax.sharding.AxisType.Auto,))
W = jax.random.normal(jax.random.key(0), (4, 4)) * 0.5
XS = jax.random.normal(jax.random.key(3), (4, 4))


def step(w, x):
    return jnp.tanh(w @ x) + 0.1 * x


def close(got, want):
    for a, b in zip(jax.tree.leaves(got), jax.tree.leaves(want), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-8, atol=1e-10)


def collective(check):
    """A collective operation in the body."""

    @ag.convert
    def per_device(xs, w, n):
        i = 0
        while i < n:
            mean = lax.pmean(xs.mean(0), "d")
            xs = jax.vmap(lambda v: step(w, v))(xs) + 0.1 * mean
            i += 1
        return xs

    g = jax.shard_map(per_device, mesh=MESH, in_specs=(P("d"), P(), P()), out_specs=P("d"), check_vma=check)

    def reference(xs, w):
        for _ in range(3):
            xs = jax.vmap(lambda v: step(w, v))(xs) + 0.1 * xs.mean(0)
        return xs

    got = jax.jit(jax.grad(lambda xs, w: (g(xs, w, 3) ** 2).sum(), (0, 1)))(XS, W)
    close(got, jax.grad(lambda xs, w: (reference(xs, w) ** 2).sum(), (0, 1))(XS, W))


def unequal(check, second=False):
    """Numbers of turns that differ between the devices, and a replicated value that the body reads."""
    counts, xs = jnp.array([3, 6]), XS[:2]

    @ag.convert
    def per_device(x, w, n):
        y = x[0]
        i = n[0] * 0
        while i < n[0]:
            y = step(w, y)
            i += 1
        return y[None]

    g = jax.shard_map(per_device, mesh=MESH, in_specs=(P("d"), P(), P("d")), out_specs=P("d"), check_vma=check)

    def reference(x, w):
        total = 0.0
        for k, n in enumerate((3, 6)):
            y = x[k]
            for _ in range(n):
                y = step(w, y)
            total += (y**2).sum()
        return total

    def loss(x, w):
        return (g(x, w, counts) ** 2).sum()

    def derivative(f):
        first = jax.grad(f, (0, 1))
        return (lambda x, w: jax.jvp(first, (x, w), (x * 0.3, w * 0.2))) if second else first

    close(jax.jit(derivative(loss))(xs, W), derivative(reference)(xs, W))


def tested_together():
    """The test itself is a collective operation: the numbers of turns agree by construction."""

    @ag.convert
    def per_device(x, w):
        y = x[0]
        while lax.psum((y**2).sum(), "d") > 0.5:
            y = 0.7 * step(w, y) + 0.05 * lax.pmean(y, "d")
        return y[None]

    g = jax.shard_map(per_device, mesh=MESH, in_specs=(P("d"), P()), out_specs=P("d"))

    def reference(x, w):
        while (x**2).sum() > 0.5:
            x = 0.7 * jax.vmap(lambda v: step(w, v))(x) + 0.05 * x.mean(0)
        return x

    got = jax.jit(jax.grad(lambda x, w: (g(x, w) ** 2).sum(), (0, 1)))(XS[:2], W)
    close(got, jax.grad(lambda x, w: (reference(x, w) ** 2).sum(), (0, 1))(XS[:2], W))


def chosen_apart():
    """A branch that the devices decide for themselves, between values that are the same on all."""

    @ag.convert
    def per_device(x):
        if x.sum() > 0:
            scale, name = 2.0, 1
        else:
            scale, name = 3.0, 7
        total = scale
        while total < 10 * scale:
            total = total * 1.5 + abs(x.sum())
        return (total * x)[None], jnp.full((1,), name)

    xs = jnp.stack([XS[0] + 5, XS[1] - 5])
    got = jax.jit(jax.shard_map(lambda x: per_device(x[0]), mesh=MESH, in_specs=P("d"), out_specs=P("d")))(xs)
    want = [ag.convert(per_device)(x) for x in xs]
    close(got, jax.tree.map(lambda *a: jnp.concatenate(a), *want))


if __name__ == "__main__":
    for name, run in {
        "collective, checked": lambda: collective(True), "collective, not checked": lambda: collective(False),
        "unequal, checked": lambda: unequal(True), "unequal, not checked": lambda: unequal(False),
        "unequal, second order": lambda: unequal(True, second=True), "tested together": tested_together,
        "chosen apart": chosen_apart,
    }.items():  # fmt: skip
        run()
        print("ok", name, flush=True)
