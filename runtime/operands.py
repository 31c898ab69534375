"""Operands that a statement has evaluated before it makes a call: an array among them into which the call stores is the old one afterwards.

    t = h.a * h.put(3, 10.0)      # NumPy's `h.a` shows what `put` stores

What waits on the evaluation stack of a frame is found by abstract interpretation of its bytecode: of each value the paths that may have given it.
"""

from __future__ import annotations

import dis
import weakref
from collections.abc import Iterator
from types import CodeType, FrameType, MemberDescriptorType, ModuleType
from typing import Any

from autograph.runtime.errors import AliasError
from autograph.runtime.places import caller, here, is_block, place_of, shown_name, visible
from autograph.runtime.raw_errors import mark_of
from autograph.runtime.shared import aliasable
from autograph.runtime.stale import is_one, may_be

Path = tuple[Any, ...]  # a kind of variable, its name, and attributes (".", name) and constant or variable keys ("[]", key), ("[x]", name)
Value = frozenset[Path]
Stack = tuple[Value, ...]

_RUNTIME: Path = ("global", "ag")
_LOAD: Path = (*_RUNTIME, (".", "get_item"))  # `ag.get_item(x, i)`: a subscript
_CALLEE: Path = (*_RUNTIME, (".", "call"))  # `ag.call(f)`: what is called
_UNKNOWN: Value = frozenset()
_LOCAL, _GLOBAL = "local", "global"
_ENDS = ("RETURN_VALUE", "RETURN_CONST", "RERAISE", "RAISE_VARARGS", "JUMP_FORWARD", "JUMP_BACKWARD", "JUMP_BACKWARD_NO_INTERRUPT")
_BUILDS = ("BUILD_TUPLE", "BUILD_LIST", "BUILD_MAP", "BUILD_CONST_KEY_MAP")
_NOTHING = ("COPY", "SWAP", "NOP", "RESUME", "PUSH_NULL", "PRECALL", "KW_NAMES", "SETUP_ANNOTATIONS")
_PUSH_NOTHING = ("STORE_", "POP_", "DELETE_", "RETURN_", "RAISE_", "LIST_", "SET_", "DICT_", "MAP_", "JUMP_", "END_FOR")
_KEEP = ("FOR_ITER", "SEND", "JUMP_IF_TRUE_OR_POP", "JUMP_IF_FALSE_OR_POP")  # what they take, unless they go the other way
_SKIPPED = ("CACHE", "EXTENDED_ARG")
_MOST = 20_000  # steps, beyond which what a huge function has on its stack is not known

_known: dict[int, dict[int, Value]] = {}  # by identity of the code, as long as there is that


def refuse_operands(x: Any) -> None:
    """Called where an array is stored into.

    Raises:
      AliasError: (AG407) a statement of a caller has loaded it before the call that stores into it, and uses it afterwards.
    """
    own = caller() if aliasable(x) else None
    frame = visible(own.f_back) if own is not None else None
    while frame is not None and (mark_of(frame.f_code) in ("Form", "Staged") or is_block(frame.f_code)):
        for path in _pending(frame):
            held = _held(path, frame)
            if held is not None and may_be(held, x):
                raise _refusal(_shown(path, frame), frame, is_one(held, x))
        frame = visible(frame.f_back)


def _refusal(shown: str, frame: FrameType, surely: bool) -> AliasError:
    text = "" if surely else ", if traced values decide so"
    return AliasError(
        f"a call stores into the array `{shown}`, which its statement has read before{text}: the operand would be the old array", here(),
        f"make the call first, in a statement of its own, or read a copy (`{shown}.copy()`)", [(place_of(frame), "the call")],
    )  # fmt: skip


def _pending(frame: FrameType) -> Value:
    """The paths that values were loaded by which wait on the stack of a frame for its call to end."""
    code = frame.f_code
    if (known := _known.get(id(code))) is None:
        known = _known[id(code)] = dict(_waiting(code))
        weakref.finalize(code, _known.pop, id(code), None).atexit = False
    return known.get(frame.f_lasti, _UNKNOWN)


def _waiting(code: CodeType) -> Iterator[tuple[int, Value]]:
    """For each instruction the paths of what is on the stack below its own operands, if there are any."""
    instructions, stacks = _stacks(code)
    for k, stack in stacks.items():
        below = stack[: len(stack) - _consumed(instructions[k])]
        if found := frozenset().union(*below):
            end = instructions[k + 1].offset if k + 1 < len(instructions) else len(code.co_code)
            for offset in range(instructions[k].offset, end, 2):  # a frame that calls stands in what is cached behind the instruction
                yield offset, found


def _stacks(code: CodeType) -> tuple[list[dis.Instruction], dict[int, Stack]]:
    """The instructions, and the stack before each that can be reached, by its index."""
    instructions: list[dis.Instruction] = []
    index: dict[int, int] = {}
    for i in dis.get_instructions(code):
        index[i.offset] = len(instructions)  # a jump may go to the prefix of an instruction
        if i.opname not in _SKIPPED:
            instructions.append(i)
    handlers: Any = dis.Bytecode(code).exception_entries  # type: ignore[attr-defined]
    found: dict[int, Stack] = {0: ()}
    todo, steps = [0], 0
    while todo and steps < _MOST:
        steps += 1
        k = todo.pop()
        i, stack = instructions[k], found[k]
        after: list[tuple[int, Stack]] = []
        if i.opcode in dis.hasjrel or i.opcode in dis.hasjabs:
            after.append((index[i.argval], _after(i, stack, True)))
        if i.opname not in _ENDS and k + 1 < len(instructions):
            after.append((k + 1, _after(i, stack, False)))
        for e in handlers:
            if e.start <= i.offset < e.end:
                kept = stack[: e.depth]
                after.append((index[e.target], (*kept, *[_UNKNOWN] * (e.depth - len(kept) + e.lasti + 1))))
        for n, new in after:
            old = found.get(n)
            joined = new if old is None or len(old) != len(new) else tuple(a | b for a, b in zip(old, new, strict=True))
            if joined != old:
                found[n] = joined
                todo.append(n)
    return instructions, found


def _effect(i: dis.Instruction, jump: bool) -> int:
    """How many values more there are on the stack after an instruction: a call itself takes its arguments, also where another one announces it."""
    if i.opname in ("PRECALL", "CALL"):
        return -1 - (i.arg or 0) if i.opname == "CALL" else 0
    return dis.stack_effect(i.opcode, i.arg if i.opcode >= dis.HAVE_ARGUMENT else None, jump=jump)


def _consumed(i: dis.Instruction) -> int:
    """How many values an instruction takes from the stack."""
    name = i.opname
    if name in ("LOAD_ATTR", "LOAD_METHOD", "JUMP_IF_TRUE_OR_POP", "JUMP_IF_FALSE_OR_POP", "FOR_ITER", "SEND"):
        return 1
    if name in _NOTHING or (name.startswith("LOAD_") and not name.startswith("LOAD_SUPER")):
        return 0
    effect = _effect(i, False)
    return max(-effect, 0) if name.startswith(_PUSH_NOTHING) else max(1 - effect, 1)  # most push one


def _after(i: dis.Instruction, stack: Stack, jump: bool) -> Stack:
    """The stack after an instruction."""
    name, effect = i.opname, _effect(i, jump)
    size = len(stack) + effect
    top = stack[-1] if stack else _UNKNOWN
    if name == "COPY" and i.arg:
        return (*stack, stack[-i.arg] if i.arg <= len(stack) else _UNKNOWN)
    if name == "SWAP" and i.arg and i.arg <= len(stack):
        new = list(stack)
        new[-1], new[-i.arg] = new[-i.arg], new[-1]
        return tuple(new)
    if name.startswith("STORE_FAST_LOAD_FAST"):
        return (*_stored(stack, i.argval[0]), _loaded("LOAD_FAST", i.argval[1]))
    if name.startswith("LOAD_FAST_LOAD_FAST"):
        return (*stack, *(_loaded("LOAD_FAST", n) for n in i.argval))
    if name.startswith(("LOAD_FAST", "LOAD_DEREF", "LOAD_GLOBAL", "LOAD_NAME", "LOAD_CLASSDEREF", "LOAD_CLOSURE")):
        new = [_loaded(name, i.argval)]
        return (*stack, *[_UNKNOWN] * (effect - 1), *new)
    if name in ("LOAD_ATTR", "LOAD_METHOD") and stack:
        read = frozenset((*p, (".", i.argval)) for p in top)
        return (*stack[:-1], read) if effect <= 0 else (*stack[:-1], read, top)  # a method, and what it is one of
    if name == "LOAD_CONST":
        known = _RUNTIME if isinstance(i.argval, ModuleType) else ("constant", i.argval) if isinstance(i.argval, (str, int)) else ()
        return (*stack, frozenset([known]) if known else _UNKNOWN)
    loads = name == "CALL" and i.arg == 2 and len(stack) > 3 and _LOAD in stack[-3] | stack[-4]
    if (name == "BINARY_SUBSCR" and len(stack) > 1) or loads:
        return (*stack[: -4 if loads else -2], frozenset((*p, key) for p in stack[-2] for key in _keys(top)))
    if name == "CALL" and i.arg == 1 and len(stack) > 2 and _CALLEE in stack[-2] | stack[-3]:
        return (*stack[:-3], top)
    if name.startswith("STORE_") and effect == -1 and isinstance(i.argval, str):
        return _stored(stack, i.argval)
    if name in _BUILDS and effect <= 1 and len(stack) >= 1 - effect:
        return (*stack[: size - 1], frozenset().union(*(v for v in stack[size - 1 :])))
    taken = min(_consumed(i), len(stack))
    kept = stack if effect >= 0 and name in _KEEP or not taken else stack[:-taken]
    return (*kept[:size], *[_UNKNOWN] * (size - len(kept)))


def _stored(stack: Stack, variable: str) -> Stack:
    """The stack after a variable has been bound; the plain form binds one of its own to what it then throws away."""
    kept = stack[:-1]
    return (*kept[:-1], _UNKNOWN) if not variable.isidentifier() and kept[-1:] == stack[-1:] else kept


def _loaded(name: str, variable: str) -> Value:
    kind = _GLOBAL if "GLOBAL" in name or "NAME" in name else _LOCAL
    return frozenset([(kind, variable)])


def _keys(index: Value) -> Iterator[tuple[str, Any]]:
    """The key that an index is, if it is a constant or a variable."""
    for path in index:
        if len(path) == 2 and path[0] != _GLOBAL:
            yield ("[]" if path[0] == "constant" else "[x]", path[1])


def _held(path: Path, frame: FrameType) -> Any:
    """What a path holds now; None if that cannot be told without running code of the user's."""
    kind, name, *steps = path
    if kind == "constant":
        return None
    value: Any = frame.f_locals.get(name) if kind == _LOCAL else frame.f_globals.get(name)
    for how, key in steps:
        if how == ".":
            value = value if aliasable(value) and callable(getattr(type(value), key, None)) else _attribute(value, key)  # a method holds its array
            continue
        key = frame.f_locals.get(key) if how == "[x]" else key
        if type(value) is dict:
            value = value.get(key) if isinstance(key, (str, int)) else None
        elif type(value) in (list, tuple) and isinstance(key, int) and -len(value) <= key < len(value):
            value = value[key]
        else:
            return None
    return value


def _attribute(obj: Any, name: str) -> Any:
    if isinstance(getattr(type(obj), name, None), MemberDescriptorType):
        return getattr(obj, name, None)
    own = getattr(obj, "__dict__", None)
    return own.get(name) if isinstance(own, dict) else None


def _shown(path: Path, frame: FrameType) -> str:
    _, name, *steps = path
    return shown_name(frame.f_code, name) + "".join(f".{k}" if how == "." else f"[{k!r}]" if how == "[]" else f"[{k}]" for how, k in steps)
