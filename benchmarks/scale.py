"""What a step of data-parallel training costs on 1, 2, 4 and 8 devices: the model of docs/scale.md beside what XLA's compiled programs have.

    python benchmarks/scale.py

The devices are virtual ones of a CPU, so that no times are told: compared are the operations of one device, and the bytes that it adds up.
"""

from __future__ import annotations

import os
import re

os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=8"

from typing import Any  # noqa: E402

import jax  # noqa: E402
import numpy as np  # noqa: E402
from jax.sharding import AxisType, NamedSharding, PartitionSpec  # noqa: E402

import autograph as ag  # noqa: E402

WIDTHS, BATCH = (256, 512, 512, 16), 1024


def network() -> Any:
    ag.set_seed(0)
    return ag.layers.Sequential([ag.layers.Dense(n, "relu" if n != WIDTHS[-1] else None, input_shape=(m,)) for m, n in zip(WIDTHS, WIDTHS[1:])])


@ag.function
def step(model: Any, x: Any, y: Any) -> Any:
    with ag.GradientTape() as tape:
        loss = ag.losses.sparse_softmax_cross_entropy(y, model(x))
    for v, g in zip(model.trainable_variables, tape.gradient(loss, model.trainable_variables)):
        v.assign_sub(0.1 * g)
    return loss


def compiled(count: int) -> Any:
    mesh = jax.make_mesh((count,), ("batch",), axis_types=(AxisType.Auto,), devices=jax.devices()[:count])
    model = network()
    for v in model.variables:
        v.assign(jax.device_put(v.value, NamedSharding(mesh, PartitionSpec())))
    x = jax.device_put(np.zeros((BATCH, WIDTHS[0]), np.float32), NamedSharding(mesh, PartitionSpec("batch")))
    y = jax.device_put(np.zeros(BATCH, np.int32), NamedSharding(mesh, PartitionSpec("batch")))
    with jax.set_mesh(mesh):
        return step.lower(model, x, y).compile()


def predicted(count: int) -> tuple[float, float]:
    """Floating-point operations of a device, and bytes of gradients that it adds up."""
    rows = BATCH / count
    products = [2 * rows * m * n for m, n in zip(WIDTHS, WIDTHS[1:])]
    flops = sum(3 * p for p in products) - products[0]  # forwards, by the input and by the kernel; nothing asks for the gradient by the input
    return flops, 4 * sum(m * n + n for m, n in zip(WIDTHS, WIDTHS[1:])) if count > 1 else 0


def reduced(text: str) -> int:
    """The bytes of what all-reduces of a program give."""
    given = re.findall(r"= (.*?) all-reduce(?:-start)?\(", text)
    return sum(4 * int(np.prod([int(d) for d in dims.split(",") if d], dtype=int)) for part in given for dims in re.findall(r"f32\[([\d,]*)\]", part))


def main() -> None:
    print("devices  operations of one  model   ratio  bytes added up  model    ratio")
    for count in (1, 2, 4, 8):
        program = compiled(count)
        flops, size = program.cost_analysis()["flops"], reduced(program.as_text())
        want_flops, want_size = predicted(count)
        ratio = f"{size / want_size:.3f}" if want_size else "-"
        print(f"{count:7}  {flops:17.3g}  {want_flops:.3g}  {flops / want_flops:.3f}  {size:14,}  {int(want_size):,}  {ratio}")


if __name__ == "__main__":
    main()
