import { assign, element } from "../../dom/js/element.ts";
import { onResize } from "../../dom/js/onResize.ts";
import { type Palette, readPalette } from "./palette.ts";

/**
 * Read the colours of the theme at `root` and follow them: they change through a CSS transition
 * of a hidden element, whose end is an event.
 * @returns the colours now
 */
export function watchTheme(
  root: HTMLElement,
  onChange: (palette: Palette) => void = () => {},
): Palette {
  const sensor = element("i", { class: "theme-sensor", "aria-hidden": "true" });
  root.append(sensor);
  let palette = readPalette(sensor);
  const mark = () => {
    root.dataset.theme = palette.dark ? "dark" : "light";
  };
  mark();
  sensor.addEventListener("transitionend", () => {
    const next = readPalette(sensor);
    if (next.key === palette.key) return;
    palette = next;
    mark();
    onChange(palette);
  });
  return palette;
}

/** The elements around `node`, out of its shadow root too. */
function ancestorsOf(node: Node): Element[] {
  const parent = node.parentNode instanceof ShadowRoot ? node.parentNode.host : node.parentElement;
  return parent ? [parent, ...ancestorsOf(parent)] : [];
}

/**
 * Follow the size of `root` and the height below its top edge, which the style sheet reads as
 * `--available-height`.
 * @param signal ends the watching
 * @param lowestTop px; a component that begins lower is as high as if it began here
 */
export function watchSize(
  root: HTMLElement,
  signal: AbortSignal,
  onChange: () => void,
  lowestTop = Number.POSITIVE_INFINITY,
) {
  const ancestors = ancestorsOf(root);
  /** Top edge within the page, however far it is scrolled. */
  const offset = () =>
    ancestors.reduce((sum, node) => sum + node.scrollTop, root.getBoundingClientRect().top);
  let fitted = 0;
  const fit = () => {
    fitted = offset();
    const top = Math.max(Math.min(fitted, lowestTop), 0);
    root.style.setProperty("--available-height", `calc(100dvh - ${Math.round(top)}px)`);
    onChange();
  };
  onResize([root], signal, fit);
  // What appears above later moves the component: its own size stays, that of its ancestors does not.
  onResize(ancestors, signal, () => {
    requestAnimationFrame(() => {
      if (!signal.aborted && Math.abs(offset() - fitted) >= 1) fit();
    });
  });
  window.addEventListener("resize", fit, { signal });
  fit();
}

/**
 * Mark `root` for the style sheet when there is room for one column only, and when the heads have
 * to be in a row above the maps.
 * @param columns px that several columns need
 * @param railBeside px that they need with the heads beside them
 */
export function markNarrow(root: HTMLElement, columns: number, railBeside: number = columns) {
  assign(root, "data-narrow", root.clientWidth < columns ? "" : null);
  assign(root, "data-rail-above", root.clientWidth < railBeside ? "" : null);
}
