/** Streamlit would look for its server below the address of the page, at /train/, first. */
window.__streamlit = { BACKEND_BASE_URL: new URL(".", document.baseURI).href };
