"""Statements of random programs that change state: stores, swaps, other names, methods of lists and dicts, calls, `print`, `raise`."""

from __future__ import annotations

import re

from programs import INDENT, Env, Lines
from state_places import ARRAYS, INT, ITEM, NUM, POOLS, SIZE, Values


class Statements(Values):
    """Writes statements without blocks."""

    def assign(self, env: Env) -> Lines:
        kind = self.r.choice(["int", "int", "num", "flag"])
        name = self.r.choice(POOLS[kind])
        value = self.test(env) if kind == "flag" else self.small(env, kind)
        env[name] = kind
        return [f"{name} = {value}"]

    def store(self, env: Env) -> Lines:
        kind = self.r.choice(["int", "int", "num"])
        place = self.place(env, kind, whole=False) or self.place(env, kind)
        if not place:
            return self.assign(env)
        self.kinds["store"] += 1
        if self.chance(0.5):
            return [f"{place} = {self.small(env, kind)}"]
        bound = INT if kind == "int" else f"{NUM}.0"
        changes = [
            "*= -1",
            f"%= {bound}",
            f"+= {self.constant(kind)}",
            f"-= {self.leaf(env, kind)} % {bound}",
            f"+= {self.value(env, kind)} % {bound}",
        ]
        return [f"{place} {self.r.choice(changes)}"]

    def sliced(self, env: Env) -> Lines:
        kind = self.r.choice(list(SIZE))
        if not (place := self.place(env, kind)):
            return self.store(env)
        self.kinds["slice store"] += 1
        low = self.r.randrange(SIZE[kind] - 1)
        high = self.r.randint(low + 1, SIZE[kind])
        if kind == "list":
            return [f"{place}[{low}:{high}] = [{', '.join(self.small(env) for _ in range(high - low))}]"]
        part = self.r.choice([f"{low}:{high}", ":", f"{low}:", "::2", self.part(env, kind), self.part(env, kind), self.mask(env, kind, place)])
        if self.chance(0.3):
            return [f"{place}[{part}] += {self.constant(ITEM[kind])}"]
        if place in part:  # a mask: the items that it takes
            return [f"{place}[{part}] = {self.small(env, ITEM[kind]) if self.chance(0.5) else f'{place}[{part}] * -1'}"]
        other = self.place(env, kind)
        return [f"{place}[{part}] = {self.small(env, ITEM[kind]) if self.chance(0.7) else f'({other} * 1)[{part}]'}"]

    def swap(self, env: Env) -> Lines:
        kind = self.r.choice(["ints", "ints", "nums", "list", "list", "two"])
        if kind == "two":
            one, two = self.place(env, "int"), self.place(env, "int")
        else:
            place = self.place(env, kind)
            one, two = (f"{place}[{self.index(env, SIZE[kind])}]" if place else "" for _ in range(2))
        if not one or not two:
            return self.assign(env)
        self.kinds["swap"] += 1
        return [f"{one}, {two} = {two}, {one}"]

    def alias(self, env: Env) -> Lines:
        """Another name for something that has a name."""
        kind = self.r.choice(["ints", "ints", "ints", "nums", "grid", "list", "list", "Box", "dict", "arrays", "pair", "display"])
        if kind == "display":
            one, two = self.place(env, "ints"), self.place(env, "ints")
            if not one or "T" in (one, two):
                return self.assign(env)
            kind, value = self.r.choice([("arrays", f"[{one}, {two}]"), ("arrays", f"[{one}, {two} * 2]"), ("pair", f"({one}, {two})")])
        elif not (value := self.place(env, kind)) or value == "T":
            return self.store(env)
        self.kinds["alias"] += 1
        self.shared |= set(re.findall(r"\b[a-zA-Z]\w*", value))
        name = self.name("y")
        self.shared.add(name)
        env[name] = kind
        return [f"{name} = {value}"]

    def put(self, env: Env) -> Lines:
        """An array, a list or an object becomes part of another; in staged blocks a new one."""
        kind = self.r.choice(["ints", "ints", "nums", "list", "Box"])
        place = self.place(env, kind, whole=False)
        if not place or (self.staged and (kind not in ARRAYS or set(re.findall(r"\b[a-zA-Z]\w*", place)) & self.shared)):
            return self.store(env)
        value = self.place(env, kind)
        if self.staged:
            value = f"{value} * 1"
        self.kinds["put"] += 1
        self.shared |= set(re.findall(r"\b[a-zA-Z]\w*", f"{place} {value}"))
        return [f"{place} = {value}"] if "[" not in place or kind != "ints" or "y" not in place else self.store(env)

    def rebind(self, env: Env) -> Lines:
        """A variable gets a new array."""
        names = [n for n, kind in env.items() if kind in ARRAYS and n[0] != "T" and not (self.staged and n in self.shared)]
        if not names or self.in_function:
            return self.store(env)
        name = self.r.choice(names)
        self.kinds["rebind"] += 1
        kind = env[name]
        return [f"{name} = {self.r.choice([f'{name}.copy()', f'({name} + {self.leaf(env, ITEM[kind])}) % {INT}', f'{name} * -1'])}"]

    def local(self, env: Env) -> Lines:
        """Something that the function makes."""
        kind = self.r.choice(["ints", "nums", "grid", "list", "lists", "arrays", "dict", "Box", "Box", "Box"])
        if kind == "Box" and not self.members:
            kind = "ints"
        name = self.name("u")
        value = self.made(kind)
        self.kinds[f"local {kind}"] += 1
        env[name] = kind
        return [f"{name} = {value}"]

    def of_list(self, env: Env) -> Lines:
        place = self.place(env, "list")
        if not place or "%" in place:
            return self.swap(env)
        self.kinds["list method"] += 1
        forms = [
            [f"{place}.reverse()"], [f"{place}.insert(0, {place}.pop())"], [f"{place}.append({self.small(env)})", f"{place}.pop(0)"],
            [f"{place}.append({place}.pop(0))"], [f"{place}[:] = {place}[::-1]"],
        ]  # fmt: skip
        if not self.staged and not self.in_function:
            forms += [[f"{place}.append({self.small(env)})"], [f"if len({place}) > 3:", f"{INDENT}{place}.pop()"]] * 2
        return self.r.choice(forms)

    def of_dict(self, env: Env) -> Lines:
        if not (d := self.place(env, "dict")):
            return self.store(env)
        self.kinds["dict method"] += 1
        return [self.r.choice([
            f"{d}.update(k={self.small(env)})", f'{d}.update({{"k": {self.small(env)}, "t": {self.small(env, "num")}}})',
            f'{d}["k"] = {d}.get("k") - 1', f'{d}["t"] = {d}.setdefault("t", 0.0) * -1',
        ])]  # fmt: skip

    def effect(self, env: Env) -> Lines:
        """A call for what it changes."""
        k = self.r.random()
        if k < 0.35 and (o := self.place(env, "Box")) and self.members:
            self.kinds["member"] += 1
            member = self.r.choice([".size", "[]", ".attr"])
            if member == ".attr":
                return [self.r.choice([f'setattr({o}, "n", {self.small(env)})', f'{o}.n = getattr({o}, "n") + 1'])]
            if member not in self.members:
                return self.store(env)
            return [f"{o}{member if member == '.size' else f'[{self.index(env, 4)}]'} {self.r.choice(['=', '+='])} {self.leaf(env)} % {INT}"]
        own = [(h, kind) for h, kind, gives in self.helpers if gives == "own"]
        if own and k < 0.6 and self.loops < 2:
            h, kind = self.r.choice(own)
            names = [n for n, k in env.items() if k == kind and n not in self.globals and not (kind in ARRAYS and n in self.shared)]
            if names and not self.in_function:
                name = self.r.choice(names)
                self.kinds["own parameter"] += 1
                return [f"{name} = {h}({name}, {self.leaf(env)})"]
        call = self.call(env, self.r.choice(["int", "none", "none"])) or self.call(env, "int")
        if not call:
            return self.store(env)
        self.kinds["effect"] += 1
        return [call]

    def show(self, env: Env) -> Lines:
        """A `print` of traced values: others are printed while tracing."""
        if "a" not in env:
            return self.store(env)
        self.kinds["print"] += 1
        two, array, label = self.leaf(env, "num"), self.place(env, "ints", "nums") or "b", self.name("p")
        forms = [f'"{label}", a, {self.leaf(env)}', f'f"{label} {{a}} {{b:3d}}"', f'f"{label} {{{two}:.2f}}", b', f'"{label}", b, {array}']
        return [f"print({next((form for form in self.r.sample(forms, 4) if form.count(chr(34)) == 2), 'a')})"]

    def fail(self, env: Env) -> Lines:
        """A `raise` or an `assert` that seldom fails."""
        if self.raises > 1:
            return self.show(env)
        self.raises += 1
        self.kinds["raise"] += 1
        value = next(v for _ in range(99) if '"' not in (v := self.leaf(env)))
        text = self.r.choice([f'f"bad {{{value}}}"', '"bad"', f'f"bad {{{value}:4d}}!"'])
        test = f"{self.leaf(env)} == {self.r.choice([2, 3, 5])}{self.r.choice(['', f' and {self.test(env, 0)}'])}"
        if self.chance(0.4):
            return [f"assert not ({test}), {text}"]
        return [f"if {test}:", f"{INDENT}raise {self.r.choice(['ValueError', 'RuntimeError', 'KeyError'])}({text})"]
