"""The residual streams of a pass, read and changed; what a token gives to them."""
