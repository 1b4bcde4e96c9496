const DIVERGING = {
  light: { below: ["#d8c5ea", "#9a68c0", "#4a1478"], above: ["#bfe3c6", "#4fa565", "#0b4a22"] },
  dark: { below: ["#3f2a5c", "#9065c4", "#e6d2ff"], above: ["#1d4a2c", "#479e60", "#cdf7d6"] },
};

/** Purple for less, the page itself for 0, green for more: a ramp of `LEVELS` colours. */
function divergingRamp(palette) {
  const { below, above } = DIVERGING[palette.dark ? "dark" : "light"];
  const half = LEVELS / 2;
  const side = (colours) => {
    const stops = [palette.paper, ...colours.map(rgb)];
    return Array.from({ length: half }, (_, level) => {
      const place = (level / (half - 1)) * (stops.length - 1);
      const from = Math.min(Math.floor(place), stops.length - 2);
      return mix(stops[from], stops[from + 1], place - from);
    });
  };
  return [...side(below).reverse(), ...side(above)];
}

/** A number as short as it can be read: three digits that tell something. */
function shortNumber(value) {
  if (value === null || value === undefined) return "–";
  if (value === 0) return "0";
  const size = Math.abs(value);
  if (size >= 100) return value.toFixed(0);
  if (size >= 10) return value.toFixed(1);
  if (size >= 0.01) return value.toFixed(2);
  return value.toPrecision(1).replace("e-", "e−");
}

/** The same with its sign, for a change. */
function signedNumber(value) {
  const text = shortNumber(value);
  if (value === null || value === undefined) return text;
  return value > 0 ? `+${text}` : text.replace("-", "−");
}

/** A colour bar from 0 to `most`, or from −most over 0 to it, with its numbers. */
function drawBar(bar, marks, { signed, most, ramp }) {
  const image = new ImageData(LEVELS, 1);
  ramp.forEach((colour, level) => image.data.set([...colour, 255], level * 4));
  paint(bar, image);
  const ends = signed ? [[0, -most], [0.5, 0], [1, most]] : [[0, 0], [0.5, most / 2], [1, most]];
  marks.replaceChildren(
    ...(most ? ends : []).map(([tone, value]) => {
      const mark = element("span", {}, signed ? signedNumber(value) : shortNumber(value));
      mark.style.left = `${tone * 100}%`;
      return mark;
    }),
  );
}
