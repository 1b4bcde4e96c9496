/**
 * Scroll a frame, and nothing around it, so that the current part of what it shows is in its middle.
 */
export function scrollToCurrent(frame: HTMLElement, part: Element | null | undefined) {
  if (!part) return;
  const [seen, box] = [frame.getBoundingClientRect(), part.getBoundingClientRect()];
  if (box.left < seen.left || box.right > seen.right)
    frame.scrollLeft += (box.left + box.right - seen.left - seen.right) / 2;
  if (box.top < seen.top || box.bottom > seen.bottom)
    frame.scrollTop += (box.top + box.bottom - seen.top - seen.bottom) / 2;
}
