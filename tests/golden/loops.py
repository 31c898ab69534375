def gcd(a, b):
    while b != 0:
        a, b = b, a % b
    return a


def total(xs):
    s = 0.0
    for x in xs:
        s += x
    return s


def find(xs, wanted):
    for i, x in enumerate(xs):
        if x == wanted:
            return i
    return -1


def first_square_above(n):
    for i in range(n):
        if i * i > n:
            break
    else:
        i = -1
    return i


def skip_odd(n):
    s = 0
    for i in range(n):
        if i % 2:
            continue
        s += i
    return s


def nested(n):
    count = 0
    for i in range(n):
        for j in range(i):
            if (i + j) % 3 == 0:
                break
            count += 1
    return count
