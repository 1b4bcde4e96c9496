"""The commands of `python -m explorer`, one module each: `describe` adds it to the parser."""
