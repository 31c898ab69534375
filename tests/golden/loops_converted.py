import autograph.runtime as ag


@ag.converted
def gcd(a, b):
    def body(a, b):
        a, b = b, a % b
        return a, b
    a, b = ag.while_loop(lambda a, b: b != 0, body, a, b)
    return a


@ag.converted
def total(xs):
    s = 0.0

    def body(x, s):
        s += x
        return s
    s = ag.for_loop(xs, body, s)
    return s


@ag.converted
def find(xs, wanted):
    done, result = False, ag.blank

    def body(item, done, result):
        i, x = item
        return ag.cond(ag.equal(x, wanted), lambda: (True, i), lambda: (done, result))
    done, result = ag.for_loop(ag.enumerate(xs), body, done, result, until='done')
    return ag.cond(done, lambda: result, lambda: -1)


@ag.converted
def first_square_above(n):
    done = False
    i = ag.blank

    def body(item, done, i):
        i = item
        done = ag.cond(i * i > n, lambda: True, lambda: done)
        return done, i
    done, i = ag.for_loop(ag.range(n), body, done, i, until='done', targets=('i',))
    i = ag.cond(ag.not_(done), lambda: -1, lambda: i)
    return i


@ag.converted
def skip_odd(n):
    s = 0

    def body(i, s):
        def orelse(s):
            s += i
            return s
        return ag.cond(i % 2, ag.keep, orelse, s)
    s = ag.for_loop(ag.range(n), body, s)
    return s


@ag.converted
def nested(n):
    count = 0

    def body(i, count):
        done = False

        def body(j, count, done):
            def orelse(count, done):
                count += 1
                return count, done
            return ag.cond((i + j) % 3 == 0, lambda count, done: (count, True), orelse, count, done)
        count, done = ag.for_loop(ag.range(i), body, count, done, until='done')
        return count
    count = ag.for_loop(ag.range(n), body, count)
    return count
