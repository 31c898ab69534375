"""An epidemic (SIR) with lockdowns that start and end at thresholds."""
import jax.numpy as jnp
import numpy as np

import autograph as ag

ENTRY = "epidemic"


@ag.function
def epidemic(population, infected, beta, gamma, start_at, stop_at, days=120):
    state = {"S": population - infected, "I": infected, "R": 0}
    lockdown = False
    lockdown_days = 0
    peak, peak_day = 0, 0
    curve = np.zeros(days)
    for day in range(days):
        prevalence = state["I"] / population
        if not lockdown and prevalence > start_at:
            lockdown = True
            print(f"day {day}: lockdown starts")
        elif lockdown and prevalence < stop_at:
            lockdown = False
            print(f"day {day}: lockdown ends")
        rate = beta * 0.3 if lockdown else beta
        lockdown_days += lockdown
        new = min(rate * state["S"] * state["I"] / population, state["S"])
        recovered = gamma * state["I"]
        state["S"] -= new
        state["I"] += new - recovered
        state["R"] += recovered
        assert abs(sum(state.values()) - population) < 1.0, "people got lost"
        curve[day] = state["I"]
        if state["I"] > peak:
            peak, peak_day = state["I"], day
        if state["I"] < 1:
            break
    return state, peak, peak_day, lockdown_days, day, curve


def cases():
    return [(1000.0, 10.0, 0.4, 0.1, 0.1, 0.05), (1000.0, 10.0, 0.3, 0.15, 0.9, 0.5), (500.0, 3.0, 0.1, 0.2, 0.1, 0.05)]
