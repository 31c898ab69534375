"""Layers and models, with Keras's definitions: `layer.py` is what all share, `models.py` what holds layers; `layers.py` is `ag.layers`."""
