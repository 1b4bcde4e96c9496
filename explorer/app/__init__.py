"""The Streamlit app: pages, their state, their widgets and the additions to the server.

May import every package but `cli`. The only package that imports Streamlit.
"""
