def sign(x):
    if x > 0:
        return 1.0
    elif x < 0:
        return -1.0
    return 0.0


def clamp(x, low, high):
    if x < low:
        x = low
    if x > high:
        x = high
    return x


def relu_and_count(x, count):
    if x > 0:
        y = x
        count += 1
    else:
        y = 0.0
    return y, count


def choose(x, y):
    return x if 0 <= x < 10 and not y else y or -x


def log(x, verbose):
    if verbose:
        print("x is", x)
    return x + 1
