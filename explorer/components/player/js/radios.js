const RADIO_MOVES = { ArrowLeft: -1, ArrowUp: -1, ArrowRight: 1, ArrowDown: 1 };

/**
 * Buttons of which one is chosen: one stop of the Tab key, arrows move inside.
 * @param {object} words `names` of the choices, `prefix` of their sentences, `label` of the group,
 *   `test`: prefix of their test ids
 * @param {function(string)} choose what a choice does
 * @returns {{element: HTMLElement, buttons: object, check: function(string)}}
 */
function createRadios({ say }, { names, prefix, label, test = prefix, small = false }, choose) {
  const button = (name) =>
    element(
      "button",
      {
        type: "button",
        role: "radio",
        testid: `${test}-${name}`,
        title: say(`${prefix}_${name}_title`),
        on: { click: () => choose(name) },
      },
      say(`${prefix}_${name}`),
    );
  const buttons = Object.fromEntries(names.map((name) => [name, button(name)]));
  const node = element(
    "div",
    { class: small ? "segments small" : "segments", role: "radiogroup", "aria-label": say(label) },
    ...Object.values(buttons),
  );
  node.addEventListener("keydown", (event) => moveChoice(Object.entries(buttons), event, choose));
  const check = (chosen) => {
    for (const [name, one] of Object.entries(buttons)) {
      assign(one, "aria-checked", name === chosen ? "true" : "false");
      one.tabIndex = name === chosen ? 0 : -1;
    }
  };
  return { element: node, buttons, check };
}

/** An arrow key goes to the next choice there is, around the ends, and never to the steps. */
function moveChoice(choices, event, choose) {
  const by = RADIO_MOVES[event.key];
  if (!by || event.ctrlKey || event.metaKey || event.altKey) return;
  event.preventDefault();
  const able = choices.filter(([, button]) => button.getAttribute("aria-disabled") === null);
  const now = able.findIndex(([, button]) => button === event.target);
  const [name, button] = able[(now + by + able.length) % able.length];
  button.focus();
  choose(name);
}
