import autograph.runtime as ag


@ag.converted
def sign(x):
    return ag.cond(x > 0, lambda: 1.0, lambda: ag.cond(x < 0, lambda: -1.0, lambda: 0.0))


@ag.converted
def clamp(x, low, high):
    x = ag.cond(ag.ordered(x, '<', low), lambda: low, lambda: x)
    x = ag.cond(ag.ordered(x, '>', high), lambda: high, lambda: x)
    return x


@ag.converted
def relu_and_count(x, count):
    def then(count):
        y = x
        count += 1
        return count, y
    count, y = ag.cond(x > 0, then, lambda count: (count, 0.0), count)
    return y, count


@ag.converted
def choose(x, y):
    return ag.cond(
        ag.and_(ag.and_(0 <= x, lambda: x < 10), lambda: ag.not_(y)),
        lambda: x,
        lambda: ag.or_else(y, lambda: -x),
    )


@ag.converted
def log(x, verbose):
    def then():
        ag.print('x is', x)
    ag.cond(verbose, then, ag.keep)
    return x + 1
