import jax


def newton(f, x, tol=1e-6, most=50):
    """A root of f near x."""
    steps = 0
    while abs(f(x)) > tol and steps < most:
        x = x - f(x) / jax.grad(f)(x)
        steps += 1
    return x, steps
