"""Statements in loops over known ranges, alone and in pairs: the loop that is compiled as one iteration gives what its iterations give one by one.

    python tests/differential/rolled_table.py [--pairs 2000] [--seed 1] [--only WORD...]

`tests/loops/test_rolled_table.py` runs a slice of it.
"""

from __future__ import annotations

import argparse
import random
import sys
import textwrap
import warnings
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

import autograph as ag

sys.path.insert(0, str(Path(__file__).parent.parent))
from sourced import define  # noqa: E402

COUNT = 40
HEAD = """
import math
import jax.numpy as jnp
import numpy as np

class Box:
    def __init__(self, **fields):
        self.__dict__.update(fields)

def helper(s, i):
    if i > 3:
        return s * 0.5 + i
    return s + 1

G = 0
"""
BEFORE = """
c, t, k, b, name = 1, 0.5, 0, True, "ab"
L, D, A, Y = [0.0 * s, s, s * 2], {"a": s, "b": 0.0 * s}, np.zeros(4, np.float32), jnp.zeros(4)
o, q, w, S = Box(h=s, n=0, items=[]), (s, s * 2), v[:3] * 1.0, {1}
last, first, p0, p1 = s, s, 1, 1
H, K, F = [0] * 6, [0.5] * 6, [False] * 6
"""
RESULT = "return s, c, t, k, b, name, L, list(D.values()), A, Y, o.h, o.n, o.items, q, w, len(S), last, first, p0, p1, H, K, F"
INTEGERS = """
c += 1; c += i; c -= 2; c *= 2; c = c * 3 + 1; c = -c + i; c = c // 2 + i; c = (c * 7 + 3) % 11; c %= 5; c ^= i; c |= 1 << (i % 5); c &= 255
c <<= 1; c = c >> 1; c = abs(c - i); c = max(c, i); c = min(c, 5); c = i; c = i * i; c = i ** 2; c = 2 ** i; c = c if i % 2 else c + 1
c += i % 3 == 0; c += (i % 3 == 0) + (i > 10); c += (i > 3) * (i > 5); c = int(i > 3); c = len(name) + i; c = divmod(c + i, 7)[1]
c = sum([c, 1, i]); c = pow(c, 2, 97); c = round(c / 2); c = -i; c = i - c; c = (c, i)[i % 2]; c = [c, i][1]; c += bool(i); c = int(str(i % 10))
c = hash(i) % 7; c = c - i if i > 20 else c + i; c = 1 if i == 0 else c * 2; p0, p1 = p1, p0 + p1; c = i % 2 and c; c = i % 2 or c; k += 1
k = k + 2 * i; k = i; c = k - c; k = k + 1 if i % 2 == 0 else k; c = 7 - k
"""
FLOATS = """
t += 0.1; t *= 1.01; t *= 1.5; t /= 2.0; t = t * 0.5 + i; t = i / 3; t = i * 0.1; t = 2.0 ** i / 2.0 ** (i + 1); t = math.sin(i * 0.1)
t = math.sqrt(i); t = math.exp(-i / 10); t = float(i); t = t % 1.0; t = t // 0.3; t = min(t, 3.5); t = max(t, i); t = abs(t - 1); t = round(t, 2)
t = -t; t = 1.0 / (i + 1); t = t + 1 if t < 2.0 else 0.0; t = math.floor(t); t = i and t; t = 1e300 * (i + 1) / 1e300; t = t if i else 0.25
t = t + c; t = t * t; t = 1e-30 * (i + 1) * 1e30; t = (i + 0.5) ** 2; t = math.pi * i
"""
TRACED = """
s = s * 0.5 + x; s = s + c; s = s + i; s = s + i * 0.125; s = jnp.sin(s); s = s + v[i]; s = s + v[-1 - i]; s = s + v[i - 1]; s = s + v[i % 3]
s = s + v[39 - i]; s = s + v[i // 2]; s = s + jnp.sum(v[:3]); s = s + jnp.sum(v[i:i + 3]); s = s + jnp.sum(v[i:]); s = s + jnp.sum(v[:i])
s = s + jnp.sum(v[i:i + 2]); s = s + v[i:i + 1][0]; s = s + m[i, 0]; s = s + m[i].sum(); s = s + m[:, i % 2].sum(); s = s + (i % 2 == 0)
s = s * ((i % 2 == 0) + (i > 5)) * 0.5; s = s + (s > 1); s = s + jnp.where(i % 2 == 0, 1.0, 2.0); s = s if i % 3 else s + 1; s = s + t
s = jnp.maximum(s, i); s = s + jnp.arange(5)[i % 5]; s = s + float(i); s = s + len(L); w = w + i; w = w * 0.5 + v[:3]; w[i % 3] = s; w[0] += 1.0
w = jnp.roll(w, 1); w = w.at[i % 3].add(1.0); s = helper(s, i); s = s + c % 7; s = s * 0.5 + k; s = s - i // 2; s = jnp.tanh(s) * (i + 1)
last = x; last = i; last = s; s = s + last; s = s + w[i % 3]; s = s * 0.5 + jnp.dot(w, w) * 0.01; s = -s; s = s / (i + 1); s = s ** 2 % 3
s = s + m[i % 3, i % 2]; s = s + jnp.sum(m[i:i + 2, :1]); s = jnp.where(s > 3, s - 3, s); s = s + np.float32(0.5); s = s + i * c
"""
BRANCHES = r"""
if s > 2: s = s * 0.5|if s > 2: c += 1|if i % 2: c += 2|if i == 0: c = 5|if i == 39: s = s + 1|if i > 20: t = t + 1|if c > 10: c = 0
if not i: first = s|if i in (3, 5): s = s + 1|if b: s = s + 1|b = not b|b = i % 3 == 0|b = s > 2|if L: c += 1|if i % 4 == 0: continue
if s > 1e9: break|if i == 30: break|if s > 2 and i > 3: s = s - 1|if s > 2 or c > 3: s = s - 1|if i == 1 or i == 5: k = 100
if s > 100:\n    s = s - 50\nelse:\n    s = s + 1
if i % 3 == 0:\n    s = s + 1\nelif i % 3 == 1:\n    s = s - 1\nelse:\n    c += 1
if i > 5:\n    if s > 1:\n        s = s * 0.9\n    c += 1
for j in range(3): s = s + j * 0.125|for j in range(i % 3): c += 1|for j in range(i): c += 1|for j in range(3): s = s + v[j] * i
while k < i: k += 2|while s > 8: s = s * 0.5|for j in range(2):\n    if s > j: s = s - 0.5
match i % 3:\n    case 0: s = s + 1\n    case 1: c += 1\n    case _: pass
if (y := s * 2) > 3: s = y * 0.25|s = s + sum([v[j] * i for j in range(3)]) * 0.01|g = [j * i for j in range(3)]; s = s + g[1]
s = s + (1.0 if i % 2 else 2.0)|s = s if s < 5 else s * 0.5|assert i < 40|assert s < 1e9|assert v[i] < 1e9|if i < 0: raise ValueError(i)
try:\n    s = s + 1\nfinally:\n    c += 1
f2 = lambda z: z * 0.5 + i\ns = f2(s)
def inner(z):\n    return z + i\ns = inner(s) * 0.5
"""
CONTAINERS = """
L.append(s)|L.append(i)|L.append(x * 2)|L[0] = s|L[i % 3] = s|L[-1] = s + c|L = L + [s]|L.insert(0, s)|if i > 2: L.pop()|L.extend([s, s])
L = [s, x]|L = [*L, s]|L = L[1:] + [s]|s = s + L[-1]|s = s + L[i % 2]|L[0], L[1] = L[1], L[0]|s = s + sum(L) * 0.01|L.reverse()
D["a"] = s|D["a"] += x|D["b"] = i * 1.0|D[i % 3] = s|D[f"k{i % 2}"] = s|D.setdefault("c", s)|D.update(a=s)|s = s + D["a"] * 0.125|D = {"a": s, "b": x}
A[i % 4] = s|A[0] += 1.0|A[i % 4] += s|A[1:3] = s|A *= 0.5|A = A * 0.5|A[i % 4] = i|s = s + A[i % 4]|A[i % 2], A[3] = s, c|A[:] = A[::-1]
Y[i % 4] = s|Y = Y + i|Y[0] += s|Y[1:3] = c|s = s + Y[i % 4]|A[3] = A[2]|np.add.at(A, i % 4, 1.0)
o.h = s|o.h = o.h + x|o.n += 1|o.n = i|o.items.append(s)|o.items.append(i)|s = s + o.h * 0.125|s = s + o.n|o.h, o.n = s, o.n + 2|o.extra = s
q = (s, q[0])|q = (q[1], q[0])|q = (q[0] + x, i)|s, last = last, s|S.add(i % 3)|S.add(i)|s = s + len(S)|name = name + "a"|name = str(i)
name = f"{i % 2}"|c += len(name)|name = "x" if i % 2 else "y"|if name == "ab": s = s + 1|a1, a2 = s, i; s = a1 + a2 * 0.125|del D["b"]; D["b"] = s
z = [s]; z.append(x); s = z[0] + z[1] * 0.5|z = {}; z["u"] = s; s = z["u"] * 0.5|z = np.zeros(2, np.float32); z[0] = s; s = s + z.sum() * 0.125
z = Box(u=s, n=i); z.u = z.u + 1; s = z.u * 0.5|global G; G = i|yy = w; yy[0] = s
"""
NUMBERS = """
H[i % 6] += 1|H[i % 6] += i|H[i % 6] = i|H[i % 6] = 7|H[i % 6] *= 3|H[i % 6] = H[(i + 1) % 6] * 2 + 1|H[i % 6] = H[i % 6] ** 2 + 2|H[i % 6] = c
c = c + H[i % 6]|c += H[i % 6]; H[i % 6] = c|H[i % 6] = i * i|H[-1 - i % 6] = i|H[i % 6], H[(i + 1) % 6] = H[(i + 1) % 6], H[i % 6] + 1
H[i % 6] -= i % 3|K[i % 6] *= 1.5|K[i % 6] += 0.1|K[i % 6] = i * 0.1|K[i % 6] = K[(i + 1) % 6] / 2 + i|K[i % 6] = s|K[i % 6] = K[i % 6] + x
K[i % 6] += s; s = s * 0.5|t = t + K[i % 6] * 0.5|s = s + K[i % 6] * 0.125|s = s + H[i % 6]|F[i % 6] = True|F[i % 6] = not F[i % 6]|F[i % 6] = i > 9
F[i % 6] = x > 0|c += F[i % 6]|if F[i % 6]: c += 1|if x > 0: H[i % 6] += 1|if x > 0: H[i % 6] = H[(i + 1) % 6] + 1|if x > 0: H[i % 6] *= 3
if i > 3: H[i % 6] += 2|if i % 3: H[i % 6] *= 2|if x > 0: K[i % 6] = s|if K[i % 6] < x: K[i % 6] = x|for j in range(i % 4): H[j] += 1
for j in range(i % 6): H[j] = H[j + 1 - 1] * 2 + i|for j in range(i % 6): K[j] = K[j] * 0.5 + s
for j in range(i % 6): H[j] = H[j] + 1 if x > 0 else H[i % 6] * 2|H[int(c) % 6] += 1|H[i % 6] = H[i % 6] + (x > 0)|H[jnp.int32(jnp.abs(s)) % 6] += 1
K[jnp.int32(jnp.abs(s)) % 6] = s|H[jnp.int32(jnp.abs(s)) % 6] = H[i % 6] * 2 + 1|H[i % 6] = max(H); H[0] += 1|H[i % 6] = sum(H) + 1
K[i % 6] = min(K) * 0.5|H = H[1:] + [i]|H = [h + 1 for h in H]|s = s + sum(K) * 0.01|H[i % 6] = len(H) + H[0]
"""


def _split(text: str, by: str) -> list[str]:
    return [part.strip().replace("\\n", "\n") for line in text.strip().splitlines() for part in line.split(by) if part.strip()]


STATEMENTS = [*_split(INTEGERS, "; "), *_split(FLOATS, "; "), *_split(TRACED, "; "), *_split(BRANCHES, "|"), *_split(CONTAINERS + NUMBERS, "|")]
LOOPS = {  # the head, and what stands at the begin and the end of the body
    "range": ("for i in range(40):", "x = v[i]", ""),
    "while": ("i = -1\nwhile i < 39:", "i = i + 1\nx = v[i]", ""),
    "enumerate": ("for i, j0 in enumerate(range(40)):", "x = v[i]", ""),
    "zip": ("for i, j0 in zip(range(40), range(1, 41)):", "x = v[i]", ""),
    "reversed": ("for i in reversed(range(40)):", "x = v[i]", ""),
    "float": ("u, i = 0.0, -1\nwhile u < 9.9:", "u += 0.25\ni = i + 1\nx = v[i]", ""),
}


def text_of(statements: Sequence[str], loop: str) -> str:
    head, begin, end = LOOPS[loop]
    shared = "".join(line + "\n" for s in statements for line in s.split("; ") if line.startswith("global"))
    body = [begin, *("\n".join(line for line in s.split("; ") if not line.startswith("global")) for s in statements), end]
    lines = shared + BEFORE + head + "\n" + textwrap.indent("\n".join(body), "    ") + "\n" + RESULT
    return HEAD + "\ndef f(v, m, s):\n" + textwrap.indent(lines, "    ") + "\n"


BREAK = "if s > 1e9: break"  # unrolled under a flag in some loops, for which XLA takes the exponential of their number


def allowed(loop: str, statements: Sequence[str]) -> bool:
    return BREAK not in statements or loop in ("range", "while")


def programs(pairs: int, seed: int) -> Iterator[tuple[str, str, list[str]]]:
    """A name, the loop, and the statements: each alone in each loop, then pairs of them."""
    for loop in LOOPS:
        for k, statement in enumerate(STATEMENTS):
            if allowed(loop, [statement]):
                yield f"{loop}-{k}", loop, [statement]
    r = random.Random(seed)
    for n in range(pairs):
        loop = r.choice([*LOOPS])
        pair = r.sample(STATEMENTS, 2)
        if allowed(loop, pair):
            yield f"pair-{n}", loop, pair


VALUES = np.array([((k * 7) % 11) / 4 - 1 for k in range(COUNT + 4)], np.float32)[:COUNT]
MATRIX = np.arange(COUNT * 3, dtype=np.float32).reshape(COUNT, 3) / 64


def outcome(f: Any, roll: str | None) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            if roll is None:
                out = f(jnp.asarray(VALUES), jnp.asarray(MATRIX), jnp.float32(1.5))
            else:
                with ag.loops(roll=roll):
                    out = ag.function(f)(jnp.asarray(VALUES), jnp.asarray(MATRIX), jnp.float32(1.5))
        except ag.AutographError as error:
            return f"{error.id}"
        except Exception as error:
            return type(error).__name__
    return jax.tree.map(lambda x: x if isinstance(x, str) else np.asarray(x, np.float64), out)


def same(a: Any, b: Any) -> bool:
    if isinstance(a, str) or isinstance(b, str):
        return bool(a == b) if isinstance(a, str) and isinstance(b, str) else False
    if jax.tree.structure(a) != jax.tree.structure(b):
        return False
    return all(
        x == y if isinstance(x, str) or isinstance(y, str) else x.shape == y.shape and np.allclose(x, y, rtol=2e-3, atol=1e-4, equal_nan=True)
        for x, y in zip(jax.tree.leaves(a), jax.tree.leaves(b), strict=True)
    )


def compare(loop: str, statements: list[str]) -> str:
    """What differs: nothing, or how the rolled form and Python's iterations end."""
    f = define(text_of(statements, loop))
    never, always = outcome(f, "never"), outcome(f, "always")
    if same(never, always):
        return ""
    names = RESULT.removeprefix("return ").split(", ")
    if isinstance(never, str) or isinstance(always, str):
        return f"never {_brief(never)} always {_brief(always)}"
    return "; ".join(f"{n}: never {_brief(a)} always {_brief(b)}" for n, a, b in zip(names, never, always, strict=True) if not same(a, b))


def _brief(x: Any) -> str:
    return str(x) if isinstance(x, str) else str(jax.tree.map(lambda v: v if isinstance(v, str) else np.round(v, 4).tolist(), x))[:120]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--only", nargs="*", default=[])
    options = parser.parse_args()
    jax.config.update("jax_disable_most_optimizations", True)
    chosen = [p for k, p in enumerate(programs(options.pairs, options.seed)) if k % options.every == 0]
    chosen = [p for p in chosen if not options.only or any(w in p[0].split("-") for w in options.only)]
    kinds: Counter[str] = Counter()
    for k, (name, loop, statements) in enumerate(chosen):
        if found := compare(loop, statements):
            refused = found.startswith("never AG") or "always AG" in found
            kinds["refused in one form" if refused else "different"] += 1
            print(f"{'refused' if refused else 'DIFFERENT'} {name} {loop}: {' ## '.join(statements)!r}: {found[:300]}", flush=True)
        if k % 100 == 99:
            print(f"... {k + 1} of {len(chosen)}", file=sys.stderr, flush=True)
            jax.clear_caches()
    print(f"{len(STATEMENTS)} statements, {len(chosen)} programs: {dict(kinds) or 'all the same'}")
    return kinds["different"]


if __name__ == "__main__":
    sys.exit(bool(main()))
