"""The models that `explorer.load`, `wrap` and `import_state_dict` return: those of `model`, with
the studies of `heads` as methods, and an HTML page from `components`."""
