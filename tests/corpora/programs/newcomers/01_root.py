"""Safeguarded Newton (Newton with a bisection fallback) on a polynomial."""
import numpy as np

import autograph as ag

ENTRY = "find_root"


def poly(coeffs, x):
    y = 0
    for c in coeffs:
        y = y * x + c
    return y


def slope(coeffs, x):
    degree = len(coeffs) - 1
    y = 0
    for i, c in enumerate(coeffs[:-1]):
        y = y * x + (degree - i) * c
    return y


@ag.function
def find_root(coeffs, lo, hi, tol=1e-4, max_iter=50):
    flo, fhi = poly(coeffs, lo), poly(coeffs, hi)
    if flo * fhi > 0:
        raise ValueError(f"root not bracketed: f({lo:.2f}) = {flo:.2f}, f({hi:.2f}) = {fhi:.2f}")
    if flo > 0:
        lo, hi = hi, lo
    x = (lo + hi) / 2
    bisections = 0
    for it in range(max_iter):
        fx = poly(coeffs, x)
        if abs(fx) < tol:
            break
        if fx < 0:
            lo = x
        else:
            hi = x
        dfx = slope(coeffs, x)
        step_ok = False
        if dfx != 0:
            new = x - fx / dfx
            step_ok = min(lo, hi) < new < max(lo, hi)
        if step_ok:
            x = new
        else:
            x = (lo + hi) / 2
            bisections += 1
    else:
        raise RuntimeError(f"no convergence after {max_iter} iterations")
    return x, it, bisections


def cases():
    c = np.array([1.0, 0.0, -2.0, -5.0])
    return [(c, 1.0, 3.0), (c, -4.0, 4.0), (c, 3.0, 4.0), (np.array([1.0, -6.0, 11.0, -6.5]), 0.0, 10.0)]
