"""Roles of heads, such as previous token, with the score that is expected by chance."""
