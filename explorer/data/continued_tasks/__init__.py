"""The toy tasks of a decoder alone, which continues a sequence, one file each; may import torch and
`core`.

A new file here is a new task, called by the file's name, with two functions:

    sequences(size, length, symbols, generator)
                          random sequences (B, L) of symbols from 0 on, each beginning with two
                          different ones; the shapes depend on the arguments alone
    alignment(symbols)    the gold alignment: for each symbol of one sequence, the positions that
                          it may be copied from
"""
