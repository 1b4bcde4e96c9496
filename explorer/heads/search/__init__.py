"""*Where does it fire?*: an index of attention over a corpus, and searches of a head in it."""
