"""Dynamic loss scaling for half precision: skip steps that overflow, grow the scale after good ones."""
import math

import jax.numpy as jnp
import numpy as np

import autograph as ag

ENTRY = "run"


class LossScaler:
    def __init__(self, scale=2.0 ** 15, growth=2.0, interval=3, floor=1.0):
        self.scale = scale
        self.growth = growth
        self.interval = interval
        self.floor = floor
        self.good = 0
        self.skipped = 0

    def unscale(self, tree):
        if isinstance(tree, dict):
            return {name: self.unscale(leaf) for name, leaf in tree.items()}
        return tree / self.scale

    def update(self, finite):
        if finite:
            self.good += 1
            if self.good >= self.interval:
                self.scale *= self.growth
                self.good = 0
        else:
            self.skipped += 1
            self.good = 0
            self.scale = max(self.scale / self.growth, self.floor)


def all_finite(tree):
    if isinstance(tree, dict):
        return all(all_finite(leaf) for leaf in tree.values())
    return jnp.isfinite(tree).all()


def squares(tree):
    return sum(squares(t) for t in tree.values()) if isinstance(tree, dict) else (tree ** 2).sum()


class Trainer:
    def __init__(self, params):
        self.params = params
        self.scaler = LossScaler()
        self.clipped = 0

    @ag.function
    def train(self, factors, lr):
        for factor in factors:
            p = self.params
            big = self.scaler.scale * factor
            grads = {"layer": {"w": p["layer"]["w"] * big, "b": p["layer"]["b"] * big}, "out": (p["out"] - 1) * big}
            if any((abs(g) > 65504).any() for g in (grads["layer"]["w"], grads["layer"]["b"], grads["out"])):
                grads["out"] = grads["out"] * math.inf
            finite = all_finite(grads)
            self.scaler.update(finite)
            if not finite:
                continue
            grads = self.scaler.unscale(grads)
            norm = math.sqrt(squares(grads))
            if norm > 1:
                self.clipped += 1
                lr_now = lr / norm
            else:
                lr_now = lr
            for name in ("w", "b"):
                self.params["layer"][name] -= lr_now * grads["layer"][name]
            self.params["out"] -= lr_now * grads["out"]
        return self.scaler.scale


def run(w, b, out, factors, lr):
    t = Trainer({"layer": {"w": w, "b": b}, "out": out})
    scale = t.train(factors, lr)
    return scale, t.params, t.scaler.good, t.scaler.skipped, t.clipped


def cases():
    w, b, o = np.array([[0.5, -0.3], [0.2, 0.1]]), np.array([0.1, 0.2]), np.array([1.5, 0.2])
    return [(w.copy(), b.copy(), o.copy(), np.array([0.5, 1, 1, 1, 9, 9, 1, 1, 1]), 0.1),
            (w.copy(), b.copy(), o.copy(), np.array([0.1] * 7), 0.2)]
