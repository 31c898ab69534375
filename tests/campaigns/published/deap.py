"""deap: test functions of optimization, and selection."""

from __future__ import annotations

from deap import benchmarks

from tests.campaigns.published import entry

PACKAGE = "deap"


ENTRIES = [
    entry("rosenbrock", benchmarks.rosenbrock, lambda rng: (rng.normal(size=6),)),
    entry("ackley", benchmarks.ackley, lambda rng: (rng.normal(size=6),)),
    entry("griewank of a list", benchmarks.griewank, lambda rng: (rng.normal(size=5).tolist(),)),
    entry("rastrigin_skew", benchmarks.rastrigin_skew, lambda rng: (rng.normal(size=6),)),
    entry("schaffer", benchmarks.schaffer, lambda rng: (rng.normal(size=5),)),
    entry("schwefel", benchmarks.schwefel, lambda rng: (rng.normal(size=5) * 100,)),
    entry("himmelblau", benchmarks.himmelblau, lambda rng: (rng.normal(size=2),)),
    entry("shekel", benchmarks.shekel, lambda rng: (rng.random(2), rng.random((4, 2)), rng.random(4))),
    entry("kursawe", benchmarks.kursawe, lambda rng: (rng.normal(size=4),)),
    entry("zdt3", benchmarks.zdt3, lambda rng: (rng.random(5),)),
    entry("zdt6", benchmarks.zdt6, lambda rng: (rng.random(5),)),
    entry("dtlz1", benchmarks.dtlz1, lambda rng: (rng.random(5), 3), static=(1,)),
    entry("dtlz4", benchmarks.dtlz4, lambda rng: (rng.random(5), 3, 2.0), static=(1,)),
    entry("dtlz7", benchmarks.dtlz7, lambda rng: (rng.random(5), 3), static=(1,)),
    entry("poloni", benchmarks.poloni, lambda rng: (rng.normal(size=2),)),
    entry("dent", benchmarks.dent, lambda rng: (rng.normal(size=2),)),
]
