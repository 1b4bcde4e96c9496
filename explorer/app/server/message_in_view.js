/**
 * On a narrow window messages stand above the picture and move it down: a new one is scrolled into
 * view, since what it answers may be far below it.
 */
{
  const seen = new WeakMap();
  const show = () => {
    for (const message of document.querySelectorAll(".st-key-messages .stAlert")) {
      if (seen.get(message) === message.textContent) continue;
      seen.set(message, message.textContent);
      if (innerWidth <= 900)
        message.closest(".st-key-messages").scrollIntoView({ block: "nearest" });
    }
  };
  new MutationObserver(show).observe(document, {
    childList: true,
    characterData: true,
    subtree: true,
  });
}
