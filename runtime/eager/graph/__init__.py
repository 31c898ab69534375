"""Static graphs, as TensorFlow 1 had them: `nodes.py` is computations that wait, `sessions.py` evaluates them; `graph.py` is `ag.graph`."""
