import autograph.runtime as ag


def collatz(n):
    steps = 0
    done, result = False, ag.blank

    def test(n, steps, done, result):
        return ag.and_(ag.not_(done), lambda: n != 1)

    def body(n, steps, done, result):
        n = ag.cond(n % 2 == 0, lambda: n // 2, lambda: 3 * n + 1)
        steps += 1
        done, result = ag.cond(steps > 100, lambda: (True, -1), lambda: (done, result))
        return n, steps, done, result
    n, steps, done, result = ag.while_loop(test, body, n, steps, done, result)
    return ag.cond(done, lambda: result, lambda: steps)
