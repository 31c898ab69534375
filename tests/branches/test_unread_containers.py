"""A container that one side of a branch changes, and that nothing reads afterwards, may hold what it likes; a second reader sees it, or it is refused."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import autograph as ag

X = np.array([0.5, 1.25, 3.0], np.float32)
CHANGES = {
    "append": ("[1.0, 2.0]", "c.append(v)", "sum(c)"),
    "extend": ("[1.0]", "c.extend([v, v])", "sum(c)"),
    "pop": ("[1.0, x[0]]", "c.pop(0)", "sum(c)"),
    "clear": ("[1.0]", "c.clear()", "len(c)"),
    "insert": ("[x[0]]", "c.insert(0, v)", "c[0] + c[1]"),
    "key": ("{'a': 1.0}", "c['b'] = v", "sum(c.values())"),
    "update": ("{'a': 1.0}", "c.update(b=v, a=2.0)", "sum(c.values())"),
    "delete": ("{'a': 1.0, 'b': x[0]}", "del c['b']", "sum(c.values())"),
    "counted": ("collections.Counter(a=1)", "c['b'] += 2", "sum(c.values())"),
    "deque": ("collections.deque([1.0])", "c.append(v)", "sum(c)"),
    "set": ("{1, 2}", "c.add(3)", "sum(c)"),
}
# `M` makes it, `O` changes it, `R` reads it.  These run.
RUN = {
    "guard": "c = M\n    v = x[1]\n    if p > 9:\n        return 0.0\n    O\n    return R * 1.0",
    "two guards": "c = M\n    v = x[1]\n    if p > 9:\n        return 0.0\n    if x[0] > 5:\n        return 1.0\n    O\n    return R * 1.0",
    "guard behind": "c = M\n    v = x[1]\n    if p > 0:\n        O\n        return R * 1.0\n    return 0.0",
    "inside": "c = M\n    v = x[1]\n    if p > 0:\n        O\n        y = R * 1.0\n    else:\n        y = 0.0\n    return y",
    "nested": "c = M\n    v = x[1]\n    y = 0.0\n    if p > 0:\n        if v > 1:\n            O\n            y = R * 1.0\n    return y",
    "in a loop": "t = 0.0\n    for v in x:\n        c = M\n        if v > 1:\n            O\n            t += R\n    return t",
    "continue": "t = 0.0\n    for v in x:\n        c = M\n        if v > 2:\n            continue\n        O\n        t += R\n    return t",
    "helper": "def inner(v):\n        c = M\n        if v > 2:\n            return 0.0\n        O\n        return R * 1.0\n    return inner(x[1]) + inner(x[2])",
}
# These are seen by somebody: as in Python, or refused.
SEEN = {
    "read": "c = M\n    v = x[1]\n    if p > 0:\n        O\n    return R * 1.0",
    "second name": "c = M\n    d = c\n    v = x[1]\n    y = 0.0\n    if p > 0:\n        O\n        y = R * 1.0\n    return y + len(d)",
    "second name, nested": "c = M\n    d = c\n    v = x[1]\n    y = 0.0\n    if p > 0:\n        if v > 1:\n            O\n            y = R * 1.0\n    return y + len(d)",
    "object, nested": "c = M\n    o = Box()\n    o.c = c\n    v = x[1]\n    y = 0.0\n    if p > 0:\n        if v > 1:\n            O\n            y = R * 1.0\n    return y + len(o.c)",
    "two guards, object": "c = M\n    o = Box()\n    o.c = c\n    v = x[1]\n    if p > 9:\n        return 0.0, len(o.c)\n    if x[0] > 5:\n        return 1.0, len(o.c)\n    O\n    return R * 1.0, len(o.c)",
    "in a list": "c = M\n    d = [c]\n    v = x[1]\n    y = 0.0\n    if p > 0:\n        O\n        y = R * 1.0\n    return y + len(d[0])",
    "in an object": "c = M\n    o = Box()\n    o.c = c\n    v = x[1]\n    y = 0.0\n    if p > 0:\n        O\n        y = R * 1.0\n    return y + len(o.c)",
    "shared": "c = M\n    def get():\n        return len(c)\n    v = x[1]\n    y = 0.0\n    if p > 0:\n        O\n        y = R * 1.0\n    return y + get()",
    "a lambda that is kept": "c = M\n    o = Box()\n    o.get = lambda: len(c)\n    v = x[1]\n    y = 0.0\n    if p > 0:\n        O\n        y = R * 1.0\n    return y + o.get()",
    "next iteration": "c = M\n    t = 0.0\n    for v in x:\n        if v > 1:\n            O\n        t += len(c)\n    return t",
    "next iteration alone": "c = M\n    t = 0.0\n    for v in x:\n        if v > 1:\n            O\n            t += len(c)\n    return t",
    "while": "c = M\n    t = 0.0\n    k = 0\n    while k < 3:\n        v = x[k]\n        if v > 1:\n            O\n            t += R\n        k += 1\n    return t",
    "the caller's": "c = M\n    y = tail(c, x[1], p)\n    return y + len(c)",
    "finally": "c = M\n    v = x[1]\n    y = 0.0\n    try:\n        if p > 0:\n            O\n            y = R * 1.0\n    finally:\n        y = y + len(c)\n    return y",
    "a generator": "c = M\n    v = x[1]\n    y = 0.0\n    g = (len(c) for _ in range(1))\n    if p > 0:\n        O\n        y = R * 1.0\n    return y + sum(g)",
    "returned": "c = M\n    v = x[1]\n    if p > 0:\n        O\n    return c",
    "an iterator": "c = M\n    v = x[1]\n    y = 0.0\n    it = iter(c)\n    if p > 9:\n        return 0.0\n    O\n    return sum([1.0 for _ in it])",
}
OBJECTS = {  # programs with an object `o` of class Box, which nothing else reads afterwards: these run
    "attribute": "o = Box()\n    o.c = M\n    v = x[1]\n    if p > 9:\n        return 0.0\n    c = o.c\n    O\n    return R * 1.0",
    "at home": "o = Box()\n    o.c = M\n    v = x[1]\n    if p > 9:\n        return 0.0\n    o.O\n    return o.R * 1.0",
    "new attribute": "o = Box()\n    o.c = M\n    if p > 9:\n        return 0.0\n    o.d = x[0]\n    return o.d + len(o.c)",
    "another": "o = Box()\n    o.c = M\n    if p > 9:\n        return 0.0\n    o.c = (x[0], x[1], 2.0)\n    return sum(o.c)",
}
READERS = {  # and what reads it then, in the place of that: as in Python, or refused
    "second name": "q = o",
    "list": "q = [o]",
    "object": "q = Box()\n    q.o = o",
    "method": "q = o.__getattribute__",
    "weak reference": "q = weakref.ref(o)",
    "closure": "q = lambda: o",
    "attributes": "q = vars(o)",
}
TAIL = "def tail(c, v, p):\n    if p < 0:\n        return 0.0\n    O\n    return R * 1.0\n"


def program(text: str, change: str, tmp_path: Any) -> Any:
    make, operation, read = CHANGES[change]
    whole = f"import collections, weakref\nclass Box:\n    pass\n{TAIL}def program(x, p):\n    {text}\n"
    whole = (
        whole.replace("= M\n", f"= {make}\n")
        .replace(" O\n", f" {operation}\n")
        .replace(" R * 1.0", f" {read} * 1.0")
        .replace("+= R\n", f"+= {read}\n")
    )
    file = tmp_path / "program.py"
    file.write_text(whole)
    space: dict[str, Any] = {"__name__": "unread"}
    exec(compile(whole, str(file), "exec"), space)
    return space["program"]


def agree(f: Any, refusals: bool) -> None:
    for convert in (ag.function, lambda f: jax.jit(ag.convert(f))):
        compiled = convert(f)
        for p in (2.0, -1.0, 10.0):
            try:
                expected: Any = f(jnp.asarray(X), p)
            except Exception as error:
                expected = type(error)
            try:
                got = compiled(jnp.asarray(X), p)
            except ag.AutographError as error:
                assert refusals and error.id in ("AG202", "AG405", "AG407", "AG401", "AG404", "AG501"), error
                continue
            except Exception as error:
                name = expected.__name__ if isinstance(expected, type) else "no error"
                assert type(error) is expected or isinstance(error, jax.errors.JaxRuntimeError) and name in str(error), error
                continue
            assert not isinstance(expected, type), (got, expected)
            assert [float(v) for v in jax.tree.leaves(got)] == pytest.approx([float(v) for v in jax.tree.leaves(expected)], rel=1e-5)


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("name", RUN)
def test_nothing_reads_it(name: str, change: str, tmp_path: Any) -> None:
    agree(
        program(RUN[name], change, tmp_path), refusals=name in ("nested", "two guards") and CHANGES[change][1].startswith(("c[", "c.update", "del"))
    )


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("name", OBJECTS)
def test_an_object_that_nothing_reads(name: str, change: str, tmp_path: Any) -> None:
    make, operation, read = CHANGES[change]
    text = OBJECTS[name].replace("o.O", operation.replace("c.", "o.c.").replace("c[", "o.c[")).replace("o.R", _at_home(read))
    agree(program(text, change, tmp_path), refusals=name == "attribute")


def _at_home(read: str) -> str:
    return read.replace("(c", "(o.c").replace("c[0] + c[1]", "o.c[0] + o.c[1]")


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("name", OBJECTS)
def test_an_object_that_something_reads(name: str, reader: str, tmp_path: Any) -> None:
    read = {"second name": "q", "list": "q[0]", "object": "q.o", "weak reference": "q()", "closure": "q()"}.get(reader, "")
    seen = f"len(vars({read})) + len({read}.c)" if read else "len(q('c')) + len(q('__dict__'))" if reader == "method" else "len(q) + len(q['c'])"
    text = OBJECTS[name].replace("o.c = M\n", f"o.c = M\n    {READERS[reader]}\n").replace("return 0.0", f"return {seen} + 0.0")
    first, last = text.rsplit("return ", 1)
    text = f"{first}return {seen} + {last}"
    operation, value = CHANGES["append"][1], CHANGES["append"][2]
    text = text.replace("o.O", operation.replace("c.", "o.c.")).replace("o.R", _at_home(value))
    agree(program(text, "append", tmp_path), refusals=True)


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("name", SEEN)
def test_somebody_reads_it(name: str, change: str, tmp_path: Any) -> None:
    if name == "an iterator" and change in ("deque", "key", "update", "delete", "counted", "set"):
        return  # Python itself refuses to go over what has changed
    agree(program(SEEN[name], change, tmp_path), refusals=True)
