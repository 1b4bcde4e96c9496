const PROJECTOR_TYPE = 19; // px, as the style sheet has it
const CHIP_EDGE = 24; // what a chip adds to its text
const MANY_TOKENS = 24; // fewer always fit two lines, and need no look at the layout

/** Source and target as two lines of tokens: who can be asked, and who asks. */
function createStrips(context) {
  const source = stripElement(context, "source");
  const target = stripElement(context, "target");
  const node = element("div", { class: "strips" }, source.row, target.row);
  const update = (changed) => {
    const causes = ["trace", "site", "layer", "head", "step", "ahead", "theme", "hover", "scale", "size", "projector", "alignment"];
    if (!causes.some((name) => changed.has(name))) return;
    if (changed.size === 1 && changed.has("hover") && context.state.site !== "encoder") {
      markHovered(context, source.tokens, target.tokens);
      return;
    }
    target.row.classList.toggle("off", context.state.site === "encoder");
    source.row.hidden = context.trace.source.length === 0;
    target.row.hidden = context.trace.target.length === 0;
    if (["trace", "size", "projector"].some((name) => changed.has(name))) {
      node.classList.toggle("abreast", fitAbreast(context));
    }
    drawSource(context, source.tokens);
    drawTarget(context, target.tokens);
    markHovered(context, source.tokens, target.tokens);
    const still = ["hover", "theme", "scale", "ahead"]; // what moves no token
    if ([...changed].every((name) => still.includes(name))) return;
    scrollToToken(target.tokens, currentRow(context));
    scrollToToken(source.tokens, strongestKey(context));
  };
  return { element: node, update };
}

/**
 * Whether, for the projector, both strips fit beside each other. All tokens count, hidden or
 * not: stepping must not move the lines.
 */
function fitAbreast({ state, trace, root, palette, say }) {
  if (!state.projector) return false;
  const pen = document.createElement("canvas").getContext("2d");
  pen.font = `${PROJECTOR_TYPE}px ${palette.font}`;
  const tokens = [...trace.source, ...trace.target, ...trace.predicted.slice(-1)];
  const chips = tokens.map((token) => Math.max(tokenWidth(pen, token), 16) + CHIP_EDGE);
  const names = ["strip_source", "strip_target"].map((name) => Math.max(textWidth(pen, say(name)), 80) + 40);
  return [...chips, ...names].reduce((sum, width) => sum + width, 0) < root.clientWidth;
}

/** A labelled strip: {row, label, tokens}. */
function stripElement(context, name) {
  const label = element("span", { class: "strip-label" }, context.say(`strip_${name}`));
  const tokens = element("div", {
    class: "strip-tokens",
    testid: `strip-${name}`,
    role: "list",
    "aria-label": context.say(`strip_${name}`),
    on: {
      pointermove: (event) => hoverToken(context, event, name),
      pointerleave: (event) => leaveHover(context, event),
      click: (event) => {
        const place = chipPlace(event);
        const row = currentRow(context);
        if (name === "target" && row >= 0 && place >= 0 && place < shownRows(context)) {
          context.act.goTo(place + 1);
        }
      },
    },
  });
  return { row: element("div", { class: "strip" }, label, tokens), label, tokens };
}

/** Place of the token under the pointer, −1 between tokens. */
function chipPlace(event) {
  const chip = event.target.closest(".chip");
  return chip ? [...chip.parentNode.children].indexOf(chip) : -1;
}

/** A token is a key: show where it stands in the map. */
function hoverToken(context, event, name) {
  const { state } = context;
  const site = siteOf(context);
  const place = chipPlace(event);
  const isKey = (name === "target") === (site.name === "decoder");
  if (!isKey || place < 0 || place >= site.keys || place >= shownKeys(context)) return;
  const row = currentRow(context);
  hoverOver(context, {
    query: row < 0 ? null : row,
    key: place,
    layer: state.layer,
    head: state.head,
    x: event.clientX,
    y: event.clientY,
  });
}

/** A chip, to be filled by `drawChip`. */
function makeChip() {
  return element("bdi", { class: "chip token", role: "listitem" });
}

/** The source, tinted by the weight the current row gives each token. */
function drawSource(context, parent) {
  const { trace } = context;
  const chips = populate(parent, trace.source.length, makeChip);
  const tint = rowTint(context, ["cross", "encoder"]);
  const linked = linkAt(context, currentRow(context));
  trace.source.forEach((token, place) => {
    drawChip(chips[place], token, tint?.[place]);
    chips[place].classList.toggle("aligned", place === linked);
  });
}

/** The target: what was fed in, the query, what it predicts, and dots for what is to come. */
function drawTarget(context, parent) {
  const { trace, state } = context;
  const last = trace.predicted.length ? 1 : 0;
  const chips = populate(parent, trace.target.length + last, makeChip);
  const tint = rowTint(context, ["decoder"]);
  const row = currentRow(context);
  const linked = linkAt(context, row) >= 0;
  for (let place = 0; place < chips.length; place += 1) {
    const chip = chips[place];
    const predicted = row >= 0 && place === row + 1 && last === 1;
    const token = predicted ? trace.predicted[row] : trace.target[place] ?? trace.predicted.at(-1);
    const ahead = row >= 0 && place > row + (predicted ? 1 : 0);
    const hidden = ahead && !state.ahead;
    drawChip(chip, hidden ? "·" : token, hidden ? null : tint?.[place]);
    chip.classList.toggle("query", place === row);
    chip.classList.toggle("predicted", predicted);
    chip.classList.toggle("ahead", ahead);
    chip.classList.toggle("aligned", linked && (state.alignment === "input" ? place === row : predicted));
    assign(chip, "aria-current", place === row ? "step" : null);
  }
}

/** Weights of the current row of the selected head; in the encoder, of the hovered row. */
function rowTint(context, sites) {
  const { state, palette } = context;
  if (!sites.includes(state.site)) return null;
  const site = siteOf(context);
  const row = state.site === "encoder" ? (state.hover?.query ?? -1) : currentRow(context);
  if (row < 0 || row >= site.queries) return null;
  const start = row * site.keys;
  const weights = site.weights(state.layer, state.head).subarray(start, start + site.keys);
  const closed = site.closed(state.layer, state.head);
  return Array.from(tones(weights, site.keys, scaleOf(state, site)), (tone, key) =>
    closed[start + key] ? null : palette.ramp[Math.round(tone * (LEVELS - 1))],
  );
}

/** Fill one chip. */
function drawChip(chip, token, colour) {
  writeToken(chip, token);
  const background = colour ? css(colour) : "";
  if (chip.dataset.tint !== background) {
    chip.dataset.tint = background;
    chip.style.background = background;
    chip.style.color = colour ? inkOn(colour) : "";
  }
}

/** Mark the token that is the hovered key. */
function markHovered({ state }, source, target) {
  const keys = state.site === "decoder" ? target : source;
  for (const strip of [source, target]) {
    for (const chip of strip.querySelectorAll(".hovered")) chip.classList.remove("hovered");
  }
  if (state.hover) keys.children[state.hover.key]?.classList.add("hovered");
}

/** The source token the current row of the selected head looks at most; −1 without one. */
function strongestKey(context) {
  const { state } = context;
  const site = siteOf(context);
  const row = currentRow(context);
  if (site.name !== "cross" || row < 0) return -1;
  const start = row * site.keys;
  const weights = site.weights(state.layer, state.head).subarray(start, start + site.keys);
  return weights.indexOf(Math.max(...weights));
}

/** Scroll a strip of many lines so that the token at `place` is seen, and the line after it. */
function scrollToToken(parent, place) {
  const chip = parent.children[place];
  if (!chip || parent.children.length < MANY_TOKENS || parent.scrollHeight <= parent.clientHeight) return;
  parent.scrollTop = chip.offsetTop - 2;
}
