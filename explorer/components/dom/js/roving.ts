/** A group of buttons that is one stop of the Tab key; arrow keys go from one to the next. */

const UP_AND_DOWN: Record<string, number> = { ArrowUp: -1, ArrowDown: 1 }; // ← and → are for steps
const ALL_WAYS: Record<string, number> = { ...UP_AND_DOWN, ArrowLeft: -1, ArrowRight: 1 };

/**
 * Arrow keys go to the button before or after the one in focus, and click it.
 * @param buttons that can be chosen, in their order
 * @param options.round whether ← and → go, too, and from the last to the first, as in a radio group
 * @param options.press says whether it is clicked, too
 */
export function followArrows(
  group: HTMLElement,
  buttons: () => HTMLElement[],
  { round = false, press = () => true }: { round?: boolean; press?: () => boolean } = {},
) {
  const moves = round ? ALL_WAYS : UP_AND_DOWN;
  group.addEventListener("keydown", (event) => {
    const by = moves[event.key];
    if (!by || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    const all = buttons();
    const place = all.indexOf(event.target as HTMLElement) + by;
    const next = all[round ? (place + all.length) % all.length : place];
    next?.focus();
    if (press()) next?.click();
  });
}

/** Make one of the buttons the stop of the Tab key: the first where `chosen` is none of them. */
export function markStop(buttons: HTMLElement[], chosen: HTMLElement | undefined) {
  const stop = buttons.find((one) => one === chosen) ?? buttons[0];
  for (const one of buttons) one.tabIndex = one === stop ? 0 : -1;
}
