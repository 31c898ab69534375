"""The eager-style API: Variables, the tape, gradients, optimizers and checkpoints; each module is imported when a name of it is used."""
