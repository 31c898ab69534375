def may_be_unset(x, n):
    for i in range(n):
        y = x * i
    return y


def proved(x):
    with open("file"):
        if x > 0:
            return x
        y = 1
    return y
