"""A generator: what does not yield is staged, and a loop that yields keeps its jumps."""

import autograph as ag


@ag.convert
def sizes(values, limit):
    total = 0.0
    for v in values:
        if v > limit:
            v = limit
        else:
            v = v * 2
        if total > 100:
            break
        got = yield v
        if got is not None:
            total += got
    return total
