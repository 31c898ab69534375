"""A bank ledger: deposits, withdrawals with an overdraft fee, transfers."""
import jax.numpy as jnp
import numpy as np

import autograph as ag

ENTRY = "run"
DEPOSIT, WITHDRAW, TRANSFER = 0, 1, 2


class Bank:
    def __init__(self, balances, fee=2.5):
        self.balances = balances
        self.fee = fee
        self.fees = 0.0
        self.log = {"deposit": 0, "withdraw": 0, "transfer": 0}

    def deposit(self, who, amount):
        if amount <= 0:
            raise ValueError("deposit must be positive")
        self.balances[who] += amount
        self.log["deposit"] += 1

    def withdraw(self, who, amount, overdraft=50.0):
        left = self.balances[who] - amount
        if left < -overdraft:
            raise ValueError(f"account {who}: insufficient funds")
        if left < 0:
            left -= self.fee
            self.fees += self.fee
        self.balances[who] = left
        self.log["withdraw"] += 1

    def transfer(self, src, dst, amount):
        if src == dst:
            return False
        self.withdraw(src, amount, overdraft=0.0)
        self.balances[dst] += amount
        self.log["transfer"] += 1
        return True

    @ag.function
    def process(self, kinds, accounts, others, amounts):
        ignored = 0
        for kind, who, other, amount in zip(kinds, accounts, others, amounts):
            if kind == DEPOSIT:
                self.deposit(who, amount)
            elif kind == WITHDRAW:
                self.withdraw(who, amount)
            elif kind == TRANSFER:
                if not self.transfer(who, other, amount):
                    ignored += 1
            else:
                ignored += 1
        return ignored


def run(balances, kinds, accounts, others, amounts):
    bank = Bank(balances)
    ignored = bank.process(kinds, accounts, others, amounts)
    return bank.balances, bank.fees, bank.log, ignored


def cases():
    start = np.array([100.0, 20.0, 0.0])
    k = np.array([0, 1, 2, 2, 5, 1])
    w = np.array([2, 1, 0, 1, 0, 0])
    o = np.array([0, 0, 2, 1, 0, 0])
    a = np.array([10.0, 45.0, 60.0, 5.0, 1.0, 39.0])
    return [(start.copy(), k, w, o, a), (start.copy(), k[::-1].copy(), w, o, a / 4),
            (start.copy(), k, w, o, a * 3), (start.copy(), k * 0, w, o, a - 20.0)]
