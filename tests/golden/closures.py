import jax


def shared(x):
    scale = 1.0

    def scaled(y):
        return y * scale

    while x < 10:
        scale = scale + 1
        x = scaled(x) + 1
    return x


def inner_loss(w, xs):
    def loss(w):
        s = 0.0
        for x in xs:
            if x > w:
                s += (x - w) ** 2
        return s

    return jax.grad(loss)(w)


class Model:
    def __call__(self, x):
        if x > 0:
            return super().__call__(x)
        return x
