"""Programs that change what they hold: arrays in place and through helpers, lists, dicts, objects, variables of enclosing functions."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import Any

import jax.numpy as jnp


# --- sieve of Eratosthenes ------------------------------------------------------------------------------------------------------
LIMIT = 64


def sieve(n: Any) -> Any:
    """The primes below `n` (at most `LIMIT`), with zeros after them, how many they are, and how often a number was crossed out."""
    prime = jnp.ones(LIMIT, dtype=bool)
    prime[0] = prime[1] = False
    crossed = 0
    p = 2
    while p * p < n:
        if prime[p]:
            for multiple in range(p * p, n, p):
                prime[multiple] = False
                crossed += 1
        p += 1
    primes = jnp.zeros(LIMIT, dtype=int)
    count = 0
    for i in range(n):
        if prime[i]:
            primes[count] = i
            count += 1
    return primes, count, crossed


# --- insertion sort -------------------------------------------------------------------------------------------------------------
def insertion_sort(a: Any) -> Any:
    """`a` in order, and how many items moved."""
    moves = 0
    for i in range(1, len(a)):
        value = a[i]
        j = i
        while j > 0 and a[j - 1] > value:
            a[j] = a[j - 1]
            j -= 1
            moves += 1
        a[j] = value
    return a, moves


# --- quicksort ------------------------------------------------------------------------------------------------------------------
def swap(a: Any, i: Any, j: Any) -> None:
    a[i], a[j] = a[j], a[i]


def partition(a: Any, low: Any, high: Any) -> Any:
    """Put the items below `a[high]` before it: where it is then."""
    pivot = a[high]
    i = low
    for j in range(low, high):
        if a[j] < pivot:
            swap(a, i, j)
            i += 1
    swap(a, i, high)
    return i


def quicksort(a: Any) -> Any:
    """`a` in order, by Lomuto's partition, and how many partitions were made."""
    stack = jnp.zeros((len(a) + 1, 2), dtype=int)
    stack[0] = 0, len(a) - 1
    top = 1
    partitions = 0
    while top > 0:
        top -= 1
        low, high = stack[top]
        if low >= high:
            continue
        middle = partition(a, low, high)
        partitions += 1
        stack[top] = low, middle - 1
        stack[top + 1] = middle + 1, high
        top += 2
    return a, partitions


def quicksort_hoare(a: Any) -> Any:
    """`a` in order, by Hoare's partition, with the comparisons and swaps made."""
    comparisons = swaps = 0

    def less(x: Any, y: Any) -> Any:
        nonlocal comparisons
        comparisons += 1
        return x < y

    def split(low: Any, high: Any) -> Any:
        nonlocal swaps
        pivot = a[(low + high) // 2]
        i, j = low - 1, high + 1
        while True:
            i += 1
            while less(a[i], pivot):
                i += 1
            j -= 1
            while less(pivot, a[j]):
                j -= 1
            if i >= j:
                return j
            a[i], a[j] = a[j], a[i]
            swaps += 1

    lows = jnp.zeros(len(a) + 1, dtype=int)
    highs = jnp.zeros(len(a) + 1, dtype=int)
    lows[0], highs[0] = 0, len(a) - 1
    top = 1
    while top > 0:
        top -= 1
        low, high = lows[top], highs[top]
        if low < high:
            middle = split(low, high)
            lows[top], highs[top] = low, middle
            lows[top + 1], highs[top + 1] = middle + 1, high
            top += 2
    return a, comparisons, swaps


# --- merge sort -----------------------------------------------------------------------------------------------------------------
def merge(source: Any, target: Any, low: Any, middle: Any, high: Any) -> None:
    i, j = low, middle
    for k in range(low, high):
        if i < middle and (j >= high or source[i] <= source[j]):
            target[k] = source[i]
            i += 1
        else:
            target[k] = source[j]
            j += 1


def merge_sort(a: Any) -> Any:
    """`a` in order, merged from the bottom up between two arrays that change places."""
    n = len(a)
    source, target = a, jnp.zeros(n, dtype=int)
    width = 1
    while width < n:
        for low in range(0, n, 2 * width):
            merge(source, target, low, min(low + width, n), min(low + 2 * width, n))
        source, target = target, source
        width *= 2
    return source


# --- a binary heap, and a queue that it simulates -------------------------------------------------------------------------------
ARRIVAL, DEPARTURE = 0, 1


def earlier(times: Any, kinds: Any, i: Any, j: Any) -> Any:
    return times[i] < times[j] or (times[i] == times[j] and kinds[i] < kinds[j])


def sift_up(times: Any, kinds: Any, i: Any) -> None:
    while i > 0:
        parent = (i - 1) // 2
        if not earlier(times, kinds, i, parent):
            break
        swap(times, i, parent)
        swap(kinds, i, parent)
        i = parent


def sift_down(times: Any, kinds: Any, size: Any) -> None:
    i = 0
    while True:
        first = i
        for child in (2 * i + 1, 2 * i + 2):
            if child < size and earlier(times, kinds, child, first):
                first = child
        if first == i:
            return
        swap(times, i, first)
        swap(kinds, i, first)
        i = first


def push(times: Any, kinds: Any, size: Any, time: Any, kind: Any) -> Any:
    times[size] = time
    kinds[size] = kind
    sift_up(times, kinds, size)
    return size + 1


def pop(times: Any, kinds: Any, size: Any) -> Any:
    size -= 1
    times[0] = times[size]
    kinds[0] = kinds[size]
    sift_down(times, kinds, size)
    return size


def simulate_queue(gaps: Any, services: Any, servers: Any) -> Any:
    """Customers that come after `gaps` and are served by the first free of some servers: the mean wait, the longest queue and the end."""
    n = len(gaps)
    times = jnp.zeros(n + 2)
    kinds = jnp.zeros(n + 2, dtype=int)
    came = jnp.zeros(n)
    size = push(times, kinds, 0, gaps[0], ARRIVAL)
    arrived = started = busy = longest = 0
    now = waited = 0.0
    while size > 0:
        now, kind = times[0], kinds[0]
        size = pop(times, kinds, size)
        if kind == ARRIVAL:
            came[arrived] = now
            arrived += 1
            if arrived < n:
                size = push(times, kinds, size, now + gaps[arrived], ARRIVAL)
        else:
            busy -= 1
        if started < arrived and busy < servers:
            waited += now - came[started]
            size = push(times, kinds, size, now + services[started], DEPARTURE)
            started += 1
            busy += 1
        longest = max(longest, arrived - started)
    return waited / n, longest, now


# --- caches that forget what was used least recently ----------------------------------------------------------------------------
SLOTS = 4


def lookup(keys: Any, key: Any) -> Any:
    for slot in range(len(keys)):
        if keys[slot] == key:
            return slot
    return -1


def oldest(ages: Any) -> Any:
    slot = 0
    for i in range(1, len(ages)):
        if ages[i] < ages[slot]:
            slot = i
    return slot


def store(keys: Any, values: Any, slot: Any, key: Any, value: Any) -> None:
    keys[slot] = key
    values[slot] = value


def replay(trace: Any, n: Any) -> Any:
    """The hits of the first `n` accesses, the sum of what was served, and the keys that are in the cache at the end."""
    keys = jnp.full(SLOTS, -1)
    values = jnp.zeros(SLOTS, dtype=int)
    ages = jnp.zeros(SLOTS, dtype=int)
    hits = 0
    served = 0
    for clock in range(n):
        key = trace[clock]
        slot = lookup(keys, key)
        if slot >= 0:
            hits += 1
        else:
            slot = oldest(ages)
            store(keys, values, slot, key, (key * key + 1) % 97)
        ages[slot] = clock + 1
        served += values[slot]
    return hits, served, jnp.sort(keys)


class Cache:
    """A cache in front of `memory`, which is written when a changed entry is forgotten."""

    def __init__(self, memory: Any) -> None:
        self.memory = memory
        self.keys = jnp.full(SLOTS, -1)
        self.values = jnp.zeros(SLOTS, dtype=int)
        self.ages = jnp.zeros(SLOTS, dtype=int)
        self.changed = jnp.zeros(SLOTS, dtype=bool)
        self.clock = 0
        self.hits = 0
        self.writes = 0

    def clean(self, slot: Any) -> None:
        if self.changed[slot]:
            self.memory[self.keys[slot]] = self.values[slot]
            self.changed[slot] = False
            self.writes += 1

    def find(self, key: Any) -> Any:
        self.clock += 1
        slot = lookup(self.keys, key)
        if slot >= 0:
            self.hits += 1
        else:
            slot = oldest(self.ages)
            self.clean(slot)
            store(self.keys, self.values, slot, key, self.memory[key])
        self.ages[slot] = self.clock
        return slot

    def read(self, key: Any) -> Any:
        return self.values[self.find(key)]

    def write(self, key: Any, value: Any) -> None:
        slot = self.find(key)
        self.values[slot] = value
        self.changed[slot] = True

    def flush(self) -> None:
        for slot in range(SLOTS):
            self.clean(slot)


def write_back(memory: Any, accesses: Any) -> Any:
    """Rows `(key, value)` write a value, or read where it is negative: the memory, the sum of what was read, the hits and the writes to memory."""
    cache = Cache(memory)
    total = 0
    for key, value in accesses:
        if value >= 0:
            cache.write(key, value)
        else:
            total += cache.read(key)
    cache.flush()
    return memory, total, cache.hits, cache.writes


# --- particles in a box ---------------------------------------------------------------------------------------------------------
class Gas:
    """Particles in the unit box, which lose energy at its walls."""

    def __init__(self, positions: Any, velocities: Any, restitution: Any) -> None:
        self.positions = positions
        self.velocities = velocities
        self.restitution = restitution
        self.bounces = 0
        self.lost = 0.0
        self.time = 0.0

    def energy(self) -> Any:
        return 0.5 * (self.velocities**2).sum()

    def bounce(self, i: Any, axis: Any, wall: Any) -> None:
        before = self.velocities[i, axis]
        self.velocities[i, axis] = -self.restitution * before
        self.positions[i, axis] = 2 * wall - self.positions[i, axis]
        self.lost += 0.5 * (before**2 - self.velocities[i, axis] ** 2)
        self.bounces += 1

    def step(self, dt: Any) -> None:
        self.time += dt
        for i in range(len(self.positions)):
            for axis in range(2):
                self.positions[i, axis] += dt * self.velocities[i, axis]
                if self.positions[i, axis] < 0:
                    self.bounce(i, axis, 0)
                elif self.positions[i, axis] > 1:
                    self.bounce(i, axis, 1)


def simulate_gas(positions: Any, velocities: Any, restitution: Any, dt: Any, until: Any) -> Any:
    """Where the particles are, the wall collisions, the energy left, the energy lost, and the time."""
    gas = Gas(positions, velocities, restitution)
    while gas.time < until:
        gas.step(dt)
    return gas.positions, gas.bounces, gas.energy(), gas.lost, gas.time


class Ball:
    def __init__(self, height: Any) -> None:
        self.height = height
        self.speed = 0.0
        self.bounces = 0

    def fall(self, dt: Any) -> None:
        self.speed -= 8.0 * dt
        self.height += self.speed * dt
        if self.height < 0:
            self.height = -self.height
            self.speed *= -0.5
            self.bounces += 1


def drop_balls(heights: Any, dt: Any, steps: Any) -> Any:
    """The heights of balls after some steps, and how often they bounced in all."""
    balls = [Ball(height) for height in heights]
    for _ in range(steps):
        for ball in balls:
            ball.fall(dt)
    return [ball.height for ball in balls], sum(ball.bounces for ball in balls)


# --- arithmetic expressions -----------------------------------------------------------------------------------------------------
class Sign(IntEnum):
    """What tokens below zero are; others are numbers."""

    PLUS = -1
    MINUS = -2
    TIMES = -3
    OVER = -4
    OPEN = -5
    CLOSE = -6


def precedence(sign: Any) -> Any:
    match sign:
        case Sign.PLUS | Sign.MINUS:
            return 1
        case Sign.TIMES | Sign.OVER:
            return 2
        case _:
            return 0


def evaluate(tokens: Any, n: Any) -> Any:
    """The value of the expression of the first `n` tokens, with `/` rounding down, and how many operations it took."""
    values = jnp.zeros(len(tokens), dtype=int)
    signs = jnp.zeros(len(tokens), dtype=int)
    depth = waiting = operations = 0

    def push_value(value: Any) -> None:
        nonlocal depth
        values[depth] = value
        depth += 1

    def pop_value() -> Any:
        nonlocal depth
        depth -= 1
        return values[depth]

    def reduce() -> None:
        nonlocal waiting, operations
        waiting -= 1
        operations += 1
        right = pop_value()
        left = pop_value()
        match signs[waiting]:
            case Sign.PLUS:
                push_value(left + right)
            case Sign.MINUS:
                push_value(left - right)
            case Sign.TIMES:
                push_value(left * right)
            case Sign.OVER:
                push_value(left // right)

    for i in range(n):
        token = tokens[i]
        if token >= 0:
            push_value(token)
        elif token == Sign.OPEN:
            signs[waiting] = token
            waiting += 1
        elif token == Sign.CLOSE:
            while signs[waiting - 1] != Sign.OPEN:
                reduce()
            waiting -= 1
        else:
            while waiting > 0 and precedence(signs[waiting - 1]) >= precedence(token):
                reduce()
            signs[waiting] = token
            waiting += 1
    while waiting > 0:
        reduce()
    return values[0], operations


class Stack:
    def __init__(self, room: Any) -> None:
        self.items = jnp.zeros(room, dtype=int)
        self.size = 0

    def push(self, item: Any) -> None:
        self.items[self.size] = item
        self.size += 1

    def pop(self) -> Any:
        if self.size == 0:
            raise IndexError("pop from an empty stack")
        self.size -= 1
        return self.items[self.size]

    def top(self) -> Any:
        return self.items[self.size - 1]


class Calculator:
    """As `evaluate`, with objects for the stacks, and errors."""

    def __init__(self, room: Any) -> None:
        self.values = Stack(room)
        self.signs = Stack(room)

    def reduce(self) -> None:
        sign = self.signs.pop()
        if sign == Sign.OPEN:
            raise SyntaxError("a parenthesis is not closed")
        right = self.values.pop()
        left = self.values.pop()
        if sign == Sign.PLUS:
            self.values.push(left + right)
        elif sign == Sign.MINUS:
            self.values.push(left - right)
        elif sign == Sign.TIMES:
            self.values.push(left * right)
        else:
            if right == 0:
                raise ZeroDivisionError("division by zero")
            self.values.push(left // right)

    def read(self, token: Any) -> None:
        if token >= 0:
            self.values.push(token)
        elif token == Sign.OPEN:
            self.signs.push(token)
        elif token == Sign.CLOSE:
            while self.signs.size > 0 and self.signs.top() != Sign.OPEN:
                self.reduce()
            if self.signs.size == 0:
                raise SyntaxError("a parenthesis is not opened")
            self.signs.pop()
        else:
            while self.signs.size > 0 and precedence(self.signs.top()) >= precedence(token):
                self.reduce()
            self.signs.push(token)

    def result(self) -> Any:
        while self.signs.size > 0:
            self.reduce()
        return self.values.pop()


def calculate(tokens: Any, n: Any) -> Any:
    calculator = Calculator(len(tokens))
    for i in range(n):
        calculator.read(tokens[i])
    return calculator.result()


# --- histograms -----------------------------------------------------------------------------------------------------------------
BINS = 5


def histogram(values: Any, low: Any, high: Any) -> Any:
    """How many values each of `BINS` equal parts of the range holds, how many are below it and how many above."""
    counts = jnp.zeros(BINS, dtype=int)
    below = above = 0
    width = (high - low) / BINS
    for value in values:
        if value < low:
            below += 1
        elif value >= high:
            above += 1
        else:
            counts[int((value - low) / width)] += 1
    return counts, below, above


def histogram_list(values: Any, low: Any, high: Any) -> Any:
    """As `histogram`, in one list: what is below, the bins, what is above."""
    counts = [0] * (BINS + 2)
    width = (high - low) / BINS
    for value in values:
        if value < low:
            counts[0] += 1
        elif value >= high:
            counts[-1] += 1
        else:
            counts[1 + int((value - low) / width)] += 1
    return counts


def kinds_of_characters(codes: Any, n: Any) -> Any:
    """How many of the first `n` characters are of each kind."""
    counts = {"upper": 0, "lower": 0, "digit": 0, "other": 0}
    for i in range(n):
        c = codes[i]
        if 65 <= c <= 90:
            counts["upper"] += 1
        elif 97 <= c <= 122:
            counts["lower"] += 1
        elif 48 <= c <= 57:
            counts["digit"] += 1
        else:
            counts["other"] += 1
    return counts


# --- union-find -----------------------------------------------------------------------------------------------------------------
NODES = 10


def find(parent: Any, x: Any) -> Any:
    root = x
    while parent[root] != root:
        root = parent[root]
    while parent[x] != root:
        above = parent[x]
        parent[x] = root
        x = above
    return root


def union(parent: Any, size: Any, a: Any, b: Any) -> Any:
    """Whether `a` and `b` were apart."""
    a, b = find(parent, a), find(parent, b)
    if a == b:
        return False
    if size[a] < size[b]:
        a, b = b, a
    parent[b] = a
    size[a] += size[b]
    return True


def components(edges: Any, m: Any) -> Any:
    """The components of the graph of the first `m` edges: how many there are, and how many nodes each node's component has."""
    parent = jnp.arange(NODES)
    size = jnp.ones(NODES, dtype=int)
    count = NODES
    for k in range(m):
        a, b = edges[k]
        if union(parent, size, a, b):
            count -= 1
    sizes = jnp.zeros(NODES, dtype=int)
    for x in range(NODES):
        sizes[x] = size[find(parent, x)]
    return count, sizes


class DisjointSets:
    def __init__(self, n: Any) -> None:
        self.parent = jnp.arange(n)
        self.count = n

    def find(self, x: Any) -> Any:
        while self.parent[x] != x:
            self.parent[x] = self.parent[self.parent[x]]
            x = self.parent[x]
        return x

    def join(self, a: Any, b: Any) -> Any:
        a, b = self.find(a), self.find(b)
        if a != b:
            self.parent[b] = a
            self.count -= 1
            return True
        return False


def spanning_tree(edges: Any, weights: Any) -> Any:
    """Kruskal's minimum spanning forest of edges that come by weight: its weight, which edges are in, and how many trees it has."""
    sets = DisjointSets(NODES)
    chosen = jnp.zeros(len(edges), dtype=bool)
    total = 0
    for k, (a, b) in enumerate(edges):
        if sets.join(a, b):
            chosen[k] = True
            total += weights[k]
            if sets.count == 1:
                break
    return total, chosen, sets.count


# --- ring buffer ----------------------------------------------------------------------------------------------------------------
class RingBuffer:
    def __init__(self, room: Any) -> None:
        self.items = jnp.zeros(room)
        self.next = 0
        self.count = 0

    def push(self, item: Any) -> None:
        self.items[self.next] = item
        self.next = (self.next + 1) % len(self.items)
        if self.count < len(self.items):
            self.count += 1

    def mean(self) -> Any:
        if self.count == 0:
            return 0.0
        total = 0.0
        for i in range(self.count):
            total += self.items[i]
        return total / self.count


def moving_averages(values: Any) -> Any:
    """After each value the mean of the last three that were not negative, and how many were."""
    ring = RingBuffer(3)
    skipped = 0
    averages = jnp.zeros(len(values))
    for i, value in enumerate(values):
        if value < 0:
            skipped += 1
        else:
            ring.push(value)
        averages[i] = ring.mean()
    return averages, skipped


# --- cellular automaton ---------------------------------------------------------------------------------------------------------
def neighbours(board: Any, i: Any, j: Any) -> Any:
    rows, columns = board.shape
    count = 0
    for r in range(max(i - 1, 0), min(i + 2, rows)):
        for c in range(max(j - 1, 0), min(j + 2, columns)):
            if (r, c) != (i, j):
                count += board[r, c]
    return count


def advance(board: Any) -> Any:
    """One generation of HighLife, in place: how many cells changed."""
    old = board.copy()
    changes = 0
    rows, columns = board.shape
    for i in range(rows):
        for j in range(columns):
            around = neighbours(old, i, j)
            if old[i, j] == 1 and around not in (2, 3):
                board[i, j] = 0
                changes += 1
            elif old[i, j] == 0 and around in (3, 6):
                board[i, j] = 1
                changes += 1
    return changes


def highlife(board: Any, generations: Any) -> Any:
    """The board after some generations, fewer when nothing changes, and how many changes there were."""
    total = 0
    for _ in range(generations):
        changes = advance(board)
        if changes == 0:
            break
        total += changes
    return board, total


# --- bank accounts --------------------------------------------------------------------------------------------------------------
class Overdraft(Exception):
    """There is not enough money."""


class Account:
    def __init__(self, balance: Any) -> None:
        self.balance = balance
        self.entries = 0

    def deposit(self, amount: Any) -> None:
        if amount < 0:
            raise ValueError("a deposit is not negative")
        self.balance += amount
        self.entries += 1

    def withdraw(self, amount: Any) -> None:
        if amount > self.balance:
            raise Overdraft("insufficient funds")
        self.balance -= amount
        self.entries += 1

    def transfer(self, other: Account, amount: Any) -> None:
        self.withdraw(amount)
        other.deposit(amount)


def statement(balance: Any, amounts: Any) -> Any:
    """The balance after deposits and, below zero, withdrawals, the lowest on the way, and the entries made."""
    account = Account(balance)
    lowest = account.balance
    for amount in amounts:
        if amount >= 0:
            account.deposit(amount)
        else:
            account.withdraw(-amount)
        lowest = min(lowest, account.balance)
    return account.balance, lowest, account.entries


def transfers(first: Any, second: Any, amounts: Any) -> Any:
    """Two balances after transfers to the second account, or back below zero, and how many were rejected."""
    checking, savings = Account(first), Account(second)
    rejected = 0
    for amount in amounts:
        try:
            if amount > 0:
                checking.transfer(savings, amount)
            else:
                savings.transfer(checking, -amount)
        except Overdraft:
            rejected += 1
    return checking.balance, savings.balance, rejected


class InsufficientFunds(Overdraft):
    def __init__(self, balance: Any, amount: Any) -> None:
        super().__init__(f"{amount} is {amount - balance} more than there is")
        self.missing = amount - balance


class SavingsAccount(Account):
    """An account with a fee for each withdrawal after the first two."""

    def __init__(self, balance: Any, fee: Any) -> None:
        super().__init__(balance)
        self.fee = fee
        self.withdrawals = 0

    def withdraw(self, amount: Any) -> None:
        self.withdrawals += 1
        if self.withdrawals > 2:
            amount = amount + self.fee
        if amount > self.balance:
            raise InsufficientFunds(self.balance, amount)
        super().withdraw(amount)


def pay_bills(balance: Any, bills: Any, fee: Any) -> Any:
    """The balance after bills, and the entries."""
    account = SavingsAccount(balance, fee)
    for bill in bills:
        account.withdraw(bill)
        assert account.balance >= 0, "the balance is negative"
    return account.balance, account.entries


# --- Gauss-Seidel ---------------------------------------------------------------------------------------------------------------
def sweep(a: Any, b: Any, x: Any) -> Any:
    """Improve `x` in place: the largest change."""
    largest = 0.0
    for i in range(len(b)):
        old = x[i]
        x[i] = b[i]
        for j in range(len(b)):
            if j != i:
                x[i] -= a[i, j] * x[j]
        x[i] /= a[i, i]
        largest = max(largest, abs(x[i] - old))
    return largest


def gauss_seidel(a: Any, b: Any, tolerance: Any, most: Any) -> Any:
    """The solution of `a @ x == b` for a dominant diagonal, the sweeps made, and whether the last changed less than `tolerance`."""
    x = jnp.zeros(len(b))
    for done in range(1, most + 1):
        if sweep(a, b, x) < tolerance:
            return x, done, True
    return x, most, False


# --- Fenwick tree ---------------------------------------------------------------------------------------------------------------
class Fenwick:
    """Sums of the first items of a list whose items grow."""

    def __init__(self, n: Any) -> None:
        self.tree = jnp.zeros(n + 1, dtype=int)
        self.visits = 0

    def update(self, i: Any, amount: Any) -> None:
        i += 1
        while i < len(self.tree):
            self.tree[i] += amount
            self.visits += 1
            i += i & -i

    def query(self, i: Any) -> Any:
        """The sum of the items before `i`."""
        total = 0
        while i > 0:
            total += self.tree[i]
            self.visits += 1
            i -= i & -i
        return total


def inversions(a: Any) -> Any:
    """How many pairs of numbers below `len(a)` are out of order, and the visits to the tree."""
    seen = Fenwick(len(a))
    count = 0
    for i, value in enumerate(a):
        count += i - seen.query(value + 1)
        seen.update(value, 1)
    return count, seen.visits


# --- running statistics ---------------------------------------------------------------------------------------------------------
class Welford:
    def __init__(self) -> None:
        self.count = 0
        self.mean = 0.0
        self.squares = 0.0
        self.missing = 0
        self.low = None
        self.high = None

    def push(self, value: Any) -> None:
        if value != value:
            self.missing += 1
            return
        self.count += 1
        delta = value - self.mean
        self.mean += delta / self.count
        self.squares += delta * (value - self.mean)
        if self.low is None or value < self.low:
            self.low = value
        if self.high is None or value > self.high:
            self.high = value

    def variance(self) -> Any:
        if self.count < 2:
            return 0.0
        return self.squares / (self.count - 1)

    @property
    def spread(self) -> Any:
        return 0.0 if self.low is None else self.high - self.low


def running_statistics(values: Any) -> Any:
    """The count, mean, variance and spread of the values that are not nan, and how many are."""
    statistics = Welford()
    for value in values:
        statistics.push(value)
    return statistics.count, statistics.mean, statistics.variance(), statistics.spread, statistics.missing


# --- more objects and closures --------------------------------------------------------------------------------------------------
@dataclass
class Robot:
    x: Any = 0
    y: Any = 0
    heading: Any = 0
    bumps: Any = 0


FORWARD, LEFT, RIGHT = 0, 1, 2
DX, DY = [0, 1, 0, -1], [1, 0, -1, 0]


def obey(robot: Robot, command: Any, floor: Any) -> None:
    rows, columns = floor.shape
    if command == LEFT:
        robot.heading = (robot.heading - 1) % 4
    elif command == RIGHT:
        robot.heading = (robot.heading + 1) % 4
    else:
        x, y = robot.x + DX[robot.heading], robot.y + DY[robot.heading]
        if 0 <= x < columns and 0 <= y < rows:
            robot.x, robot.y = x, y
            floor[y, x] += 1
        else:
            robot.bumps += 1


def drive(commands: Any, n: Any) -> Any:
    """Where the first `n` commands lead, the bumps into walls, and how often each tile was entered."""
    robot = Robot()
    floor = jnp.zeros((3, 4), dtype=int)
    for k in range(n):
        obey(robot, commands[k], floor)
    return robot.x, robot.y, robot.bumps, floor


class Counted:
    """A function that counts its calls."""

    def __init__(self, f: Any) -> None:
        self.f = f
        self.calls = 0

    def __call__(self, x: Any) -> Any:
        self.calls += 1
        return self.f(x)


def bisect(low: Any, high: Any, tolerance: Any) -> Any:
    """A root of `x**3 - x - 2`, and how often that was evaluated; -1 where the ends have one sign."""
    f = Counted(lambda x: x * x * x - x - 2)
    left = f(low)
    if left * f(high) > 0:
        return -1.0, f.calls
    while high - low > tolerance:
        middle = (low + high) / 2
        value = f(middle)
        if value == 0:
            return middle, f.calls
        if left * value < 0:
            high = middle
        else:
            low, left = middle, value
    return (low + high) / 2, f.calls


def flood_fill(picture: Any, row: Any, column: Any, colour: Any) -> Any:
    """The picture with the area around a pixel in another colour, and how many pixels that is."""
    rows, columns = picture.shape
    stack = jnp.zeros((rows * columns + 1, 2), dtype=int)
    top = filled = 0
    old = picture[row, column]

    def visit(i: Any, j: Any) -> None:
        nonlocal top, filled
        if 0 <= i < rows and 0 <= j < columns and picture[i, j] == old:
            picture[i, j] = colour
            filled += 1
            stack[top] = i, j
            top += 1

    if old != colour:
        visit(row, column)
    while top > 0:
        top -= 1
        i, j = stack[top]
        visit(i + 1, j)
        visit(i - 1, j)
        visit(i, j + 1)
        visit(i, j - 1)
    return picture, filled
