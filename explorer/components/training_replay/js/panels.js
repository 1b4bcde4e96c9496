const LAYER_HUES = {
  light: ["#1f5fbf", "#1a7f4b", "#7a3fb0", "#00737d", "#a1345f", "#5c6b00"],
  dark: ["#7db2ff", "#6fd08c", "#c79bf2", "#5fcfd9", "#f29bbd", "#c3d05f"],
};

/** The colour of a head: a hue for each layer, paler for each further head. */
function headColour(palette, layer, head, heads) {
  const hues = LAYER_HUES[palette.dark ? "dark" : "light"];
  const hue = rgb(hues[layer % hues.length]);
  return css(mix(hue, palette.paper, (0.5 * head) / Math.max(heads, 2)));
}

/** A number with about three digits; a dash where there is none. */
function shortNumber(value) {
  if (value === null || value === undefined) return "–";
  if (value !== 0 && Math.abs(value) < 0.001) return value.toExponential(1);
  return String(Number(value.toPrecision(3)));
}

/** A share as a percentage. */
function shortShare(value) {
  return value === null || value === undefined ? "–" : `${(100 * value).toFixed(1)} %`;
}

/** A curve through one value of every moment. */
function curve(reel, read, look) {
  return { x: reel.moments.map((moment) => moment.step), y: reel.moments.map(read), ...look };
}

/** The same of the run that is compared with. */
function comparedCurve(reel, name, palette) {
  if (!reel.other) return [];
  const look = { colour: css(mix(palette.ink, palette.paper, 0.35)), dash: "dash", width: 1.5 };
  const moments = reel.other.moments;
  return [{ x: moments.map((moment) => moment.step), y: moments.map((moment) => moment[name] ?? null), ...look }];
}

/** The curve of the run on screen over that of the one it is compared with. */
function bothCurves(name) {
  return ({ reel, palette }) => [
    ...comparedCurve(reel, name, palette),
    curve(reel, (moment) => moment[name] ?? null, { colour: css(palette.ink), width: 2 }),
  ];
}

/** The loss, which every run has. */
const LOSS_PANEL = {
  name: "loss",
  log: true,
  lines: bothCurves("loss"),
  value: (moment) => shortNumber(moment.loss),
};

/** The curves on the left for a toy task: [{name, range, log, lines(context), value(moment)}, …]. */
const TASK_PANELS = [
  {
    name: "exact",
    range: [0, 1],
    mark: 0.99,
    ticks: [0, 0.5, 0.99],
    percent: true,
    lines: bothCurves("exact"),
    value: (moment) => shortShare(moment.exact),
  },
  LOSS_PANEL,
  {
    name: "gold",
    range: [0, 1],
    ticks: [0, 0.5, 1],
    weight: 1.25,
    lines: ({ reel, palette, chosen }) => [
      ...comparedCurve(reel, "gold", palette),
      ...goldLines(reel, palette, chosen),
    ],
    value: () => "",
  },
];

/** The same for translating. */
const TRANSLATION_PANELS = [
  { ...scorePanel("bleu"), weight: 1.25 },
  scorePanel("chrf"),
  LOSS_PANEL,
  {
    name: "perplexity",
    log: true,
    lines: bothCurves("perplexity"),
    value: (moment) => shortNumber(moment.perplexity),
  },
];

/** A panel with a score from 0 to 100; as long as it is low, a part of that fills the panel. */
function scorePanel(name) {
  return {
    name,
    ceilings: [25, 50, 100],
    lines: bothCurves(name),
    value: (moment) => (moment[name] ?? null) === null ? "–" : moment[name].toFixed(1),
  };
}

/** One line a head, the one on the right drawn thick and last. */
function goldLines(reel, palette, chosen) {
  const shape = reel.moments.at(-1)?.gold ?? [];
  const lines = shape.flatMap((layer, row) =>
    layer.map((_, head) => {
      const mine = chosen?.layer === row && chosen?.head === head;
      const look = { colour: headColour(palette, row, head, layer.length), width: mine ? 3.5 : 1.3 };
      return { mine, ...curve(reel, (moment) => moment.gold[row]?.[head] ?? null, look) };
    }),
  );
  return lines.sort((one, other) => Number(one.mine) - Number(other.mine));
}

/** The curves in the drawer. */
const MORE_PANELS = [
  simplePanel("rate", (moment) => moment.rate),
  simplePanel("norm", (moment) => moment.norm),
  { name: "norms", log: true, lines: normLines, value: () => "" },
  simplePanel("speed", (moment) => (moment.speed === null ? null : moment.speed / 1000)),
  simplePanel("memory", (moment) => moment.memory),
];

/** A panel with one line that begins at zero. */
function simplePanel(name, read) {
  return {
    name,
    fromZero: true,
    lines: ({ reel, palette }) => [curve(reel, read, { colour: css(palette.ink), width: 1.6 })],
    value: (moment) => shortNumber(read(moment)),
  };
}

/** The gradient's norm, one line a layer; the encoder in one hue, the decoder in the other. */
function normLines({ reel, palette }) {
  const names = Object.keys(reel.moments.at(-1)?.norms ?? {});
  return names.map((name) => {
    const side = name.startsWith("encoder") ? 0 : 1;
    const own = names.filter((other) => other.startsWith("encoder") === (side === 0));
    const colour = headColour(palette, side, own.indexOf(name), own.length);
    return { name, ...curve(reel, (moment) => moment.norms[name] ?? null, { colour, width: 1.3 }) };
  });
}
