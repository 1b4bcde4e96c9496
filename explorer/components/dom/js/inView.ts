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
