import autograph.runtime as ag


@ag.converted
def may_be_unset(x, n):
    y = ag.Unset('y')

    def body(i, y):
        y = x * i
        return y
    y = ag.for_loop(ag.range(n), body, y)
    return ag.read(y)


@ag.converted
def proved(x):
    returned, result = False, ag.blank
    y = ag.Unset('y')
    with ag.entering(ag.call(open)('file')):
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
            y = 1
            return returned, result, y
        returned, result, y = ag.cond(x > 0, then, orelse, returned, result, y)
    return ag.cond(returned, lambda: result, lambda: ag.some(y))
