import autograph.runtime as ag


@ag.converted
def classify(x):
    def orelse():
        def orelse():
            y = x * x

            def then():
                raise ValueError('too large')
            ag.cond(y > 100, then, ag.keep)
            return y
        return ag.cond(x == 0, lambda: 1, orelse)
    return ag.cond(x < 0, lambda: 0, orelse)
