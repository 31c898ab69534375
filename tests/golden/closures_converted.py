import jax
import autograph.runtime as ag


@ag.converted
def shared(x):
    scale = 1.0

    def scaled(y):
        return y * scale

    def body(x, scale_):
        nonlocal scale
        scale = scale_
        scale = scale + 1
        x = scaled(x) + 1
        return x, scale
    x, scale = ag.while_loop(lambda x, scale: x < 10, body, x, scale)
    return x


@ag.converted
def inner_loss(w, xs):
    def loss(w):
        s = 0.0

        def body(x, s):
            def then(s):
                s += (x - w) ** 2
                return s
            return ag.cond(x > w, then, ag.keep, s)
        s = ag.for_loop(xs, body, s)
        return s
    return ag.call(jax.grad)(loss)(w)


class Model:
    @ag.converted
    def __call__(self, x):
        return ag.cond(x > 0, lambda: ag.call(super(__class__, self).__call__)(x), lambda: x)
