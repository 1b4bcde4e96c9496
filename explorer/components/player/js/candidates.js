const FEWEST_CANDIDATES = 3; // with less room than that, the column scrolls
const SMALLEST_SHARE = 1e-6; // where the logarithmic bars begin

/** The probabilities of the next token; a click asks "and if it had been this one?". */
function createCandidates(context) {
  const { say } = context;
  const title = element("h3", { testid: "candidates-title" });
  const words = { names: ["percent", "log"], prefix: "candidates", label: "candidates_scale", small: true };
  const radios = createRadios(context, words, (name) => context.set({ log: name === "log" }));
  const head = element("header", {}, title, radios.element);
  const list = element("ol", { class: "candidates", testid: "candidates" });
  const note = element("p", { class: "note", testid: "candidates-note" });
  const node = element("section", { class: "next-token", "aria-label": say("candidates") }, head, list, note);
  const causes = ["trace", "site", "step", "log", "projector"];
  const shaping = [...causes, "layer", "head", "ahead", "size"]; // what may change the room
  const update = (changed) => {
    const has = (names) => names.some((name) => changed.has(name));
    if (has(causes)) drawCandidates(context, { title, radios, list, note });
    if (has(shaping)) fitCandidates(context, node, list);
  };
  return { element: node, update };
}

/** Bring the list to the present step. */
function drawCandidates(context, { title, radios, list, note }) {
  const { state, trace, say } = context;
  const row = currentRow(context);
  const candidates = row < 0 ? [] : trace.candidates[row];
  radios.check(state.log ? "log" : "percent");
  const token = row < 0 ? "" : labelOf(trace.target[row]);
  write(title, row < 0 ? say("candidates") : say("candidates_after", { token }));
  write(note, candidateNote(context, row, candidates));
  const rows = populate(list, candidates.length, () => candidateElement(context));
  candidates.forEach((candidate, place) => drawCandidate(context, rows[place], candidate));
}

/** Show as many rows as the column has room for, the one that took the place always among them. */
function fitCandidates({ root }, node, list) {
  const items = [...list.children];
  const most = root.dataset.narrow === undefined && items.length ? roomForRows(node, list) : Infinity;
  const chosen = items.findIndex((item) => item.firstChild.classList.contains("chosen"));
  const first = chosen >= most ? most - 1 : most;
  items.forEach((item, place) => {
    const hidden = place >= first && place !== chosen;
    if (item.hidden !== hidden) item.hidden = hidden;
  });
}

/** How many rows fit beside what else stands in the column. */
function roomForRows(node, list) {
  const column = node.parentNode;
  const gap = parseFloat(getComputedStyle(column).rowGap) || 0;
  const heightOf = (part) => part.getBoundingClientRect().height;
  const others = [...column.children].filter((other) => other !== node && !other.hidden);
  const taken = others.reduce((sum, other) => sum + heightOf(other) + gap, 0);
  const around = heightOf(node) - heightOf(list); // heading and note
  const row = heightOf(list.firstChild);
  return Math.max(FEWEST_CANDIDATES, Math.floor((column.clientHeight - taken - around) / row));
}

/** What stands under the list: why it is empty, or what a click does. */
function candidateNote({ trace, say, state }, row, candidates) {
  if (state.site === "encoder") return say(trace.steps ? "candidates_encoder" : "candidates_encoder_only");
  const about = trace.rows ? [say("first_pieces")] : [];
  if (candidates.length) return [...about, ...(state.whatIf && !state.projector ? [say("what_if")] : [])].join(" ");
  return row >= 0 && trace.predicted[row] !== undefined ? say("no_candidates") : say("no_predictions");
}

/** One row of the list, empty. */
function candidateElement(context) {
  const bar = element("span", { class: "share" });
  const button = element(
    "button",
    {
      type: "button",
      class: "candidate",
      on: {
        click: () => {
          const { id } = button.dataset;
          const able = context.state.whatIf && button.getAttribute("aria-disabled") === null;
          if (able) context.act.force(context.state.step, Number(id));
        },
      },
    },
    element("span", { class: "rank" }),
    element("bdi", { class: "name token" }),
    element("span", { class: "track" }, bar),
    element("span", { class: "value" }),
    element("span", { class: "mark" }),
  );
  return element("li", {}, button);
}

/** Fill one row. */
function drawCandidate({ state, say, trace }, item, candidate) {
  const button = item.firstChild;
  const [rank, name, track, value, mark] = button.children;
  const { probability } = candidate;
  const share = state.log
    ? Math.max(0, 1 - Math.log10(Math.max(probability, SMALLEST_SHARE)) / Math.log10(SMALLEST_SHARE))
    : probability;
  write(rank, String(candidate.rank));
  writeToken(name, candidate.token);
  track.firstChild.style.width = `${share * 100}%`;
  write(value, percent(probability));
  write(mark, candidate.forced ? "✎" : candidate.chosen ? "✓" : "");
  assign(mark, "title", candidate.forced ? say("forced") : candidate.chosen ? say("chosen") : null);
  button.classList.toggle("chosen", candidate.chosen);
  button.dataset.id = candidate.id;
  const able = state.whatIf && !candidate.chosen;
  assign(button, "aria-disabled", able ? null : "true");
  const why = candidate.chosen ? "taken" : state.whatIf ? "what_if_title" : "no_what_if";
  const facts = { token: labelOf(candidate.token), probability: percent(probability) };
  const surprise = probability > 0 ? (-Math.log(probability)).toFixed(2) : "∞";
  assign(button, "title", `${say("candidate_title", { ...facts, loss: surprise })} ${say(why, facts)}`);
  assign(button, "tabindex", able ? null : "-1");
}
