"""The card of a lesson above the picture, and the offer of the first one."""
