const NARROW = 1100; // px; below, one column
const REST = 500; // ms without a change before the app hears of it
const PATIENCE = 5000; // ms after which an app that does not answer is no longer waited for
const PLAY_SECONDS = 6; // a whole output takes about this long,
const PLAY_PACE = [90, 900]; // ms a step at least and at most

/**
 * Show a trace.
 * @param {Element|ShadowRoot} root where to
 * @param {Uint8Array} bytes the payload
 * @param {object} options `plotly`: () => Promise<Plotly>; `onState`, `onForce`, `onUnforce`,
 *   `onReset`: what the app wants to hear
 * @returns {{update: function(Uint8Array), listen: function(object), language: function(): string,
 *   destroy: function()}}
 */
function mount(root, bytes, options = {}) {
  const player = createPlayer(root, readPayload(bytes), options);
  player.build();
  return {
    update: (next) => player.update(readPayload(next)),
    listen: (next) => player.listen(next),
    language: () => player.language(),
    destroy: () => player.destroy(),
  };
}

/** One player: its state, what can be done to it, and what draws it. */
function createPlayer(root, trace, options) {
  const abort = new AbortController();
  const frame = element("div", { class: "player", testid: "player", tabindex: "-1" });
  root.append(frame);
  const context = { root: frame, options: { ...options }, signal: abort.signal, generation: 0 };
  const draw = (changed) => drawParts(context, parts, changed);
  const store = createState(openingState(trace, trace.header.view, {}), draw);
  Object.assign(context, { state: store.values, set: store.set, touch: store.touch });
  adopt(context, trace);
  context.say = (key, facts) => fill(context.trace.header.strings, key, facts);
  context.act = createActions(context, store);
  context.report = createReport(context);
  let parts = null;
  const rebuild = () => {
    parts?.map.destroy();
    parts = buildParts(context, frame);
    watchTheme(context, parts.probe);
    store.touch(...Object.keys(store.values), "trace", "theme", "size");
    store.flush();
    parts.map.start();
  };
  const destroy = () => {
    abort.abort();
    context.act.pause();
    store.stop();
    parts?.map.destroy();
    frame.remove();
  };
  const build = () => {
    watchSize(context);
    rebuild();
    listenToKeys(context);
  };
  return {
    build,
    destroy,
    update: (next) => updatePlayer(context, store, next, rebuild),
    listen: (next) => listenTo(context, next),
    language: () => context.trace.header.language,
  };
}

/** Bring every part to the state. */
function drawParts(context, { all, probe }, changed) {
  const { root, state } = context;
  if (changed.has("theme")) context.palette = readPalette(probe);
  if (changed.has("projector")) root.classList.toggle("projector", state.projector);
  root.dataset.site = state.site;
  for (const part of all) part.update(changed);
  context.report(changed);
}

/** Make every part and put it in its place. */
function buildParts(context, frame) {
  const probe = element("i", { class: "probe", "aria-hidden": "true" });
  frame.replaceChildren(probe);
  context.palette = readPalette(probe);
  const strips = createStrips(context);
  const transport = createTransport(context);
  const unit = createUnitChoice(context);
  const site = createSiteChoice(context);
  const rail = createRail(context);
  const map = createMap(context);
  const candidates = createCandidates(context);
  const forced = createForced(context);
  const sentence = createSentence(context);
  const ending = createEnding(context);
  const integrity = createIntegrity(context);
  const tooltip = createTooltip(context);
  rail.element.prepend(site.element);
  transport.element.append(unit.element);
  const beside = [sentence, candidates, ending, forced].map((part) => part.element);
  const aside = element("div", { class: "aside" }, ...beside);
  const main = element("div", { class: "main" }, rail.element, map.element, aside);
  frame.append(strips.element, transport.element, main, integrity.element, tooltip.element);
  frame.dataset.theme = context.palette.dark ? "dark" : "light";
  frame.lang = context.trace.header.language;
  const above = [unit, strips, transport, site, integrity]; // these leave the others their room
  const all = [...above, rail, map, forced, sentence, ending, candidates, tooltip];
  return { all, map, probe };
}

/** The sentence called `key`, with its facts put in. */
function fill(strings, key, facts = {}) {
  const sentence = strings[key] ?? key;
  return sentence.replace(/\{(\w+)\}/g, (whole, name) => (name in facts ? String(facts[name]) : whole));
}

/**
 * What is shown first: what the view asks for where the trace has it, else what was shown.
 * @param {object} pieces the trace; the view counts its steps
 */
function openingState(pieces, view, before) {
  const trace = inUnit(pieces, before.words);
  const names = Object.keys(trace.sites);
  const wanted = [view.site, before.site, "cross", "decoder", "encoder"];
  const site = trace.sites[wanted.find((name) => names.includes(name))];
  const best = bestHead(trace, site);
  const within = (value, count) => Number.isInteger(value) && value >= 0 && value < count;
  const pick = (name, count) => [view[name], before[name], best[name]].find((value) => within(value, count)) ?? 0;
  const step = within(view.step - 1, pieces.steps) ? stepInUnit(trace, view.step) : trace.steps;
  const mean = before.head === MEAN && site.heads > 1 && !within(view.head, site.heads);
  return {
    site: site.name,
    layer: pick("layer", site.layers),
    head: mean ? MEAN : pick("head", site.heads),
    step,
    words: before.words ?? false,
    left: view.step ?? 0, // the step of the pieces from which the words were entered
    alignment: before.alignment ?? "off",
    ahead: view.ahead ?? (view.step === null || (before.ahead ?? false)),
    scale: before.scale ?? null,
    log: before.log ?? false,
    projector: before.projector ?? false,
    whatIf: view.what_if,
    hinted: before.hinted ?? view.step !== null,
    zoomed: false,
    playing: false,
    hover: null,
  };
}

/** Show another trace in the same player; unless its view says otherwise, the selection stays. */
function updatePlayer(context, store, next, rebuild) {
  const before = context.trace.header;
  context.act.pause();
  context.generation += 1;
  context.root.classList.remove("waiting");
  store.set(openingState(next, next.header.view, store.values));
  adopt(context, next);
  store.touch("trace", "step", "site", "layer", "head", "ahead", "zoomed");
  if (before.language !== next.header.language) rebuild();
}

/** What can be done, by button, key or slider. */
function createActions(context, store) {
  const { goTo, play, pause } = createStepping(context, store);
  const ask = createAsking(context);
  return {
    goTo,
    first: () => goTo(1, { ahead: false }), // from here on the class predicts
    previous: () => goTo(context.state.step - 1),
    next: () => goTo(context.state.step + 1),
    last: () => goTo(context.trace.steps),
    play,
    pause,
    chooseSite: (name) => chooseSite(context, store, name),
    chooseUnit: (name) => chooseUnit(context, store, name),
    force: (step, id) => ask("onForce", decidingStep(context.trace, step), id),
    unforce: (step) => ask("onUnforce", step),
    reset: () => ask("onReset"),
    png: () => downloadFigure(context, "png"),
    svg: () => downloadFigure(context, "svg"),
    csv: () => downloadTable(context),
    pharaoh: () => downloadLinks(context),
  };
}

/** Going from step to step, by hand or by itself. */
function createStepping(context, store) {
  let timer = 0;
  const able = () => currentRow(context) >= 0;
  const show = (step, patch = {}) => {
    const bounded = Math.max(1, Math.min(context.trace.steps, step));
    if (able()) store.set({ step: bounded, hinted: true, ...patch });
  };
  const pause = () => {
    clearInterval(timer);
    store.set({ playing: false });
  };
  const goTo = (step, patch) => {
    pause();
    show(step, patch);
  };
  const tick = () => {
    if (context.state.step >= context.trace.steps) pause();
    else show(context.state.step + 1);
  };
  const play = () => {
    if (context.state.playing) return pause();
    if (!able()) return;
    if (context.state.step >= context.trace.steps) show(1, { ahead: false });
    const pace = (PLAY_SECONDS * 1000) / context.trace.steps;
    timer = setInterval(tick, Math.min(Math.max(pace, PLAY_PACE[0]), PLAY_PACE[1]));
    store.set({ playing: true });
  };
  return { goTo, play, pause };
}

/** Asking the app for another trace; the old picture is dimmed until it answers. */
function createAsking(context) {
  let patience = 0;
  return (name, ...facts) => {
    if (!context.options[name]) return;
    context.root.classList.add("waiting");
    clearTimeout(patience);
    patience = setTimeout(() => context.root.classList.remove("waiting"), PATIENCE);
    context.options[name](...facts);
  };
}

/** Another attention; the head stays where that site has it. */
function chooseSite(context, store, name) {
  const site = context.trace.sites[name];
  if (!site) return;
  const { layer, head } = context.state;
  if (name === "encoder") context.act.pause();
  store.set({
    site: name,
    layer: Math.min(layer, site.layers - 1),
    head: Math.min(head, site.heads - 1),
    hover: null,
  });
}

/** Tell the app what is shown, after a rest and only if it is news. */
function createReport(context) {
  let [timer, told] = [0, ""];
  context.signal.addEventListener("abort", () => clearTimeout(timer));
  return (changed) => {
    if (!["site", "layer", "head", "step"].some((name) => changed.has(name))) return;
    clearTimeout(timer);
    const { site, layer, head } = context.state;
    const step = pieceStep(context) || null; // without steps there is none
    const selection = { site, layer, head: head === MEAN ? null : head, step };
    const text = JSON.stringify(selection);
    if (!told) told = text; // the opening is no news
    timer = setTimeout(() => {
      if (text === told) return;
      told = text;
      context.options.onState?.(selection);
    }, REST);
  };
}

/** Take the app's newest listeners; an answer of any kind ends the waiting. */
function listenTo(context, options) {
  Object.assign(context.options, options);
  context.root.classList.remove("waiting");
}

/** Follow the theme: the probe's colours change with it, by a transition that can be heard. */
function watchTheme(context, probe) {
  const check = () => {
    const palette = readPalette(probe);
    if (palette.key === context.palette.key) return;
    context.root.dataset.theme = palette.dark ? "dark" : "light";
    context.touch("theme");
  };
  probe.addEventListener("transitionend", check);
}

/** Follow the size of the player and the room it is given. */
function watchSize(context) {
  const { root, signal } = context;
  const fit = () => {
    const top = Math.max(root.getBoundingClientRect().top, 0);
    root.style.setProperty("--player-room", `calc(100dvh - ${Math.round(top)}px)`);
    assign(root, "data-narrow", root.clientWidth < NARROW ? "" : null);
    context.touch("size");
  };
  const observer = new ResizeObserver(fit);
  observer.observe(root);
  window.addEventListener("resize", fit, { signal });
  signal.addEventListener("abort", () => observer.disconnect());
  fit();
}
