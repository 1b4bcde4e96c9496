/**
 * One entry in the browser's history for what follows an action of a person.
 *
 * Streamlit adds an entry whenever the address changes. A change of the page changes it twice, the
 * page and then the query, so that Back would have to be pressed twice, and the entry between the
 * two opens something that was never on screen.
 *
 * A text is in the address some 400 ms after it was submitted. Back pressed before that waits for
 * the entry: it would go one text too far, to the one before the text that was left.
 */
{
  const LONGEST_WAIT = 2000; // ms; a text that was refused gets no entry
  let acted = false;
  let submitted = 0; // timer of the wait; 0 = no text is on its way to the address
  let typedIn = null; // the field whose text is not yet submitted
  let backPressed = false;
  let undoing = false;
  let held = null; // an entry that comes while Back is undone
  const act = () => {
    acted = true;
  };
  const endWait = () => {
    clearTimeout(submitted);
    submitted = 0;
    if (backPressed) setTimeout(() => window.history.back());
    backPressed = false;
  };
  for (const kind of ["pointerdown", "keydown"]) window.addEventListener(kind, act, true);
  window.addEventListener("input", (event) => {
    typedIn = event.target;
  });
  const submit = (event) => {
    if (event.key !== "Enter" || event.isComposing || event.target !== typedIn) return;
    typedIn = null;
    clearTimeout(submitted);
    submitted = setTimeout(endWait, LONGEST_WAIT);
  };
  window.addEventListener("keydown", submit, true);
  window.addEventListener("popstate", (event) => {
    if (undoing || submitted) event.stopImmediatePropagation(); // Streamlit does not follow it
    if (undoing) {
      undoing = false;
      if (held) window.history.pushState(...held);
      held = null;
    } else if (submitted) {
      undoing = true;
      backPressed = true;
      window.history.forward();
    } else {
      acted = false;
    }
  });
  const add = window.history.pushState.bind(window.history);
  window.history.pushState = (...entry) => {
    if (undoing) {
      held = entry;
      return;
    }
    if (acted) add(...entry);
    else window.history.replaceState(...entry);
    acted = false;
    if (submitted) endWait();
  };
}
