"""Genetic algorithm for a schedule: jobs on machines so that the last machine ends early."""
import jax
import jax.numpy as jnp
import numpy as np

import autograph as ag

ENTRY = "run"
MACHINES = 3


def makespan(plan, durations):
    loads = [0.0] * MACHINES
    for machine, duration in zip(plan, durations):
        loads[machine] += duration
    return max(loads)


def tournament(key, scores):
    a, b = jax.random.randint(key, (2,), 0, len(scores))
    return a if scores[a] <= scores[b] else b


@ag.function
def improve(key, population, durations, generations=4, mutation=0.15):
    size, genes = population.shape
    scores = [makespan(plan, durations) for plan in population]
    for g in range(generations):
        best = min(range(size), key=lambda i: scores[i])
        children = jnp.zeros_like(population)
        children[0] = population[best]                     # elitism
        for i in range(1, size):
            key, ka, kb, kc, km, kv = jax.random.split(key, 6)
            mother = population[tournament(ka, scores)]
            father = population[tournament(kb, scores)]
            cut = jax.random.randint(kc, (), 1, genes)
            child = jnp.zeros(genes, dtype=population.dtype)
            child[:cut] = mother[:cut]
            child[cut:] = father[cut:]
            flips = jax.random.uniform(km, (genes,))
            for j in range(genes):
                if flips[j] < mutation:
                    child[j] = jax.random.randint(jax.random.fold_in(kv, j), (), 0, MACHINES)
            children[i] = child
        population = children
        scores = [makespan(plan, durations) for plan in population]
        print(f"generation {g}: best {min(scores):.2f}, mean {sum(scores) / size:.2f}")
    return population[0], min(scores)


def run(seed, population, durations):
    return improve(jax.random.key(seed), population, durations)


def cases():
    p = np.arange(36).reshape(6, 6) * 7 % 5 % 3
    return [(0, p, np.array([3.0, 1.0, 2.5, 4.0, 0.5, 2.0])), (4, p, np.array([1.0, 1.0, 1.0, 6.0, 2.0, 3.0]))]
