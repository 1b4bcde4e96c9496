"""The command line, one module a command: `add_parser` adds it to the parser of `__main__`.

May import every package but `app`. Only `start` imports it, to start the app, and `site`, to write
its pages as files. Imports that load torch are inside the functions, so that `--help` is quick.
"""
