import jax
import autograph.runtime as ag


@ag.converted
def newton(f, x, tol=1e-6, most=50):
    """A root of f near x."""
    steps = 0

    def test(x, steps):
        return ag.and_(abs(ag.call(f)(x)) > tol, lambda: steps < most)

    def body(x, steps):
        x = x - ag.call(f)(x) / ag.call(jax.grad)(f)(x)
        steps += 1
        return x, steps
    x, steps = ag.while_loop(test, body, x, steps)
    return x, steps
