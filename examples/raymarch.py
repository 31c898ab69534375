"""A picture by ray marching: each ray goes as far as the distance to the nearest surface, until it is close to one or has left the scene.

The number of steps differs from ray to ray.  The derivative of the picture goes through them: the radius of a sphere is found from its picture.

    python examples/raymarch.py --picture picture.png
"""

from __future__ import annotations

import argparse
import struct
import zlib
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from jax.typing import ArrayLike

import autograph as ag

SHADES = " .:-=+*#%@"
LIGHT = jnp.array([0.6, 0.7, -0.4])


def distance(p: Array, radius: ArrayLike) -> Array:
    """From a point to the scene: a sphere of that radius, melted together with a smaller one, and the floor."""
    first = jnp.sqrt(jnp.sum((p - jnp.array([0.0, 0.0, 4.0])) ** 2)) - radius
    second = jnp.sqrt(jnp.sum((p - jnp.array([1.1, 0.6, 3.4])) ** 2)) - radius / 2
    blend = jnp.clip(0.5 + (second - first) / 0.8, 0.0, 1.0)
    spheres = second * (1 - blend) + first * blend - 0.4 * blend * (1 - blend)
    return jnp.minimum(spheres, p[1] + 1.2)


@ag.convert
def shade(direction: Array, radius: ArrayLike) -> Array:
    """How bright the ray from the origin in a direction is; 0 where it leaves the scene."""
    direction = direction / jnp.sqrt(jnp.sum(direction**2))
    along = 0.0
    steps = 0
    while steps < 96:
        step = distance(along * direction, radius)
        along = along + step
        if step < 1e-3:
            normal = jax.grad(distance)(along * direction, radius)
            return 0.15 + 0.85 * jnp.maximum(0.0, normal @ LIGHT)
        if along > 12:
            break
        steps += 1
    return jnp.float32(0)


def picture(radius: ArrayLike, width: int, height: int) -> Array:
    """The picture, `[height, width]`, from 0 to 1."""
    x, y = jnp.linspace(-0.8, 0.8, width), jnp.linspace(0.6, -0.6, height)
    rays = jnp.stack([*jnp.meshgrid(x, y), jnp.ones((height, width))], axis=-1)
    return jax.vmap(jax.vmap(shade, in_axes=(0, None)), in_axes=(0, None))(rays, radius)


def found_radius(target: Array, radius: float, steps: int = 25) -> tuple[float, float]:
    """The radius whose picture is the target, by gradient descent; and how far the pictures are from each other, as mean square."""
    height, width = target.shape
    loss = jax.jit(jax.value_and_grad(lambda r: jnp.mean((picture(r, width, height) - target) ** 2)))
    for _ in range(steps):
        off, slope = loss(radius)
        radius = float(radius - jnp.clip(20.0 * slope, -0.05, 0.05))
    return radius, float(loss(radius)[0])


def png(image: np.ndarray) -> bytes:
    """A grey picture from 0 to 1 as a PNG file (https://www.w3.org/TR/png-3/)."""
    rows = (np.clip(image, 0, 1) * 255).astype(np.uint8)
    data = zlib.compress(b"".join(b"\0" + row.tobytes() for row in rows))

    def chunk(kind: bytes, body: bytes) -> bytes:
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))

    header = struct.pack(">IIBBBBB", rows.shape[1], rows.shape[0], 8, 0, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", data) + chunk(b"IEND", b"")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--picture", type=Path, metavar="FILE", help="also write the picture, as a PNG file of 640 x 480")
    options, _ = parser.parse_known_args()
    image = np.asarray(jax.jit(picture, static_argnums=(1, 2))(1.0, 64, 24))
    for row in image:
        print("".join(SHADES[int(v * (len(SHADES) - 1))] for v in row).rstrip())
    radius, off = found_radius(picture(1.0, 24, 18), 0.8)
    print(f"the radius found from the picture: {radius:.3f}, mean square difference {off:.4f}")
    if options.picture:
        options.picture.write_bytes(png(np.asarray(jax.jit(picture, static_argnums=(1, 2))(1.0, 640, 480))))


if __name__ == "__main__":
    main()
