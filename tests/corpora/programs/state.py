"""Small programs that change what lives outside of them, each once a fault: what one call leaves another call finds.

A program is a title, a text and the inputs of the calls, which are made one after the other; `V` is an array.
"""

from __future__ import annotations

from typing import Any

V = "V"

PROGRAMS: list[tuple[str, str, list[tuple[Any, ...]]]] = []


def program(title: str, text: str, *inputs: tuple[Any, ...]) -> None:
    PROGRAMS.append((title, text, list(inputs) or [(2,), (-1,), (5,)]))

program(
    'A two args one list',
    """
@ag.function
def f(a, l, k):
    l[0] = a
    k[1] = a
    return l[1], k[0]
def state():
    l = [1, 2, 3]
    return l, l
""",
)

program(
    'A2 list and attribute',
    """
class Box: pass
@ag.function
def f(a, o, l):
    o.l[0] = a
    return l[0]
def state():
    o = Box(); o.l = [1, 2]
    return o, o.l
""",
)

program(
    'A3 list in list',
    """
@ag.function
def f(a, m, l):
    m[0][0] = a
    return l[0]
def state():
    l = [1, 2]
    return [l, [3, 4]], l
""",
)

program(
    'B np in dict arg',
    """
@ag.function
def f(a, d):
    d["a"][1] += 5
    return d["a"][1]
def state():
    return {"a": np.ones(4, np.int32)},
""",
)

program(
    'B2 jnp in dict arg',
    """
@ag.function
def f(a, d):
    d["a"][1] += 5
    return d["a"][1]
def state():
    return {"a": jnp.ones(4, jnp.int32)},
""",
)

program(
    'B3 np in dict arg, traced value',
    """
@ag.function
def f(a, d):
    d["a"][1] += a
    return d["a"][1]
def state():
    return {"a": np.ones(4, np.int32)},
""",
)

program(
    'B4 np in list arg, traced value',
    """
@ag.function
def f(a, d):
    d[0][1] += a
    return d[0][1]
def state():
    return [np.ones(4, np.int32)],
""",
)

program(
    'B5 np in obj in arg',
    """
class Box: pass
@ag.function
def f(a, d):
    d.a[1] += a
    return d.a[1]
def state():
    d = Box(); d.a = np.ones(4, np.int32)
    return d,
""",
)

program(
    'C global np static',
    """
T = np.zeros(4, np.int32)
@ag.function
def f(a):
    T[2] += 1
    return a
""",
)

program(
    'C2 global np static after a traced',
    """
T = np.zeros(4, np.int32)
@ag.function
def f(a):
    T[1] = a
    T[2] += 1
    return a
""",
)

program(
    'C3 global np read in loop, then static store',
    """
T = np.zeros(4, np.int32)
@ag.function
def f(a, z):
    for i in range(a):
        z[0] = T[1]
    T[2] += 1
    return a, z
""",
    (2, V), (3, V),
)

program(
    'C3b global np read by traced index, then static store',
    """
T = np.zeros(4, np.int32)
@ag.function
def f(a):
    x = T[a]
    T[2] += 1
    return x
""",
    (2,), (2,),
)

program(
    'D helper on global np',
    """
T = np.zeros(4, np.int32)
def h(p, e):
    p[0] = e
@ag.function
def f(a):
    h(T, a)
    return a
""",
)

program(
    'D2 helper on global list',
    """
T = [1, 2, 3]
def h(p, e):
    p[0] = e
@ag.function
def f(a):
    h(T, a)
    return a
""",
)

program(
    'E closure store in test of while',
    """
@ag.function
def f(a, v):
    def g(e):
        nonlocal v
        v[0] += e
        return 3
    c = 0
    while g(a) > a and c < 2:
        c += 1
    return v, c
""",
    (2, V), (3, V), (-1, V),
)

program(
    'E2 closure store w/o nonlocal, straight',
    """
@ag.function
def f(a, v):
    def g(e):
        v[0] += e
        return 3
    g(a)
    g(a)
    return v
""",
    (2, V), (3, V), (-1, V),
)

program(
    'E3 closure store with nonlocal in a branch',
    """
@ag.function
def f(a, v):
    def g(e):
        nonlocal v
        v[0] += e
        return 3
    if a > 2:
        g(a)
    return v
""",
    (2, V), (3, V), (-1, V),
)

program(
    'E4 closure store with nonlocal in an and-operand',
    """
@ag.function
def f(a, v):
    def g(e):
        nonlocal v
        v[0] += e
        return 3
    if a > 2 and g(a) > 2:
        v[1] = 5
    return v
""",
    (2, V), (3, V), (-1, V),
)

program(
    'E5 closure store without nonlocal in a branch',
    """
@ag.function
def f(a, v):
    def g(e):
        v[0] += e
        return 3
    if a > 2:
        g(a)
    return v
""",
    (2, V), (3, V), (-1, V),
)

program(
    'E6 helper store in while test',
    """
def h(p, e):
    p[0] += e
    return 3
@ag.function
def f(a, v):
    c = 0
    while h(v, a) > a and c < 2:
        c += 1
    return v, c
""",
    (2, V), (3, V), (-1, V),
)

program(
    'E7 helper store in while test, c first',
    """
def h(p, e):
    p[0] += e
    return 3
@ag.function
def f(a, v):
    c = 0
    while c < 2 and h(v, a) > a:
        c += 1
    return v, c
""",
    (2, V), (3, V), (-1, V),
)

program(
    'F print after failing assert',
    """
@ag.function
def f(a):
    assert a == 2, "bad"
    print("after", a)
    return a
""",
)

program(
    'F2 print after failing assert in method',
    """
class Box:
    def __call__(self, e):
        assert e == 2, "bad"
        return 1
@ag.function
def f(a, o):
    o(a)
    print("after", a)
    return a
def state():
    return Box(),
""",
)

program(
    'F3 print after failing assert in helper',
    """
def h(e):
    assert e == 2, "bad"
    return 1
@ag.function
def f(a):
    h(a)
    print("after", a)
    return a
""",
)

program(
    'F4 with list state',
    """
@ag.function
def f(a, l):
    assert a == 2, "bad"
    print("after", a)
    l[0] = a
    return a
def state():
    return [1, 2],
""",
)

program(
    'G storing helper in and-operand',
    """
def h(p, e):
    p[0] = e
    return e
@ag.function
def f(a, l):
    if a == 2 and h(l, 7) > a:
        l[1] = 9
    return l[0]
def state():
    return [1, 2],
""",
)

program(
    'G2 storing helper in and-operand, array',
    """
def h(p, e):
    p[0] = e
    return e
@ag.function
def f(a, l):
    if a == 2 and h(l, 7) > a:
        l[1] = 9
    return l
""",
    (2, V), (3, V), (-1, V),
)

program(
    'G3 storing helper in conditional expression',
    """
def h(p, e):
    p[0] = e
    return e
@ag.function
def f(a, l):
    s = h(l, 7) if a == 2 else 0
    return l, s
""",
    (2, V), (3, V), (-1, V),
)

program(
    'H attr = global list',
    """
L = [1, 2, 3]
class Box: pass
@ag.function
def f(a, q):
    q.l = L
    q.l[0] = a
    return a
def state():
    q = Box(); q.l = [4, 5, 6]
    return q,
""",
)

program(
    'H2 swap attrs',
    """
class Box: pass
@ag.function
def f(a, q, l):
    q.l = l
    q.l[0] = a
    return l[0]
def state():
    q = Box(); q.l = [4, 5, 6]
    return q, [1, 2]
""",
)

program(
    'I alias of attr np array in loop and branch',
    """
class Box: pass
@ag.function
def f(a, o):
    y = o.a
    for i in range(a):
        if i > 1:
            y[i % 4] = i
    return a
def state():
    o = Box(); o.a = np.ones(4, np.int32)
    return o,
""",
)

program(
    'I2 alias of attr jnp array in branch',
    """
class Box: pass
@ag.function
def f(a, o):
    y = o.a
    if a > 1:
        y[a % 4] = 7
    return y
def state():
    o = Box(); o.a = jnp.ones(4, jnp.int32)
    return o,
""",
)

program(
    'I3 alias of attr np array in branch',
    """
class Box: pass
@ag.function
def f(a, o):
    y = o.a
    if a > 1:
        y[a % 4] = 7
    return y
def state():
    o = Box(); o.a = np.ones(4, np.int32)
    return o,
""",
)

program(
    'K attr set then +=, static loop',
    """
class Box: pass
@ag.function
def f(a, x, o):
    for k in range(3):
        o.t = x
        o.t += 1.0
    return o.t
def state():
    o = Box(); o.t = 0.5
    return o,
""",
    (2, 1.5),
)

program(
    'K2 no loop',
    """
class Box: pass
@ag.function
def f(a, x, o):
    o.t = x
    o.t += 1.0
    return o.t, x
def state():
    o = Box(); o.t = 0.5
    return o,
""",
    (2, 1.5),
)

program(
    'K3 name: y = x; y += 1 ',
    """
@ag.function
def f(a, x):
    y = x
    y += 1.0
    return y, x
""",
    (2, 1.5),
)

program(
    'K4 with int item',
    """
@ag.function
def f(a, x, l):
    l[0] = a
    l[0] += 1
    return a, l[0]
def state():
    return [1, 2],
""",
    (2, 1.5),
)

program(
    'M nested fn: static-branch return and store into closure',
    """
@ag.function
def f(a, v):
    def g(e):
        if a < 3:
            v[e] += 7
            return e
        return 1
    g(1)
    return v
""",
    (2, V), (3, V), (-1, V),
)

program(
    'M2 same with nonlocal',
    """
@ag.function
def f(a, v):
    def g(e):
        nonlocal v
        if a < 3:
            v[e] += 7
            return e
        return 1
    g(1)
    return v
""",
    (2, V), (3, V), (-1, V),
)

program(
    'N np in attr stored via helper',
    """
class Box: pass
def h(p, e):
    p[0] = e
@ag.function
def f(a, o):
    h(o.a, a)
    return o.a[0]
def state():
    o = Box(); o.a = np.ones(4, np.int32)
    return o,
""",
)

program(
    'N2 jnp in attr stored via helper',
    """
class Box: pass
def h(p, e):
    p[0] = e
@ag.function
def f(a, o):
    h(o.a, a)
    return o.a[0]
def state():
    o = Box(); o.a = jnp.ones(4, jnp.int32)
    return o,
""",
)

program(
    'N3 np in attr two deep stored via helper',
    """
class Box: pass
def h(p, e):
    p[0] = e
@ag.function
def f(a, q):
    h(q.o.a, a)
    return q.o.a[0]
def state():
    o = Box(); o.a = np.ones(4, np.int32)
    q = Box(); q.o = o
    return q,
""",
)

program(
    'N4 alias of np attr',
    """
class Box: pass
@ag.function
def f(a, o):
    y = o.a
    y[0] = a
    return o.a[0]
def state():
    o = Box(); o.a = np.ones(4, np.int32)
    return o,
""",
)

program(
    'O helper called in nested function on closure',
    """
def h(p, e):
    p[0] = e
    return e
@ag.function
def f(a, v):
    def g(e):
        return h(v, e)
    g(a)
    return v
""",
    (2, V), (3, V), (-1, V),
)

program(
    'O2 with nonlocal',
    """
def h(p, e):
    p[0] = e
    return e
@ag.function
def f(a, v):
    def g(e):
        nonlocal v
        return h(v, e)
    g(a)
    return v
""",
    (2, V), (3, V), (-1, V),
)

program(
    'P list store in loop with return',
    """
@ag.function
def f(a, l, r):
    for j in range(a):
        if j > 2:
            return 1
        l[j % 3] += 7
    return 3
def state():
    return [1, 2, 3], 0
""",
)

program(
    'P2 attr dict store in loop with return',
    """
@ag.function
def f(a, d):
    for j in range(a):
        if j > 2:
            return 1
        d["k"] += 7
    return 3
def state():
    return {"k": 1},
""",
)

program(
    'P3 list store in loop',
    """
@ag.function
def f(a, l):
    for j in range(a):
        l[1] += 7
    return 3
def state():
    return [1, 2, 3],
""",
)

program(
    'P4 nested list store in loop',
    """
@ag.function
def f(a, m):
    for j in range(a):
        m[1][0] += 7
    return 3
def state():
    return [[1, 2, 3], [4, 5]],
""",
)

program(
    'P5 dict of array store in loop',
    """
@ag.function
def f(a, d):
    for j in range(a):
        d["a"][0] += 7
    return 3
def state():
    return {"a": jnp.ones(3, jnp.int32)},
""",
)

program(
    'P6 swap l and dict items in loop',
    """
@ag.function
def f(a, l, d):
    for j in range(a):
        l[0], d["k"] = d["k"], l[0]
    return 3
def state():
    return [1, 2], {"k": 5}
""",
)

program(
    'P7 dict store and break',
    """
@ag.function
def f(a, d):
    c = 0
    while c < 3:
        c += 1
        if a <= d["t"]:
            d["t"] += 1
            break
    return d["t"]
def state():
    return {"t": 5},
""",
)

program(
    'P8 list swap, static loop, traced index',
    """
@ag.function
def f(a, l):
    c = 0
    while c < 3:
        c += 1
        l[a % 3], l[c % 3] = l[c % 3], l[a % 3]
    return a
def state():
    return [1, 2, 3],
""",
)

program(
    'P9 with self',
    """
class Box:
    @ag.function
    def step(self, a, l):
        c = 0
        while c < 3:
            c += 1
            l[a % 3], l[c % 3] = l[c % 3], l[a % 3]
        return a
def f(a, o, l):
    return o.step(a, l)
def state():
    return Box(), [1, 2, 3]
""",
)

program(
    'P10 dict array swap in loop',
    """
@ag.function
def f(a, d):
    for c in range(a):
        d["a"][2], d["a"][c % 4] = d["a"][c % 4], d["a"][2]
    return a
def state():
    return {"a": jnp.arange(4)},
""",
)

program(
    'M3 nested fn: branch store closure, no return',
    """
@ag.function
def f(a, v):
    def g(e):
        if a < 3:
            v[e] += 7
    g(1)
    return v
""",
    (2, V), (3, V), (-1, V),
)

program(
    'M4 nonlocal array assigned then return',
    """
@ag.function
def f(a, v):
    c = 0
    def g(e):
        nonlocal c
        if a < 3:
            c += 7
            return e
        return 1
    g(1)
    return c
""",
    (2, V), (3, V), (-1, V),
)

program(
    'M5 helper param store then return in branch',
    """
def g(v, e):
    if e < 3:
        v[0] += 7
        return e
    return 1
@ag.function
def f(a, v):
    g(v, a)
    return v
""",
    (2, V), (3, V), (-1, V),
)

program(
    'M6 method store self.a then return in branch',
    """
class Box:
    def g(self, e):
        if e < 3:
            self.a[0] += 7
            return e
        return 1
@ag.function
def f(a, o):
    o.g(a)
    return o.a[0]
def state():
    o = Box(); o.a = jnp.arange(4)
    return o,
""",
)

program(
    'N5 jnp two deep via helper',
    """
class Box: pass
def h(p, e):
    p[0] = e
@ag.function
def f(a, q):
    h(q.o.a, a)
    return q.o.a[0]
def state():
    o = Box(); o.a = jnp.ones(4, jnp.int32)
    q = Box(); q.o = o
    return q,
""",
)

program(
    'N6 np/jnp two deep direct',
    """
class Box: pass
@ag.function
def f(a, q):
    q.o.a[0] = a
    return q.o.a[0]
def state():
    o = Box(); o.a = jnp.ones(4, jnp.int32)
    q = Box(); q.o = o
    return q,
""",
)

program(
    'P11 while static, traced index, local list',
    """
@ag.function
def f(a):
    l = [1, 2, 3]
    c = 0
    while c < 3:
        c += 1
        l[a % 3] += c
    return l[0], l[1]
""",
)

program(
    'P12 while static, traced index, arg list',
    """
@ag.function
def f(a, l):
    c = 0
    while c < 3:
        c += 1
        l[a % 3] += c
    return l[0], l[1]
def state():
    return [1, 2, 3],
""",
)

program(
    'P13 for static, traced index, arg list',
    """
@ag.function
def f(a, l):
    for c in range(3):
        l[a % 3] += c
    return l[0], l[1]
def state():
    return [1, 2, 3],
""",
)

program(
    'P14 for static, swap',
    """
@ag.function
def f(a, l):
    for c in range(3):
        l[0], l[1] = l[1], l[0]
    return l[0], l[1]
def state():
    return [1, 2, 3],
""",
)

program(
    'P15 while static, traced break, global list',
    """
L = [1, 2, 3]
@ag.function
def f(a):
    c = 0
    while c < 3:
        c += 1
        if a <= L[0]:
            L[0] += 1
            break
    return a
""",
)

program(
    'P16 while static, traced break, attr',
    """
class Box: pass
@ag.function
def f(a, o):
    c = 0
    while c < 3:
        c += 1
        if a <= o.t:
            o.t += 1
            break
    return a
def state():
    o = Box(); o.t = 3
    return o,
""",
)

program(
    'P17 while static, traced break, list arg',
    """
@ag.function
def f(a, l):
    c = 0
    while c < 3:
        c += 1
        if a <= l[0]:
            l[0] += 1
            break
    return a
def state():
    return [1, 2, 3],
""",
)

program(
    'P18 while traced, traced index, nested',
    """
@ag.function
def f(a):
    m = [[1, 2, 3], [4, 5, 6]]
    c = 0
    while c < a:
        c += 1
        m[1][c % 3] += c
    return m[1][0], m[1][1], m[0][0]
""",
)

program(
    'Q1 for row in list changed',
    """
@ag.function
def f(a):
    l = [1, 2, 3]
    s = 0
    for e in l:
        if a > 2:
            l[2] = 10
        s += e
    return s
""",
)

program(
    'R1 list rebind in branch by method',
    """
@ag.function
def f(a, l):
    if a > 2:
        l.reverse()
        l.append(l.pop(0))
    return l[0], l[1]
def state():
    return [1, 2, 3],
""",
)

program(
    'S1 list store after raise in for',
    """
@ag.function
def f(a, l):
    for j in range(a):
        if j == 2:
            raise KeyError("x")
        l[0] += 1
    return a
def state():
    return [1, 2],
""",
    (2,), (5,),
)

program(
    'S2 list store traced idx after raise in for',
    """
@ag.function
def f(a, l):
    for j in range(a):
        if j == 2:
            raise KeyError("x")
        l[a % 2] += 1
    return a
def state():
    return [1, 2],
""",
    (2,), (5,),
)

program(
    'S3 list store traced idx after assert, straight',
    """
@ag.function
def f(a, l):
    assert a == 2, "x"
    l[a % 2] += 1
    return a
def state():
    return [1, 2],
""",
    (2,), (5,),
)

program(
    'S4 list.reverse after assert',
    """
@ag.function
def f(a, l):
    assert a == 2, "x"
    l.reverse()
    return a
def state():
    return [1, 2],
""",
    (2,), (5,),
)

program(
    'S5 list.append after assert',
    """
@ag.function
def f(a, l):
    assert a == 2, "x"
    l.append(7)
    return a
def state():
    return [1, 2],
""",
    (2,), (5,),
)

program(
    'S6 l[:] = after assert',
    """
@ag.function
def f(a, l):
    assert a == 2, "x"
    l[:] = l[::-1]
    return a
def state():
    return [1, 2],
""",
    (2,), (5,),
)

program(
    'S7 dict.update after assert',
    """
@ag.function
def f(a, l):
    assert a == 2, "x"
    l.update(k=7)
    return a
def state():
    return {"k": 1},
""",
    (2,), (5,),
)

program(
    'S8 o.a[i] after assert, np arr',
    """
class Box: pass
@ag.function
def f(a, o):
    assert a == 2, "x"
    o.a[0] += 1
    return a
def state():
    o = Box(); o.a = jnp.ones(3, jnp.int32)
    return o,
""",
    (2,), (5,),
)

program(
    'S9 setattr after assert',
    """
class Box: pass
@ag.function
def f(a, o):
    assert a == 2, "x"
    setattr(o, "a", 2)
    return a
def state():
    o = Box(); o.a = 1
    return o,
""",
    (2,), (5,),
)

program(
    'T1 static error after a change',
    """
@ag.function
def f(a, l):
    l[0] = 5
    raise ValueError("x")
def state():
    return [1, 2],
""",
)

program(
    'T2 static error after a traced change',
    """
@ag.function
def f(a, l):
    l[0] = a
    raise ValueError("x")
def state():
    return [1, 2],
""",
)

program(
    'T3 static assert on static after a traced change of attribute',
    """
class Box: pass
@ag.function
def f(a, o):
    o.n += a
    assert len([1]) == 2, f"x {a}"
    return a
def state():
    o = Box(); o.n = 1
    return o,
""",
)

program(
    'U1 guard clause, then nested function with global',
    """
G = 1
@ag.function
def f(a):
    if a == 2:
        return 1
    def g(e):
        global G
        G = e
        return e
    g(a)
    return 3
""",
)

program(
    'U2 guard clause, then global store',
    """
G = 1
@ag.function
def f(a):
    global G
    if a == 2:
        return 1
    G = a
    return 3
""",
)

program(
    'U3 helper with guard clause and global',
    """
G = 1
def g(e):
    global G
    if e == 2:
        return 1
    G += e
    return 3
@ag.function
def f(a):
    return g(a)
""",
)

program(
    'U4 branch + return in nested function, nonlocal',
    """
@ag.function
def f(a):
    c = 0
    def g(e):
        nonlocal c
        if e == 2:
            return 1
        c += e
        return 3
    return g(a), c
""",
)

program(
    'W1 alias and closure store',
    """
@ag.function
def f(a, v):
    def g(e):
        v[0] += e
        return e
    y = v
    g(a)
    return v, y
""",
    (2, V), (3, V), (-1, V),
)

program(
    'W2 alias and closure store nonlocal',
    """
@ag.function
def f(a, v):
    def g(e):
        nonlocal v
        v[0] += e
        return e
    y = v
    g(a)
    return v, y
""",
    (2, V), (3, V), (-1, V),
)

program(
    'X1 np attr += conditional with method',
    """
class Box:
    def put(self, e):
        return e
@ag.function
def f(a, q):
    q.a[a % 3] += 1 if q.put(a) != 1 else 2
    return a
def state():
    q = Box(); q.a = np.zeros(3, np.int32)
    return q,
""",
)

program(
    'X2 np attr += conditional',
    """
class Box: pass
@ag.function
def f(a, q):
    q.a[a % 3] += 1 if a != 1 else 2
    return a
def state():
    q = Box(); q.a = np.zeros(3, np.int32)
    return q,
""",
)

program(
    'X3 np attr store static value, traced idx',
    """
class Box: pass
@ag.function
def f(a, q):
    q.a[a % 3] = 5
    return a
def state():
    q = Box(); q.a = np.zeros(3, np.int32)
    return q,
""",
)

program(
    'X4 np attr of dataclass inside',
    """
@dataclass
class Node:
    box: object
    a: object
@ag.function
def f(a, q):
    q.a[a % 3] += a
    return a
def state():
    return Node(3, np.zeros(3, np.int32)),
""",
)

program(
    'Y1 alias before loop, store in branch in loop',
    """
@ag.function
def f(a, v):
    y = v
    c = 0
    while c < 2:
        c += 1
        if a > c:
            y[0] = 7
    return v, y
""",
    (2, V), (3, V), (-1, V),
)

program(
    'Y2 alias before traced loop, store in branch in loop',
    """
@ag.function
def f(a, v):
    y = v
    for c in range(a):
        if a > c:
            y[0] = 7
    return v, y
""",
    (2, V), (3, V), (-1, V),
)

program(
    'Y3 dict array in a branch in a traced loop',
    """
@ag.function
def f(a, d):
    for c in range(a):
        if a > c:
            d["k"] += 1
        else:
            d["a"][0] = 7
    return a
def state():
    return {"a": jnp.zeros(3, jnp.int32), "k": 1},
""",
)

program(
    'Y4 dict array and v in a traced loop',
    """
@ag.function
def f(a, v, d):
    for c in range(a):
        if a > c:
            d["a"][0] = 7
        v[0] += 1
    return v
def state():
    return {"a": jnp.zeros(3, jnp.int32), "k": 1},
""",
    (2, V), (3, V), (-1, V),
)

program(
    'Z1 tracer leak',
    """
@ag.function
def f(a, d, l):
    c = 0
    while c < a:
        c += 1
        d["t"] -= 1
        e = 0
        while e < a:
            e += 1
            if d["t"] != a:
                d["t"] = d["t"]
            else:
                l.append(l[e % 3])
                l.pop(0)
    return a
def state():
    return {"t": 1}, [1, 2, 3]
""",
)

program(
    'Z2 tracer leak less',
    """
@ag.function
def f(a, l):
    c = 0
    while c < a:
        c += 1
        if c > 1:
            l.append(l[c % 3])
            l.pop(0)
    return a
def state():
    return [1, 2, 3],
""",
)

program(
    'dict order, jnp',
    """
@ag.function
def f(a, d):
    d["k"] += a
    return a
def state():
    return {"k": 1, "a": 10},
""",
)

program(
    'X5 jnp attr += with method',
    """
class Box:
    def put(self, e):
        return e
@ag.function
def f(a, q):
    q.a[a % 3] += q.put(1)
    return q.a
def state():
    q = Box(); q.a = jnp.zeros(3, jnp.int32)
    return q,
""",
)

program(
    'X6 np attr = with method',
    """
class Box:
    def put(self, e):
        return e
@ag.function
def f(a, q):
    q.a[0] = q.put(a)
    return q.a[0]
def state():
    q = Box(); q.a = np.zeros(3, np.int32)
    return q,
""",
)

program(
    'X7 np attr after read through method',
    """
class Box:
    def put(self, e):
        return e
@ag.function
def f(a, q):
    s = q.put(a)
    q.a[0] = s
    return q.a[0]
def state():
    q = Box(); q.a = np.zeros(3, np.int32)
    return q,
""",
)

program(
    'X8 storing method, jnp attr, value',
    """
class Box:
    def put(self, e):
        self.a[1] = 5
        return e
@ag.function
def f(a, q):
    q.a[0] += q.put(a)
    return q.a
def state():
    q = Box(); q.a = jnp.zeros(3, jnp.int32)
    return q,
""",
)

program(
    'X9 storing helper in value of a store',
    """
def put(p, e):
    p[1] = 5
    return e
@ag.function
def f(a, v):
    v[0] += put(v, a)
    return v
""",
    (2, V), (3, V), (-1, V),
)

program(
    'X10 storing helper in value of a plain store',
    """
def put(p, e):
    p[1] = 5
    return e
@ag.function
def f(a, v):
    v[0] = put(v, a)
    return v
""",
    (2, V), (3, V), (-1, V),
)

program(
    'X11 closure store in value of a store',
    """
@ag.function
def f(a, v):
    def put(e):
        v[1] = 5
        return e
    v[0] = put(a)
    return v
""",
    (2, V), (3, V), (-1, V),
)

program(
    'X12 item store through __setitem__, object',
    """
class Box:
    def __getitem__(self, i):
        return self.a[i]
    def __setitem__(self, i, e):
        self.a[i] = e
@ag.function
def f(a, q):
    q[0] += a
    if a > 2:
        q[1] = 7
    return q.a
def state():
    q = Box(); q.a = jnp.zeros(3, jnp.int32)
    return q,
""",
)

program(
    'X13 property setter storing array',
    """
class Box:
    @property
    def size(self):
        return self.a[0]
    @size.setter
    def size(self, e):
        self.a[1] = e
@ag.function
def f(a, q):
    q.size = a
    if a > 2:
        q.size += 7
    return q.a
def state():
    q = Box(); q.a = jnp.zeros(3, jnp.int32)
    return q,
""",
)

program(
    'V1 for over v storing v',
    """
@ag.function
def f(a, v):
    s = 0
    for e in v:
        v[3] = a
        s += e
    return s
""",
    (2, V), (3, V), (-1, V),
)

program(
    'V2 alias of a list item array',
    """
@ag.function
def f(a, l):
    y = l[0]
    y[0] = a
    return l[0], y
def state():
    return [jnp.zeros(2, jnp.int32)],
""",
)

program(
    'V3 alias of a dict item array',
    """
@ag.function
def f(a, d):
    y = d["a"]
    y[0] = a
    return d["a"], y
def state():
    return {"a": jnp.zeros(2, jnp.int32)},
""",
)

program(
    'V4 alias of a two deep attribute array',
    """
class Box: pass
@ag.function
def f(a, q):
    y = q.o.a
    y[0] = a
    return q.o.a, y
def state():
    o = Box(); o.a = jnp.zeros(2, jnp.int32)
    q = Box(); q.o = o
    return q,
""",
)

program(
    'V5 alias of attribute and a storing method',
    """
class Box:
    def put(self, e):
        self.a[0] = e
@ag.function
def f(a, q):
    y = q.a
    q.put(a)
    return q.a, y
def state():
    o = Box(); o.a = jnp.zeros(2, jnp.int32)
    return o,
""",
)

program(
    'V6 two objects, one',
    """
class Box: pass
@ag.function
def f(a, q, o):
    q.n += a
    o.n += 1
    if a > 2:
        q.n += 5
    return q.n, o.n
def state():
    o = Box(); o.n = 1
    return o, o
""",
)

program(
    'AA1 attr list := global list, slice store',
    """
L = [1, 2, 3]
class Box: pass
@ag.function
def f(a, q):
    q.l[a % 3] = 5
    q.l = L
    q.l[1:3] = [1, a]
    return a
def state():
    q = Box(); q.l = [4, 5, 6]
    return q,
""",
)

program(
    'AA2 attr list := global list, traced index',
    """
L = [1, 2, 3]
class Box: pass
@ag.function
def f(a, q):
    q.l[a % 3] = 5
    q.l = L
    return a
def state():
    q = Box(); q.l = [4, 5, 6]
    return q,
""",
)

program(
    'AA3 attr list := list arg, store',
    """
class Box: pass
@ag.function
def f(a, q, l):
    q.l[a % 3] = 5
    q.l = l
    l[0] = a
    return a
def state():
    q = Box(); q.l = [4, 5, 6]
    return q, [1, 2, 3]
""",
)

program(
    'D3 local store of a global np and a helper',
    """
T = np.zeros(4, np.int32)
def h(p, e):
    p[0] = e
@ag.function
def f(a):
    h(T, a)
    T[1] = a
    return a
""",
)

program(
    'D4 local store of a global list and a helper',
    """
L = [1, 2, 3]
def h(p, e):
    p[0] = e
@ag.function
def f(a):
    for i in range(a):
        L[1] = 2
        h(L, i)
    return a
""",
)

program(
    'E1 global list and global array, each on its side',
    """
L = [1, 2, 3]
T = np.zeros(4, np.int32)
@ag.function
def f(a):
    if a > 0:
        L[0] = 7
    else:
        T[3] = 5
    if a > 0:
        L[a % 3] = 8
    return 2
""",
)

program(
    'E2 global list in a branch at a traced index, changed again by a method',
    """
L = [1, 2, 3]
class Box:
    def put(self, e):
        L[e % 3] = e
        return -1
@ag.function
def f(a, o, l):
    if 0 != a:
        L[a] = l[1]
    o.put(5)
    return 1
def state():
    return Box(), [0] * 3
""",
    (1,), (2,), (0,),
)

program(
    'E3 in-place operator on a span of a global array',
    """
T = np.zeros(4, np.int32)
@ag.function
def f(a):
    T[:] += 1
    if a > 0:
        T[1:3] *= 2
    return a
""",
)

program(
    'E4 lists in a list at a traced index',
    """
@ag.function
def f(a, m):
    m[a % 2][a % 3] = 3
    for k in range(2):
        m[k % 2][a % 3] += k
    if a > 2:
        m[a % 2][0] = 9
    return m[1][0]
def state():
    return [[1, 2, 3], [4, 5, 6]],
""",
)

program(
    'E5 an item of a list at a traced index is a copy',
    """
@ag.function
def f(a, m):
    row = m[a % 2]
    row[0] = a
    return m[1][0]
def state():
    return [[1, 2, 3], [4, 5, 6]],
""",
)

program(
    'E6 a test that changes what the loop carries',
    """
@ag.function
def f(a, z):
    def g(e):
        z[a % 2] = e
        return 3
    c = 0
    while c < g(c + 5) and c < a:
        c += 1
        if a == 10:
            z[0] = 4
            return c
    return c
def state():
    return [7, 8],
""",
)

program(
    'E7 a test that changes an array which the loop carries',
    """
@ag.function
def f(a):
    z = jnp.zeros(2, jnp.int32)
    def g(e):
        nonlocal z
        z[a % 2] = e
        return 3
    c = 0
    while c < g(c + 5) and c < a:
        c += 1
        z = z + 1
        if a == 10:
            z[0] = 4
            return c, z
    return c, z
""",
)

program(
    'E8 an attribute in a dict, stored into by a method',
    """
class Box:
    def __init__(self): self.a = jnp.zeros(3, jnp.int32)
    def put(self, e): self.a[e % 3] = e
@ag.function
def f(a, q, d):
    d['a'] = q.a
    q.put(a)
    return d['a'].sum()
def state():
    return Box(), {'a': jnp.zeros(3, jnp.int32)}
""",
)

program(
    'E9 an attribute in a dict, stored into',
    """
class Box:
    def __init__(self): self.a = jnp.zeros(3, jnp.int32)
@ag.function
def f(a, q, d):
    d['a'] = q.a
    q.a[a % 3] = a
    return d['a'].sum()
def state():
    return Box(), {'a': jnp.zeros(3, jnp.int32)}
""",
)

program(
    'E10 a variable in an attribute, stored into by a call of the object',
    """
class Box:
    def __init__(self): self.a = jnp.zeros(3, jnp.int32)
    def __call__(self, e): self.a[e % 3] = e
@ag.function
def f(a, q):
    v = jnp.ones(3, jnp.int32)
    q.a = v
    q(a)
    return v.sum()
def state():
    return Box(),
""",
)

program(
    'E11 globals and closures after an error',
    """
G = 0
T = np.zeros(3, np.int32)
@ag.function
def f(a, d):
    global G
    G = G + 1
    T[0] = G
    for k in range(3):
        G += 1
        if a < k:
            raise ValueError(f'bad {k}')
        T[k] += 1
        d['n'] += 1
        G += 10
    T[2] = 7
    return a
def state():
    return {'n': 0},
""",
    (5,), (1,), (-1,), (5,),
)

program(
    'E12 a NumPy argument',
    """
@ag.function
def f(a, v):
    v[0] = a
    if a < 0:
        raise ValueError('negative')
    v[a % 3] += 2
    return v.sum()
def state():
    return np.zeros(3, np.int32),
""",
)

program(
    'E14 a value that calls what stores into the same global',
    """
T = np.zeros(4, np.int32)
class Box:
    def __init__(self): self.a = jnp.zeros(4, jnp.int32)
    def change(self, e):
        for j in range(3):
            if 5 > (1 if T[e % 4] <= j - T[j % 4] else j):
                T[j % 4] *= -1
            self.a[:] += 0
        return -1
    def put(self, e):
        T[3] = self.change(T[e % 4]) % 97
        return e
@ag.function
def f(a, o):
    T[1] = (o.put(a) - 1) % 7
    for j in range(3):
        T[::2] = j % 97
        T[2] += o.put(a)
    return a
def state():
    return Box(),
""",
)

program(
    'E15 a callee stores into an attribute that it was given, and binds the attribute anew',
    """
class Box:
    def __init__(self): self.a, self.b = jnp.zeros(4, jnp.int32), jnp.ones(4, jnp.int32)
def put(p, o, v):
    p[0] = v
    if v > 2:
        o.a = o.b + 1
    return v
@ag.function
def f(a, o):
    s = o.a
    x = put(o.a, o, 3) + put(s, o, 4)
    put(o.a, o, 5)
    return x, s[0] + a
def state():
    return Box(),
""",
)

program(
    'E16 a callee binds the global number that it was given',
    """
G = 1
L = [1, 2, 3]
def change(e):
    global G
    L[0] = e
    x = L[1]
    L[1] = G
    G = x
    return 5
@ag.function
def f(a):
    return change(G) + a
def state():
    return ()
""",
)

program(
    'E17 a loop in which a callee stores into a global, and one that may end early',
    """
T = np.zeros(4, np.int32)
def put(p, e):
    p[0] += 2
    return e
@ag.function
def f(a):
    c = 0
    while c < 3 and put(T, c) < a:
        c += 1
        put(T, 2)
        for k in (a, 5):
            T[k % 4] = k
        if T[2] > 4:
            break
    return c
def state():
    return ()
""",
)

program(
    'E18 an item of a list at a traced index is stored into, and a dict holds it as well',
    """
@ag.function
def f(a, b, v, d):
    y = [d["a"], v * 2]
    for i in range(3):
        if b > i:
            y[b % 2][a % 4] += 7
            continue
        v[1] = b
    y[0][a % 4] += 7
    return y[0].sum(), v
def state():
    return {"a": jnp.zeros(4, jnp.int32)},
""",
    (3, 2, "V"), (3, 1, "V"), (0, 0, "V"),
)

program(
    'E19 a test that changes a list, known at first and then traced',
    """
class Box:
    def __init__(self): self.l = [1, 2, 3]
    def turn(self):
        self.l.insert(0, self.l.pop())
        self.l[0] += 1
        return 1
@ag.function
def f(a, x, o):
    c = 0
    while (o.turn() == 1 - c or x <= x) and c < 2:
        c += 1
    return c
def state():
    return Box(),
""",
    (1, 2), (0, 1),
)

program(
    'E20 a global that a branch in a later call leaves alone',
    """
T = np.zeros(4, np.int32)
@ag.function
def f(a, b):
    if a < 2:
        if b > 3:
            c = 0
            while c < 2:
                c += 1
                T[a % 4] = b + a
    else:
        T[a % 4] = b
    return b
def state():
    return ()
""",
    (5, 2), (3, 5), (1, 1), (1, 4), (0, 0),
)

program(
    'E13 a test with a loop that changes a list of which the body changes another item',
    """
class Box:
    def __init__(self): self.l = [5, 0, 0]
    def count(self):
        c = 0
        while c > self.l[0]:
            c += 1
            self.l[1] = c
        return c
@ag.function
def f(a, o):
    c = 0
    while o.count() < 7 and c < a:
        c += 1
        o.l[0] = c
    return c
def state():
    return Box(),
""",
)

program(
    'E14 a loop that may put a global list into an attribute',
    """
L = [1, 2, 3]
class Box:
    def __init__(self): self.l = [0, 0, 0]
@ag.function
def f(a, o):
    c = 0
    while c < 2 and o.l[0] != a:
        c += 1
        o.l = L
        o.l[0:2] = [7, a]
    return c
def state():
    return Box(),
""",
)
