/**
 * One entry in the browser's history for what follows an action of a person.
 *
 * Streamlit adds an entry whenever the address changes. A change of the page changes it twice, the
 * page and then the query, so that Back would have to be pressed twice, and the entry between the
 * two opens something that was never on screen.
 */
{
  let acted = false;
  const act = () => {
    acted = true;
  };
  for (const kind of ["pointerdown", "keydown"]) window.addEventListener(kind, act, true);
  window.addEventListener("popstate", () => {
    acted = false;
  });
  const add = window.history.pushState.bind(window.history);
  window.history.pushState = (...entry) => {
    if (acted) add(...entry);
    else window.history.replaceState(...entry);
    acted = false;
  };
}
