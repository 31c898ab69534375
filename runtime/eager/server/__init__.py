"""Training by several processes: `wire.py` is messages over sockets, `parameter_server.py` is `ag.parameter_server`."""
