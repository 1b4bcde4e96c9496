"""Live pages: the browser itself decodes, with the models of `components.browser_model`.

`js/livePage.ts` is the page, `js/explorePage.ts` Explore on it, `js/modelWorker.ts` the worker with
the models; `page.py` writes the HTML around them. No torch, no Streamlit.
"""
