"""A small stack machine: push, arithmetic, jumps, a memory of four cells."""
from dataclasses import dataclass

import jax.numpy as jnp
import numpy as np

import autograph as ag

ENTRY = "execute"
PUSH, ADD, SUB, MUL, DIV, LOAD, STORE, JUMP, JZ, PRINT, HALT = range(11)


@dataclass
class Machine:
    stack: object
    memory: object
    sp: int = 0
    pc: int = 0

    def push(self, value):
        if self.sp >= len(self.stack):
            raise OverflowError("stack overflow")
        self.stack[self.sp] = value
        self.sp += 1

    def pop(self):
        if self.sp == 0:
            raise IndexError("pop from an empty stack")
        self.sp -= 1
        return self.stack[self.sp]


@ag.function
def execute(program, max_steps=200):
    vm = Machine(jnp.zeros(8, dtype=int), jnp.zeros(4, dtype=int))
    steps = 0
    while True:
        op, arg = program[vm.pc]
        vm.pc += 1
        steps += 1
        if steps > max_steps:
            raise TimeoutError("too many steps")
        if op == PUSH:
            vm.push(arg)
        elif op in (ADD, SUB, MUL, DIV):
            b, a = vm.pop(), vm.pop()
            if op == ADD:
                vm.push(a + b)
            elif op == SUB:
                vm.push(a - b)
            elif op == MUL:
                vm.push(a * b)
            else:
                if b == 0:
                    raise ZeroDivisionError(f"division by zero at {vm.pc - 1}")
                vm.push(a // b)
        elif op == LOAD:
            vm.push(vm.memory[arg])
        elif op == STORE:
            vm.memory[arg] = vm.pop()
        elif op == JUMP:
            vm.pc = arg
        elif op == JZ:
            if vm.pop() == 0:
                vm.pc = arg
        elif op == PRINT:
            print("out:", vm.pop())
        elif op == HALT:
            break
        else:
            raise ValueError(f"unknown instruction {op}")
    return vm.memory, vm.sp, steps


def cases():
    factorial = np.array([[PUSH, 5], [STORE, 0], [PUSH, 1], [STORE, 1], [LOAD, 0], [JZ, 15], [LOAD, 1], [LOAD, 0], [MUL, 0],
                          [STORE, 1], [LOAD, 0], [PUSH, 1], [SUB, 0], [STORE, 0], [JUMP, 4], [LOAD, 1], [PRINT, 0], [HALT, 0]])
    return [(factorial,), (np.array([[PUSH, 6], [PUSH, 0], [DIV, 0], [HALT, 0]]),), (np.array([[ADD, 0], [HALT, 0]]),),
            (np.array([[JUMP, 0], [HALT, 0]]),)]
