/**
 * The probe: the player's own parts in a small frame, shown one moment after the other. The
 * head, the scale, the zoom and the row chosen stay from moment to moment.
 */
function createProbe(context) {
  const body = element("div", { class: "probe-body" });
  const text = context.reel.translates ? createProbeSentence(context) : createProbeText(context);
  const note = element("p", { class: "probe-note", testid: "probe-note" });
  const box = element("section", { class: "probe-box", testid: "probe" }, text.element, note, body);
  assign(box, "aria-label", context.say("probe"));
  let stage = null;
  const show = (trace) => {
    if (stage) stage.show(trace);
    else stage = createProbeStage(context, body, trace);
  };
  const update = (changed) => {
    if (["reel", "at", "picture"].some((name) => changed.has(name))) {
      const moment = context.reel.moments[context.state.at];
      const trace = moment ? context.pictures.get(moment.picture) : false;
      if (trace) show(trace);
      box.classList.toggle("waiting", !trace);
      write(note, trace === false ? context.say(moment ? "no_picture" : "waiting_picture") : "");
      text.show(moment, trace || stage?.context.pieces);
    }
    if (changed.has("theme")) stage?.recolour();
    if (changed.has("projector")) stage?.context.set({ projector: context.state.projector });
  };
  const destroy = () => stage?.destroy();
  const chooseHead = (layer, head) => stage?.context.set({ site: "cross", layer, head });
  const view = () => stage && { ...stage.context.state };
  return { element: box, update, destroy, chooseHead, view };
}

/** The text, its right answer, and what the model would write by itself. */
function createProbeText({ say }) {
  const given = element("span", { class: "given", testid: "probe-text" });
  const greedy = element("bdi", { class: "greedy-text", testid: "greedy" });
  const verdict = element("span", { class: "verdict", testid: "verdict" });
  const node = element(
    "div",
    { class: "probe-line" },
    element("span", { class: "probe-given", title: say("probe_title") }, `${say("probe")} `, given),
    element("span", { class: "greedy", title: say("greedy_title") }, `${say("greedy")} `, greedy, " ", verdict),
  );
  const show = (moment, trace) => {
    if (!trace) return;
    const right = trace.target.slice(1);
    const source = trace.source.slice(0, -1);
    write(given, `${source.join(" ")} → ${right.join(" ")} · ${say("forced")}`);
    const tokens = moment?.greedy ? moment.greedy.split(" ") : [];
    const same = tokens.length === right.length && tokens.every((token, place) => token === right[place]);
    greedy.replaceChildren(
      ...(tokens.length
        ? tokens.flatMap((token, place) => [
            tokenElement(token, { class: token === right[place] ? "" : "differs" }),
            " ",
          ])
        : [say("empty")]),
    );
    write(verdict, moment ? say(same ? "greedy_right" : "greedy_wrong") : "");
    verdict.classList.toggle("passed", same);
  };
  return { element: node, show };
}

/** The same of a translator, whose answer may be right in other words, too. */
function createProbeSentence({ say }) {
  const given = element("bdi", { class: "given", testid: "probe-text" });
  const greedy = element("bdi", { class: "greedy-text", testid: "greedy" });
  const node = element(
    "div",
    { class: "probe-line sentence" },
    element("span", { class: "probe-given", title: say("probe_title") }, `${say("probe")} `, given, ` · ${say("forced")}`),
    element("span", { class: "greedy", title: say("greedy_title") }, `${say("greedy")} `, greedy),
  );
  const show = (moment, trace) => {
    if (!trace) return;
    const inside = (tokens) => joinedPieces(tokens.filter((token) => !isSpecial(token)));
    write(given, `${inside(trace.source)} → ${inside(trace.target)}`);
    write(greedy, moment?.greedy || say("empty"));
    assign(greedy, "title", moment?.greedy);
  };
  return { element: node, show };
}

/** Rail, map and tooltip of the player, on a state of their own. */
function createProbeStage(outer, body, trace) {
  const context = { root: outer.root, options: { plotly: servedPlotly }, signal: outer.signal, generation: 0 };
  const opening = { ...openingState(trace, {}, left?.probe ?? {}), step: 0, ahead: true, projector: outer.state.projector };
  const parts = [];
  const draw = (changed) => {
    for (const part of parts) part.update(changed);
    if (["trace", "site", "size", "zoomed"].some((name) => changed.has(name))) ringGold(context, body, key);
    if (["site", "layer", "head"].some((name) => changed.has(name))) outer.touch("head");
  };
  const store = createState(opening, draw);
  Object.assign(context, { state: store.values, set: store.set, touch: store.touch });
  adopt(context, trace);
  Object.assign(context, {
    palette: outer.palette,
    say: (key, facts) => fill(outer.reel.player, key, facts),
  });
  context.act = { ...createActions(context, store), goTo: (step) => toggleRow(context, step) };
  const rail = createRail(context);
  const map = createMap(context);
  const tooltip = createTooltip(context);
  rail.element.prepend(createProbeChoices(context, parts));
  parts.push(rail, map, tooltip);
  const key = element("span", { class: "ring-key", title: outer.say("ring_title") }, outer.say("ringed"));
  map.element.querySelector(".legend").append(key);
  body.replaceChildren(rail.element, map.element);
  outer.root.append(tooltip.element);
  const observer = new ResizeObserver(() => store.touch("size"));
  observer.observe(body);
  outer.chosenHead = () => ({ layer: store.values.layer, head: store.values.head });
  store.touch(...Object.keys(store.values), "trace", "theme", "size");
  store.flush();
  map.start();
  return {
    context,
    show: (next) => showTrace(context, store, next),
    recolour: () => {
      context.palette = outer.palette;
      store.touch("theme");
    },
    destroy: () => {
      observer.disconnect();
      store.stop();
      map.destroy();
      tooltip.element.remove();
    },
  };
}

/** Encoder, Decoder or Cross; pieces or words. */
function createProbeChoices(context, parts) {
  const choices = [createSiteChoice(context), createUnitChoice(context)];
  parts.push(...choices);
  return element("div", { class: "choices" }, ...choices.map((choice) => choice.element));
}

/** Another moment of the same text keeps everything that was chosen; another text starts anew. */
function showTrace(context, store, next) {
  const now = context.pieces;
  if (next === now) return;
  const shape = (trace) => JSON.stringify([trace.source, trace.target, trace.header.sites]);
  const same = shape(now) === shape(next);
  if (!same) {
    context.generation += 1;
    store.set({ ...openingState(next, {}, store.values), step: 0, ahead: true, hover: null });
  }
  adopt(context, next);
  store.touch("trace");
  store.flush();
}

/** A click on a row prints its weights; another click on it lets it go. */
function toggleRow({ state, set }, step) {
  if (state.site !== "encoder") set({ step: state.step === step ? 0 : step });
}
