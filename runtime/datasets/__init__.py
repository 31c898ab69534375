"""Datasets: arrays gone over in batches.  `data.py` is `ag.data`, `orders.py` which items come when, `reading.py` how Python goes over them."""
