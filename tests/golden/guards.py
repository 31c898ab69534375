def classify(x):
    if x < 0:
        return 0
    if x == 0:
        return 1
    y = x * x
    if y > 100:
        raise ValueError("too large")
    return y
