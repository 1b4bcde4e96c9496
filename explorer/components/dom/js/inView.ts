import { onResize } from "./onResize.ts";

const MOVES = ["wheel", "touchmove", "pointerdown", "keydown"]; // by which a person scrolls

/**
 * Scroll the page to a part of the player, of a high one to its top. The style sheet keeps it between
 * the card of a lesson and the steps, which on a phone stay at the lower edge.
 * @param root of the player
 * @param block where a part that is not high is to lie
 */
export function scrollIntoSight(
  root: HTMLElement,
  part: Element,
  block: ScrollLogicalPosition = "nearest",
) {
  const steps = root.querySelector(":scope > .transport") as HTMLElement | null;
  root.style.setProperty("--steps-height", `${steps?.offsetHeight ?? 0}px`);
  const high = part.clientHeight > window.innerHeight / 2;
  part.scrollIntoView({ block: high ? "start" : block, inline: "nearest" });
}

/**
 * Scroll to an element now and whenever it or its player grows, until a person moves: what is in it
 * and above it may arrive later.
 * @param root of the player
 * @returns which ends it
 */
export function keepInSight(root: HTMLElement, node: Element): AbortController {
  const ended = new AbortController();
  const { signal } = ended;
  onResize([node, root], signal, () => afterPanels(() => scrollIntoSight(root, node)));
  for (const name of MOVES)
    window.addEventListener(name, () => ended.abort(), { signal, passive: true });
  return ended;
}

/** Act after the frame in which a panel that opens scrolls to itself. */
function afterPanels(act: () => void) {
  requestAnimationFrame(() => requestAnimationFrame(act));
}
