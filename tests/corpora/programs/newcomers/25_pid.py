"""A PID controller with limits and anti-windup that heats a room."""
import jax.numpy as jnp

import autograph as ag

ENTRY = "run"


class PID:
    def __init__(self, kp, ki, kd, low=0.0, high=100.0):
        self.kp, self.ki, self.kd = kp, ki, kd
        self.low, self.high = low, high
        self.integral = 0
        self.previous = None
        self.saturated = 0

    def update(self, error, dt):
        derivative = 0 if self.previous is None else (error - self.previous) / dt
        self.previous = error
        integral = self.integral + error * dt
        output = self.kp * error + self.ki * integral + self.kd * derivative
        if output > self.high:
            output = self.high
            self.saturated += 1
            if error < 0:
                self.integral = integral
        elif output < self.low:
            output = self.low
            self.saturated += 1
            if error > 0:
                self.integral = integral
        else:
            self.integral = integral
        return output


@ag.function
def simulate(pid, setpoint, temperature, dt=0.5, seconds=40):
    settled = None
    overshoot = 0
    energy = 0
    t = 0.0
    while t < seconds:
        heat = pid.update(setpoint - temperature, dt)
        temperature += dt * (0.05 * heat - 0.1 * (temperature - 10))
        energy += heat * dt
        overshoot = max(overshoot, temperature - setpoint)
        if abs(temperature - setpoint) < 0.2:
            if settled is None:
                settled = t
        else:
            settled = None
        t += dt
    if settled is None:
        print("never settled")
    else:
        print(f"settled at {settled:.1f} s")
    return temperature, overshoot, energy, -1 if settled is None else settled


def run(kp, ki, kd, setpoint, temperature):
    pid = PID(kp, ki, kd)
    result = simulate(pid, setpoint, temperature)
    return result, pid.integral, pid.previous, pid.saturated


def cases():
    return [(8.0, 1.0, 0.5, 21.0, 15.0), (1.0, 0.0, 0.0, 30.0, 5.0), (20.0, 4.0, 0.0, 18.0, 25.0)]
