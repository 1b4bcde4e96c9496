"""The Streamlit app: pages, their state, their widgets and what the server adds.

May import every package but `cli`. The only package that imports Streamlit.
"""
