"""A generator: what does not yield is staged, and a loop that yields keeps its jumps."""

import autograph.runtime as ag


@ag.converted
def sizes(values, limit):
    total = 0.0
    for v in ag.over(values):
        v = ag.cond(v > limit, lambda: limit, lambda: v * 2)
        if total > 100:
            break
        else:
            got = yield v

            def then(total):
                total += got
                return total
            total = ag.cond(ag.is_not_none(got), then, ag.keep, total)
    return total
