/** Calls `act` at the start and when one of `elements` gets another size, until `signal` ends it. */
export function onResize(elements: Iterable<Element>, signal: AbortSignal, act: () => void) {
  const observer = new ResizeObserver(act);
  for (const element of elements) observer.observe(element);
  signal.addEventListener("abort", () => observer.disconnect());
}
