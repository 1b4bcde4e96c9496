import { assign, element, populate, write } from "../../dom/js/element.ts";
import { colourAt, css, type Palette, signedRamp } from "../../page/js/palette.ts";

export interface SignedBar {
  label: string;
  title: string; // on hover
  value: number;
  number: string; // as it is printed
  mark?: number; // a value to compare with, drawn as a line
  sum?: boolean; // whether it is what the bars above add up to
}

export const TONE = { below: 0.125, above: 0.875 }; // of the signed colours

/**
 * Named bars to the left and right of 0, one below the other, each with its number: purple below 0,
 * green above.
 */
export function createSignedBars(testid: string) {
  const node = element("div", { class: "signed-bars", testid, role: "list" });
  const draw = (palette: Palette, bars: SignedBar[], largest: number) => {
    const ramp = signedRamp(palette);
    const items = populate(node, bars.length, barElement);
    bars.forEach(({ label, title, value, number: text, mark, sum = false }, index) => {
      const [name, track, number] = [...items[index].children] as HTMLElement[];
      const [bar, line] = [...track.children] as HTMLElement[];
      const [from, to] = [50, placeOf(value, largest)].sort((one, other) => one - other);
      bar.style.left = `${from}%`;
      bar.style.width = `${to - from}%`;
      bar.style.background = css(colourAt(ramp, value < 0 ? TONE.below : TONE.above));
      line.hidden = mark === undefined;
      line.style.left = `${placeOf(mark ?? 0, largest)}%`;
      write(name, label);
      write(number, text);
      assign(items[index], "title", title);
      items[index].classList.toggle("sum", sum);
    });
  };
  return { element: node, draw };
}

/** Where a value is in its track, in percent. */
function placeOf(value: number, largest: number) {
  const share = largest ? value / largest : 0;
  return 50 + 50 * Math.max(-1, Math.min(1, share));
}

function barElement() {
  const track = element(
    "span",
    { class: "signed-track" },
    element("i", { class: "bar" }),
    element("i", { class: "mark" }),
  );
  return element(
    "div",
    { class: "signed-bar", role: "listitem" },
    element("span", {}),
    track,
    element("span", { class: "value" }),
  );
}
