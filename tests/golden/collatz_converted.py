import autograph.runtime as ag


@ag.converted
def collatz(n):
    steps = 0
    done = False

    def body(n, steps, done):
        n = ag.cond(n % 2 == 0, lambda: n // 2, lambda: 3 * n + 1)
        steps += 1
        done = ag.cond(steps > 100, lambda: True, lambda: done)
        return n, steps, done
    n, steps, done = ag.while_loop(
        lambda n, steps, done: ag.and_(ag.not_(done), lambda: n != 1), body, n, steps, done
    )
    return ag.cond(done, lambda: -1, lambda: steps)
