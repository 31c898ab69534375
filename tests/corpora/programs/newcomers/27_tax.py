"""Income tax with brackets, a family credit, a capital gains rule, and rejected forms."""
import numpy as np

import autograph as ag

ENTRY = "assess"
BRACKETS = [(0, 10_000, 0.0), (10_000, 40_000, 0.2), (40_000, 90_000, 0.35), (90_000, None, 0.45)]


def check(income, children):
    if income < 0:
        raise ValueError("negative income")
    if children != int(children) or not 0 <= children <= 20:
        raise ValueError("children?")


def tax(income, gains, children, married):
    total = 0
    marginal = 0.0
    for low, high, rate in BRACKETS:
        if income <= low:
            break
        top = income if high is None else min(income, high)
        total += (top - low) * rate
        marginal = rate
    total += gains * (0.15 if income < 50_000 else 0.25) if gains > 1000 else 0
    if children > 0 and (married or income < 30_000):
        credit = 400 * min(children, 3) + 100 * max(children - 3, 0)
        if total > credit:
            total -= credit
        else:
            total = 0
    return round(total, 2), marginal


@ag.function
def assess(incomes, gains, children, married):
    revenue = 0
    rejected = 0
    counts = {0.0: 0, 0.2: 0, 0.35: 0, 0.45: 0}
    for form in zip(incomes, gains, children, married):
        try:
            check(form[0], form[2])
        except ValueError:
            rejected += 1
            continue
        amount, marginal = tax(*form)
        revenue += amount
        for rate in counts:
            if marginal == rate:
                counts[rate] += 1
    return revenue, rejected, counts


def cases():
    i = np.array([5_000.0, 35_000, 60_000, 120_000, 28_000])
    g = np.array([0.0, 2_000, 500, 10_000, 1_500])
    c = np.array([1, 2, 0, 5, 4])
    m = np.array([False, True, True, True, False])
    return [(i, g, c, m), (i * 0.5, g, c, ~m), (np.where(i > 1e5, -1.0, i), g, c, m)]
