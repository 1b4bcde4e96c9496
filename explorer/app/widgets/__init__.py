"""Parts of the pages: controls, forms, tables and messages.

May import the packages below `app`, and all of `app` but a view.
"""
