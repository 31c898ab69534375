import contextlib
import autograph.runtime as ag


@ag.converted
def inside_with(x, lock):
    returned, result = False, ag.blank
    y = ag.Unset('y')
    with ag.entering(lock):
        def then(returned_, result_, y_):
            nonlocal returned, result, y
            returned = returned_
            result = result_
            y = y_
            returned, result = True, x
            return returned, result, y

        def orelse(returned_, result_, y_):
            nonlocal returned, result, y
            returned = returned_
            result = result_
            y = y_
            y = -x
            return returned, result, y
        returned, result, y = ag.cond(x > 0, then, orelse, returned, result, y)
    return ag.cond(returned, lambda: result, lambda: ag.some(y) + 1)


@ag.converted
def inside_try(xs):
    s = 0

    def body(x, s):
        try:
            def orelse(s_):
                nonlocal s
                s = s_
                s += x
                return s
            s = ag.cond(x < 0, ag.keep, orelse, s)
        finally:
            s += 1
        return s
    s = ag.for_loop(xs, body, s)
    return s


@ag.converted
def suppressed(x):
    with ag.entering(ag.call(contextlib.suppress)(ValueError)):
        def then(x_):
            nonlocal x
            x = x_
            x = x + 1
            return x
        x = ag.cond(x > 0, then, ag.keep, x)
    return x
