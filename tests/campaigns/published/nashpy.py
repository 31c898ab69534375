"""nashpy: games of two players."""

from __future__ import annotations

from typing import Any

import numpy as np
from nashpy import Game
from nashpy.algorithms.support_enumeration import indifference_strategies, is_ne, obey_support, solve_indifference
from nashpy.egt.moran_process import score_all_individuals
from nashpy.learning.fictitious_play import get_best_response_to_play_count, update_play_count
from nashpy.learning.regret_minimization import compute_regrets, regret_minimization
from nashpy.learning.replicator_dynamics import get_derivative_of_asymmetric_fitness, get_derivative_of_fitness

from tests.campaigns.published import entry

PACKAGE = "nashpy"


def _game(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    return rng.normal(size=(3, 3)), rng.normal(size=(3, 3))


def _played(A: np.ndarray, B: np.ndarray, rounds: int) -> Any:
    """Fictitious play with the library's steps."""
    rows, columns = np.zeros(len(A)), np.zeros(len(B))
    rows[0] = columns[0] = 1
    for _ in range(rounds):
        r = np.argmax(A @ columns)
        c = np.argmax(B.T @ rows)
        rows = update_play_count(rows, r)
        columns = update_play_count(columns, c)
    return rows, columns


ENTRIES = [
    entry(
        "Game.lemke_howson",
        lambda A, B: Game(A, B).lemke_howson(0),
        lambda rng: (np.array([[1.0, -1.0], [-1.0, 1.0]]) + 0.1 * rng.random((2, 2)), np.array([[-1.0, 1.0], [1.0, -1.0]])),
    ),
    entry("Game.support_enumeration", lambda A, B: list(Game(A, B).support_enumeration()), lambda rng: _game(rng)),
    entry("Game.__getitem__", lambda A, B, r, c: Game(A, B)[r, c], lambda rng: (*_game(rng), rng.dirichlet(np.ones(3)), rng.dirichlet(np.ones(3)))),
    entry(
        "Game.is_best_response",
        lambda A, B, r, c: Game(A, B).is_best_response(r, c),
        lambda rng: (*_game(rng), np.array([0.0, 1.0, 0.0]), rng.dirichlet(np.ones(3))),
    ),
    entry("solve_indifference of chosen rows", lambda A: solve_indifference(A, (0, 2), (0, 1)), lambda rng: (rng.normal(size=(3, 3)),)),
    entry("obey_support", obey_support, lambda rng: (rng.dirichlet(np.ones(3)), np.array([0, 1]))),
    entry(
        "is_ne", is_ne, lambda rng: ((rng.dirichlet(np.ones(3)), rng.dirichlet(np.ones(3))), (np.array([0, 1, 2]), np.array([0, 1, 2])), _game(rng))
    ),
    entry("indifference_strategies", lambda A, B: [s[0] for s in indifference_strategies(A, B)], lambda rng: _game(rng)),
    entry("get_best_response_to_play_count", get_best_response_to_play_count, lambda rng: (rng.normal(size=(3, 3)), np.array([3.0, 1.0, 0.0]))),
    entry("fictitious play", _played, lambda rng: (*_game(rng), 12)),
    entry("compute_regrets", compute_regrets, lambda rng: (rng.normal(size=3), rng.dirichlet(np.ones(3)))),
    entry("regret_minimization", lambda A, B: list(regret_minimization(A, B, 5)), lambda rng: _game(rng)),
    entry("get_derivative_of_fitness", get_derivative_of_fitness, lambda rng: (rng.dirichlet(np.ones(3)), 0.0, rng.normal(size=(3, 3)))),
    entry("get_derivative_of_asymmetric_fitness", get_derivative_of_asymmetric_fitness, lambda rng: (rng.dirichlet(np.ones(6)), 0.0, *_game(rng))),
    entry("score_all_individuals", score_all_individuals, lambda rng: (rng.random((2, 2)), np.array([0, 1, 1, 0]), rng.random((4, 4)))),
]
