"""Word alignment by attention, compared with gold links drawn by people."""
