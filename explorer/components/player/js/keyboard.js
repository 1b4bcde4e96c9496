const KEY_MOVES = { ArrowLeft: "previous", ArrowRight: "next", Home: "first", End: "last", " ": "play" };
const OWN_ARROWS = "input:not([type=checkbox]), textarea, select, [contenteditable]:not([contenteditable=false]), " +
  "[role=slider], [role=textbox], [role=combobox], [role=listbox], [role=menu], [role=tab]";
const OWN_SPACE = "button, input, a[href], summary, [role=button], [role=radio], [role=checkbox]";

/** ← → Home End, space and P, wherever nothing else on the page wants them. */
function listenToKeys(context) {
  const { act, root, signal } = context;
  const onKey = (event) => {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
    if (!root.isConnected || root.getClientRects().length === 0) return;
    const [target] = event.composedPath();
    const within = (names) => target instanceof Element && target.closest(names) !== null;
    if (within(OWN_ARROWS)) return;
    if (event.key === "p" || event.key === "P") {
      context.set({ projector: !context.state.projector });
      return;
    }
    const move = KEY_MOVES[event.key];
    if (!move || (event.key === " " && within(OWN_SPACE))) return;
    event.preventDefault();
    act[move]();
  };
  document.addEventListener("keydown", onKey, { signal });
}
