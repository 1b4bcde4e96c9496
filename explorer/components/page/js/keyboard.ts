import type { Move } from "../../trace/js/actions.ts";

const KEY_MOVES: Record<string, Move> = {
  ArrowLeft: "previous",
  ArrowRight: "next",
  Home: "first",
  End: "last",
  " ": "play",
};
/** Of the remotes of presenters, beside ← and →; elsewhere these keys scroll. */
const REMOTE_MOVES: Record<string, Move> = {
  PageUp: "previous",
  PageDown: "next",
  ArrowUp: "previous",
  ArrowDown: "next",
};
const TAKES_TEXT =
  "input:not([type=checkbox], [type=radio], [type=range]), textarea, select, " +
  "[contenteditable]:not([contenteditable=false]), [role=textbox], [role=combobox], " +
  "[role=listbox], [role=menu]";
const USES_ARROWS = "input[type=range], [role=slider], [role=tab]";
const USES_SPACE =
  "button, input:not([type=range]), a[href], summary, [role=button], [role=radio], [role=checkbox]";
const USES_UP_AND_DOWN = "[type=radio], [role=radio], [role=dialog], dialog";
const PLAYS = ".move"; // space plays on a button of the transport, too; Enter presses it
const KEEPS_FOCUS = "[data-head]"; // ↑ and ↓ go on from the thumbnail that was clicked
const CONTROL = "button, summary, input[type=checkbox], input[type=range]";

/** What keys change. */
interface Keyed {
  root: HTMLElement;
  signal: AbortSignal;
  act: Record<Move, () => void>;
  state: { readonly projector: boolean };
  set: (patch: { projector: boolean }) => void;
}

/**
 * Whether words are open beside `root`, which Escape closes first; an older browser opens none so.
 */
function hasOpenPopover(root: HTMLElement) {
  if (!CSS.supports("selector(:popover-open)")) return false;
  const tree = root.getRootNode() as Document | ShadowRoot;
  return tree.querySelector(":popover-open") !== null;
}

/**
 * Where a key moves to, if it is one for steps. One of a remote is on a projector, and else where it
 * scrolls neither the page of `root` nor what has the focus.
 */
export function moveOf(event: KeyboardEvent, root: Element, projector: boolean): Move | undefined {
  const move = REMOTE_MOVES[event.key];
  if (!move) return KEY_MOVES[event.key];
  const [target] = event.composedPath();
  const focused = target instanceof Element ? target : null;
  if (focused?.closest(USES_UP_AND_DOWN)) return undefined;
  return projector || !(scrolls(root) || scrolls(focused)) ? move : undefined;
}

/** Whether the page, or a part of it that `node` is in, can be scrolled up or down. */
function scrolls(node: Element | null): boolean {
  if (!node) return false;
  const isPage = node === document.documentElement;
  const overflow = getComputedStyle(node).overflowY;
  const can = isPage ? overflow !== "hidden" : overflow === "auto" || overflow === "scroll";
  if (can && node.scrollHeight > node.clientHeight + 1) return true; // 1 px: sizes are rounded
  const { host } = node.getRootNode() as ShadowRoot;
  return scrolls(node.assignedSlot ?? node.parentElement ?? host ?? null);
}

/**
 * ← → Home End, those of remotes, space and letters, wherever the focus is, except in text boxes and on elements that use
 * them themselves. After a click the focus is on the component, not on the control: the next key
 * must not press it again, nor a thumbnail, which keeps the focus.
 * @param more shortcuts, by letter, in lower case
 */
export function listenToKeys(
  { root, signal, act, state, set }: Keyed,
  more: Record<string, () => void> = {},
) {
  const shortcuts: Record<string, () => void> = {
    ...more,
    p: () => set({ projector: !state.projector }),
  };
  let clicked: Element | null = null; // the thumbnail that has the focus by a click
  const plays = (target: EventTarget) =>
    target instanceof Element &&
    root.contains(target) &&
    (target === clicked || target.closest(PLAYS) !== null);
  /** @param event `detail`: 0 for a click by a key */
  const onClick = ({ target, detail }: MouseEvent) => {
    const control = target instanceof Element ? target.closest(CONTROL) : null;
    if (!detail || !control) return;
    if (control.matches(KEEPS_FOCUS)) clicked = control;
    else root.focus({ preventScroll: true });
  };
  const onLeave = () => {
    clicked = null;
  };
  const onKey = (event: KeyboardEvent) => {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
    if (!root.isConnected || root.getClientRects().length === 0) return;
    const [target] = event.composedPath();
    const within = (selector: string) =>
      target instanceof Element && target.closest(selector) !== null;
    if (within(TAKES_TEXT)) return;
    const shortcut = shortcuts[event.key.toLowerCase()];
    if (shortcut) {
      if (event.key !== "Escape" || !hasOpenPopover(root)) shortcut();
      return;
    }
    const move = moveOf(event, root, state.projector);
    if (!move) return;
    const uses = event.key === " " ? within(USES_SPACE) && !plays(target) : within(USES_ARROWS);
    if (uses) return;
    event.preventDefault();
    act[move]();
  };
  document.addEventListener("keydown", onKey, { signal });
  root.addEventListener("click", onClick, { signal });
  root.addEventListener("focusout", onLeave, { signal });
}
