"""Datasets: arrays gone over in batches.  `dataset.py` is `ag.data`; `item_order.py` says which items come when."""
