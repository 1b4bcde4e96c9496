"""Class mode on the pages: who leads, the vote, and the code to scan. JavaScript alone; the
server's side is `explorer/app/server/class_route.py`.
"""
