"""The command line, one module a command: `add_parser` adds it to the parser of `__main__`.

May import every package but `app`, which only `start` imports, to start it. Imports that load
torch are inside the functions, so that `--help` is quick.
"""
