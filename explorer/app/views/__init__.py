"""The pages, one file each; Streamlit runs the file of the page that is on screen.

May import everything in `app` except another view.
"""
