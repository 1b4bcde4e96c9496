"""Parts of the pages: controls, forms, tables and messages.

May import `app.state`, `app.server`, uploads, caches and mounts, and the packages below `app`;
no view.
"""
