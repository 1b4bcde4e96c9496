const SMALLEST_SHARE = 1e-6; // where the logarithmic bars begin

/** The probabilities of the next token; a click asks "and if it had been this one?". */
function createCandidates(context) {
  const { say } = context;
  const title = element("h3", { testid: "candidates-title" });
  const buttons = ["percent", "log"].map((name) =>
    element(
      "button",
      {
        type: "button",
        role: "radio",
        testid: `candidates-${name}`,
        title: say(`candidates_${name}_title`),
        on: { click: () => context.set({ log: name === "log" }) },
      },
      say(`candidates_${name}`),
    ),
  );
  const group = { class: "segments small", role: "radiogroup", "aria-label": say("candidates_scale") };
  const head = element("header", {}, title, element("div", group, ...buttons));
  const list = element("ol", { class: "candidates", testid: "candidates" });
  const note = element("p", { class: "note", testid: "candidates-note" });
  const node = element("section", { class: "next-token", "aria-label": say("candidates") }, head, list, note);
  const causes = ["trace", "site", "step", "log", "what_if"];
  const update = (changed) => {
    if (causes.some((name) => changed.has(name))) drawCandidates(context, { title, buttons, list, note });
  };
  return { element: node, update };
}

/** Bring the list to the present step. */
function drawCandidates(context, { title, buttons, list, note }) {
  const { state, trace, say } = context;
  const row = currentRow(context);
  const candidates = row < 0 ? [] : trace.candidates[row];
  buttons[0].setAttribute("aria-checked", String(!state.log));
  buttons[1].setAttribute("aria-checked", String(state.log));
  const token = row < 0 ? "" : labelOf(trace.target[row]);
  write(title, row < 0 ? say("candidates") : say("candidates_after", { token }));
  write(note, candidateNote(context, row, candidates));
  const rows = populate(list, candidates.length, () => candidateElement(context));
  candidates.forEach((candidate, place) => drawCandidate(context, rows[place], candidate));
}

/** What stands under the list: why it is empty, or what a click does. */
function candidateNote({ trace, say, state }, row, candidates) {
  if (state.site === "encoder") return say("candidates_encoder");
  if (candidates.length) return state.whatIf ? say("what_if") : "";
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
