"""pymdptoolbox: planners of Markov decision processes, classes that iterate until they are near enough."""

from __future__ import annotations

from typing import Any

import mdptoolbox.example
import numpy as np
from mdptoolbox import mdp, util

from tests.campaigns.published import entry

PACKAGE = "mdptoolbox"


def _problem(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    return rng.dirichlet(np.ones(4), size=(2, 4)), rng.random((4, 2))


def _run(planner: Any) -> Any:
    planner.run()
    planner.time = 0.0  # how long it took
    return planner.V, planner.policy


def _iterated(P: np.ndarray, R: np.ndarray, discount: float) -> Any:
    planner = mdp.ValueIteration(P, R, discount, epsilon=0.01, max_iter=40)
    planner.run()
    return planner.V, planner.policy, planner.iter


ENTRIES = [
    entry("ValueIteration.run", _run, lambda rng: (mdp.ValueIteration(*_problem(rng), 0.9),)),
    entry("ValueIteration, made and run", _iterated, lambda rng: (*_problem(rng), 0.9)),
    entry("ValueIterationGS.run", _run, lambda rng: (mdp.ValueIterationGS(*_problem(rng), 0.9),)),
    entry("RelativeValueIteration.run", _run, lambda rng: (mdp.RelativeValueIteration(*_problem(rng)),)),
    entry("PolicyIteration.run", _run, lambda rng: (mdp.PolicyIteration(*_problem(rng), 0.9),)),
    entry("PolicyIterationModified.run", _run, lambda rng: (mdp.PolicyIterationModified(*_problem(rng), 0.9),)),
    entry("FiniteHorizon.run", _run, lambda rng: (mdp.FiniteHorizon(*_problem(rng), 0.9, 4),)),
    entry("MDP._bellmanOperator", lambda planner: planner._bellmanOperator(), lambda rng: (mdp.ValueIteration(*_problem(rng), 0.9),)),
    entry("util.check", util.check, _problem),
    entry("util.isStochastic", util.isStochastic, lambda rng: (_problem(rng)[0][0],)),
    entry("util.getSpan", util.getSpan, lambda rng: (rng.normal(size=5),)),
    entry(
        "example.forest, solved",
        lambda p: _run(mdp.ValueIteration(*mdptoolbox.example.forest(S=3, p=p), 0.9)),
        lambda rng: (0.05 + 0.1 * rng.random(),),
    ),
]
