import contextlib


def inside_with(x, lock):
    with lock:
        if x > 0:
            return x
        y = -x
    return y + 1


def inside_try(xs):
    s = 0
    for x in xs:
        try:
            if x < 0:
                continue
            s += x
        finally:
            s += 1
    return s


def suppressed(x):
    with contextlib.suppress(ValueError):
        if x > 0:
            x = x + 1
    return x
