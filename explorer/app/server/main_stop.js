/**
 * Take the main part of Streamlit's page out of the order of the Tab key: no key does anything there
 * that it does not do at the controls inside. The link that skips to it leads there as before.
 */
{
  const take = () => {
    for (const main of document.querySelectorAll('.stMain[tabindex="0"]')) main.tabIndex = -1;
  };
  new MutationObserver(take).observe(document, { childList: true, subtree: true });
}
