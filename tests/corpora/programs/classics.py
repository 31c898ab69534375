"""Nine classic programs in plain imperative Python: tables, state machines, early exits, an interpreter, a ray marcher."""

from __future__ import annotations

from enum import IntEnum
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np


# --- edit distance --------------------------------------------------------------------------------------------------------------
def edit_distance(a: Any, b: Any, m: Any, n: Any) -> Any:
    """The Levenshtein distance of the first `m` codes of `a` and the first `n` of `b`, and how many substitutions one shortest script has."""
    distance = jnp.zeros((len(a) + 1, len(b) + 1), dtype=int)
    for i in range(m + 1):
        distance[i, 0] = i
    for j in range(n + 1):
        distance[0, j] = j
    for i in range(1, m + 1):
        for j in range(1, n + 1):
            if a[i - 1] == b[j - 1]:
                distance[i, j] = distance[i - 1, j - 1]
            else:
                distance[i, j] = 1 + min(distance[i - 1, j], distance[i, j - 1], distance[i - 1, j - 1])

    i, j, substitutions = m, n, 0
    while i > 0 and j > 0:
        if a[i - 1] == b[j - 1]:
            i, j = i - 1, j - 1
        elif distance[i, j] == distance[i - 1, j - 1] + 1:
            substitutions += 1
            i, j = i - 1, j - 1
        elif distance[i, j] == distance[i - 1, j] + 1:
            i -= 1
        else:
            j -= 1
    return distance[m, n], substitutions


# --- 0/1 knapsack ---------------------------------------------------------------------------------------------------------------
LARGEST = 20


def knapsack(weights: Any, values: Any, capacity: Any) -> Any:
    """The best value within `capacity` (at most `LARGEST`), the weight that it takes and which items are in."""
    n = len(weights)
    best = jnp.zeros((n + 1, LARGEST + 1))
    for i in range(n):
        for room in range(capacity + 1):
            best[i + 1, room] = best[i, room]
            if weights[i] > room:
                continue
            taken = best[i, room - weights[i]] + values[i]
            if taken > best[i + 1, room]:
                best[i + 1, room] = taken

    chosen = jnp.zeros(n, dtype=bool)
    room = capacity
    for i in range(n - 1, -1, -1):
        if best[i + 1, room] != best[i, room]:
            chosen[i] = True
            room -= weights[i]
    return best[n, capacity], capacity - room, chosen


# --- matrix-chain order ---------------------------------------------------------------------------------------------------------
def matrix_chain(sizes: Any, n: Any) -> Any:
    """The fewest multiplications for a product of `n` matrices, of shapes `sizes[k]` by `sizes[k + 1]`, and where each part is split."""
    cost = jnp.zeros((len(sizes), len(sizes)), dtype=int)
    split = jnp.zeros((len(sizes), len(sizes)), dtype=int)
    for length in range(2, n + 1):
        for i in range(n - length + 1):
            j = i + length - 1
            best = None
            for k in range(i, j):
                total = cost[i, k] + cost[k + 1, j] + sizes[i] * sizes[k + 1] * sizes[j + 1]
                if best is None or total < best:
                    best = total
                    split[i, j] = k
            cost[i, j] = best
    return cost[0, max(n - 1, 0)], split


# --- game of life ---------------------------------------------------------------------------------------------------------------
def life(board: Any, n: Any) -> Any:
    """`n` generations on a torus, fewer when nothing lives or moves: the last board, the generations run, and the most cells ever alive."""
    rows, columns = board.shape
    most = board.sum()
    done = 0
    for _ in range(n):
        new = jnp.zeros_like(board)
        for i in range(rows):
            for j in range(columns):
                neighbours = 0
                for di in (-1, 0, 1):
                    for dj in (-1, 0, 1):
                        if di == 0 and dj == 0:
                            continue
                        neighbours += board[(i + di) % rows, (j + dj) % columns]
                if board[i, j] == 1:
                    new[i, j] = 1 if neighbours in (2, 3) else 0
                elif neighbours == 3:
                    new[i, j] = 1
        if (new == board).all():
            break
        board = new
        done += 1
        alive = board.sum()
        if alive > most:
            most = alive
        if alive == 0:
            break
    return board, done, most


# --- tokenizer ------------------------------------------------------------------------------------------------------------------
class State(IntEnum):
    START = 0
    NUMBER = 1
    FRACTION = 2
    NAME = 3
    STRING = 4
    ESCAPE = 5
    COMMENT = 6


class Token(IntEnum):
    NUMBER = 0
    NAME = 1
    OPERATOR = 2
    STRING = 3
    ERROR = 4


def is_digit(c: Any) -> Any:
    return 48 <= c <= 57


def is_letter(c: Any) -> Any:
    return 97 <= c <= 122 or 65 <= c <= 90 or c == 95


def tokenize(codes: Any, n: Any) -> Any:
    """How many tokens of each kind the first `n` character codes hold, where the first error is (or -1), and the longest name's length."""
    counts = jnp.zeros(len(Token), dtype=int)
    state = State.START
    start = 0
    longest = 0
    first_error = -1
    i = 0
    while i < n:
        c = codes[i]
        match state:
            case State.START:
                start = i
                match c:
                    case 32 | 9 | 10:
                        pass
                    case 34:
                        state = State.STRING
                    case 35:
                        state = State.COMMENT
                    case 40 | 41 | 42 | 43 | 45 | 47:
                        counts[Token.OPERATOR] += 1
                    case 60 | 61 | 62:
                        if i + 1 < n and codes[i + 1] == 61:
                            i += 1
                        counts[Token.OPERATOR] += 1
                    case digit if is_digit(digit):
                        state = State.NUMBER
                    case _ if is_letter(c):
                        state = State.NAME
                    case _:
                        counts[Token.ERROR] += 1
                        if first_error < 0:
                            first_error = i
            case State.NUMBER | State.FRACTION:
                if c == 46 and state == State.NUMBER:
                    state = State.FRACTION
                elif not is_digit(c):
                    counts[Token.NUMBER] += 1
                    state = State.START
                    continue
            case State.NAME:
                if not (is_letter(c) or is_digit(c)):
                    counts[Token.NAME] += 1
                    longest = max(longest, i - start)
                    state = State.START
                    continue
            case State.STRING:
                match c:
                    case 34:
                        counts[Token.STRING] += 1
                        state = State.START
                    case 92:
                        state = State.ESCAPE
                    case 10:
                        counts[Token.ERROR] += 1
                        if first_error < 0:
                            first_error = start
                        state = State.START
            case State.ESCAPE:
                state = State.STRING
            case State.COMMENT if c == 10:
                state = State.START
        i += 1

    match state:
        case State.NUMBER | State.FRACTION:
            counts[Token.NUMBER] += 1
        case State.NAME:
            counts[Token.NAME] += 1
            longest = max(longest, n - start)
        case State.STRING | State.ESCAPE:
            counts[Token.ERROR] += 1
            if first_error < 0:
                first_error = start
    return counts, first_error, longest


# --- LU decomposition -----------------------------------------------------------------------------------------------------------
def lu_solve(a: Any, b: Any, tiny: Any) -> Any:
    """The solution of `a @ x == b` by LU decomposition with partial pivoting, the determinant, and whether `a` is singular."""
    n = len(b)
    lu = jnp.array(a)
    order = jnp.arange(n)
    det = 1.0
    for k in range(n):
        pivot = k
        for i in range(k + 1, n):
            if abs(lu[i, k]) > abs(lu[pivot, k]):
                pivot = i
        if abs(lu[pivot, k]) < tiny:
            return jnp.zeros(n), 0.0, True
        if pivot != k:
            row = lu[k].copy()
            lu[k] = lu[pivot]
            lu[pivot] = row
            order[k], order[pivot] = order[pivot], order[k]
            det = -det
        det *= lu[k, k]
        for i in range(k + 1, n):
            lu[i, k] /= lu[k, k]
            for j in range(k + 1, n):
                lu[i, j] -= lu[i, k] * lu[k, j]

    x = jnp.zeros(n)
    for i in range(n):
        x[i] = b[order[i]]
        for j in range(i):
            x[i] -= lu[i, j] * x[j]
    for i in reversed(range(n)):
        for j in range(i + 1, n):
            x[i] -= lu[i, j] * x[j]
        x[i] /= lu[i, i]
    return x, det, False


# --- conjugate gradients --------------------------------------------------------------------------------------------------------
def conjugate_gradients(a: Any, b: Any, tolerance: Any, most: Any) -> Any:
    """The solution of `a @ x == b` for a positive definite `a`, the steps taken, and whether the residual came below `tolerance`."""
    x = jnp.zeros_like(b)
    residual = b
    direction = residual
    square = residual @ residual
    if square <= tolerance**2:
        return x, 0, True
    for step in range(most):
        image = a @ direction
        curvature = direction @ image
        if curvature <= 0:
            return x, step, False
        length = square / curvature
        x = x + length * direction
        residual = residual - length * image
        new = residual @ residual
        if new <= tolerance**2:
            return x, step + 1, True
        direction = residual + new / square * direction
        square = new
    return x, most, False


# --- ray marcher ----------------------------------------------------------------------------------------------------------------
SPHERES = np.array([[-0.8, 0.0, 3.0, 1.0], [1.4, 0.3, 4.0, 0.7]], dtype=np.float32)
BOX_CENTRE = np.array([0.3, 1.6, 3.5], dtype=np.float32)
BOX_HALF = [0.6, 0.4, 0.5]
FLOOR, SPHERE, BOX = 0, 1, 2
ALBEDO = [0.3, 0.9, 0.6]
FAR = 20.0


def norm(v: Any) -> Any:
    return jnp.sqrt((v * v).sum())


def box_distance(p: Any) -> Any:
    """The signed distance of `p` from the box."""
    outside = 0.0
    inside = -FAR
    for axis in range(3):
        d = abs(p[axis] - BOX_CENTRE[axis]) - BOX_HALF[axis]
        if d > 0:
            outside += d * d
        inside = max(inside, d)
    return jnp.sqrt(outside) if outside > 0 else inside


def scene(p: Any) -> Any:
    """The distance of `p` from the nearest shape, and which one that is."""
    nearest, shape = p[1] + 1.0, FLOOR
    for sphere in SPHERES:
        d = norm(p - sphere[:3]) - sphere[3]
        if d < nearest:
            nearest, shape = d, SPHERE
    d = box_distance(p)
    if d < nearest:
        nearest, shape = d, BOX
    return nearest, shape


def march(origin: Any, direction: Any, light: Any, most: Any) -> Any:
    """The depth at which a ray meets the scene and how bright it is there, with a shadow; depth -1 and the sky's brightness where it does not."""
    direction = direction / norm(direction)
    light = light / norm(light)
    depth = 0.0
    steps = 0
    hit = False
    while True:
        p = origin + depth * direction
        distance, shape = scene(p)
        steps += 1
        if distance < 1e-4 * (1 + depth):
            hit = True
            break
        depth += distance
        if depth > FAR or steps >= most:
            break
    if not hit:
        return -1.0, 0.1 + 0.2 * max(direction[1], 0.0)

    normal = jax.grad(lambda q: scene(q)[0])(p)
    brightness = normal @ light
    if brightness <= 0:
        return depth, 0.05 * ALBEDO[shape]
    travelled = 0.02
    while travelled < FAR:
        distance, _ = scene(p + 0.01 * normal + travelled * light)
        if distance < 1e-3:
            brightness *= 0.3
            break
        travelled += distance
    return depth, ALBEDO[shape] * (0.05 + brightness)


# --- virtual machine ------------------------------------------------------------------------------------------------------------
class Op(IntEnum):
    HALT = 0
    SET = 1
    MOVE = 2
    ADD = 3
    SUB = 4
    MUL = 5
    DIV = 6
    JUMP = 7
    JUMP_ZERO = 8
    PUSH = 9
    POP = 10
    CALL = 11
    RETURN = 12


OK, OUT_OF_FUEL, BAD_OPCODE, DIVISION_BY_ZERO, BAD_STACK = range(5)
DEPTH = 8


def run_machine(program: Any, x: Any, fuel: Any) -> Any:
    """Run rows of `(opcode, a, b)` from the first, with `x` in register 0: the registers, the instructions run and a status."""
    registers = jnp.zeros(4, dtype=int)
    registers[0] = x
    stack = jnp.zeros(DEPTH, dtype=int)
    top = 0
    pc = 0
    steps = 0
    status = OK
    while True:
        if steps >= fuel:
            return registers, steps, OUT_OF_FUEL
        op, a, b = program[pc]
        pc += 1
        steps += 1
        match op:
            case Op.HALT:
                break
            case Op.SET:
                registers[a] = b
            case Op.MOVE:
                registers[a] = registers[b]
            case Op.ADD:
                registers[a] += registers[b]
            case Op.SUB:
                registers[a] -= registers[b]
            case Op.MUL:
                registers[a] *= registers[b]
            case Op.DIV:
                if registers[b] == 0:
                    status = DIVISION_BY_ZERO
                    break
                registers[a] //= registers[b]
            case Op.JUMP:
                pc = b
            case Op.JUMP_ZERO:
                if registers[a] == 0:
                    pc = b
            case Op.PUSH | Op.CALL if top == DEPTH:
                return registers, steps, BAD_STACK
            case Op.POP | Op.RETURN if top == 0:
                return registers, steps, BAD_STACK
            case Op.PUSH:
                stack[top] = registers[a]
                top += 1
            case Op.POP:
                top -= 1
                registers[a] = stack[top]
            case Op.CALL:
                stack[top] = pc
                top += 1
                pc = b
            case Op.RETURN:
                top -= 1
                pc = stack[top]
            case _:
                return registers, steps, BAD_OPCODE
    return registers, steps, status
