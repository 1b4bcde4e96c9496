const FILM_SECONDS = 6; // a whole training takes about this long,
const FILM_PACE = [60, 700]; // ms a moment at least and at most

let left = null; // where the last time-lapse on this page stood, should the app mount it anew

/**
 * Show a run.
 * @param {Element|ShadowRoot} root where to
 * @param {object} reel what `readReel` made
 * @returns {{update: function(object), destroy: function()}}
 */
function mountTimelapse(root, reel) {
  const abort = new AbortController();
  const frame = element("div", { class: "player timelapse", testid: "timelapse", tabindex: "-1" });
  root.append(frame);
  const context = { root: frame, signal: abort.signal, reel, plotly: null, chosen: null };
  const parts = [];
  const store = createState(openingMoment(reel), (changed) => draw(changed));
  const draw = (changed) => {
    if (changed.has("theme")) context.palette = readPalette(theme);
    if (changed.has("reel")) frame.dataset.run = context.reel.name;
    if (changed.has("projector")) frame.classList.toggle("projector", store.values.projector);
    if (["reel", "at"].some((name) => changed.has(name))) context.pictures.want(context.reel.moments, store.values.at);
    if (changed.has("head")) context.chosen = context.chosenHead?.() ?? null;
    for (const part of parts) part.update(changed);
  };
  fillContext(context, store);
  const theme = element("i", { class: "probe", "aria-hidden": "true" });
  frame.append(theme);
  context.palette = readPalette(theme);
  const probe = buildTimelapse(context, frame, parts);
  context.act.chooseHead = probe.chooseHead;
  watchTheme(context, theme);
  watchRoom(context);
  listenToKeys(context);
  store.touch(...Object.keys(store.values), "reel", "theme", "size", "head");
  store.flush();
  startPlotly(context);
  return {
    update: (next) => updateReel(context, store, next),
    destroy: () => {
      left = leaving(context, probe);
      abort.abort();
      context.act.pause();
      store.stop();
      for (const part of parts) part.destroy?.();
      frame.remove();
    },
  };
}

/** What every part of the time-lapse looks at and can do. */
function fillContext(context, store) {
  Object.assign(context, {
    state: store.values,
    set: store.set,
    touch: store.touch,
    lived: context.reel.report.going, // then the axes keep the room of the whole training
    say: (key, facts) => fill(context.reel.strings, key, facts),
    pictures: createPictures((address) => pictureCame(context, address), context.signal),
    range: () => [0, lastStep(context)],
    expected: () => expectedMoments(context),
    act: createReelActions(context, store),
  });
}

/** Make every part and put it in its place; the probe. */
function buildTimelapse(context, frame, parts) {
  const progress = createProgress(context);
  const { translates } = context.reel;
  const curves = createCurves(context, translates ? TRANSLATION_PANELS : TASK_PANELS, () => 1, "main-curves");
  const below = translates ? createSamples(context) : createHeads(context);
  const probe = createProbe(context);
  const slider = createSlider(context);
  const drawer = createDrawer(context);
  const left = element("div", { class: "curve-side" }, curves.element, below.element);
  const middle = element("div", { class: "film" }, left, probe.element);
  const screen = element("div", { class: "screen" }, progress.element, middle, slider.element);
  frame.append(screen, drawer.element);
  frame.dataset.theme = context.palette.dark ? "dark" : "light";
  parts.push(progress, probe, below, curves, slider, drawer);
  return probe;
}

/** What is shown first: the newest moment, and if the training goes on, each newer one. */
function openingMoment(reel) {
  const { going } = reel.report;
  const back = left?.key === reel.key && !left.following; // nothing moves under the pointer
  return {
    at: back ? nearestMoment(reel.moments, left.step) : reel.moments.length - 1,
    following: going && !back,
    playing: false,
    hinted: left?.hinted ?? false,
    projector: left?.projector ?? false,
  };
}

/** Where a time-lapse stands that is taken off the page. */
function leaving({ reel, state }, probe) {
  const { at, hinted, projector } = state;
  const last = at === reel.moments.length - 1;
  const following = state.following || last;
  return { key: reel.key, step: reel.moments[at]?.step ?? 0, following, hinted, projector, probe: probe.view() };
}

/** The right end of the step axis; it never moves while a training goes on. */
function lastStep({ reel, lived }) {
  const own = lived ? reel.steps : (reel.moments.at(-1)?.step ?? reel.steps);
  return Math.max(own, reel.other?.moments.at(-1)?.step ?? 0, 1);
}

/** How many moments there are, or while the training goes on, will be. */
function expectedMoments({ reel, lived }) {
  const there = reel.moments.length;
  return lived ? Math.max(there, Math.ceil(reel.steps / reel.every)) : there;
}

/** The same run a little later, or another run. */
function updateReel(context, store, next) {
  const { reel: before, state } = context;
  const same = before.key === next.key;
  const step = before.moments[state.at]?.step ?? 0;
  context.reel = next;
  if (!same) {
    context.act.pause();
    context.lived = next.report.going;
    store.set({ ...openingMoment(next), hinted: state.hinted, projector: state.projector });
  } else {
    const wasLast = state.at === before.moments.length - 1;
    const begins = next.report.going && !before.report.going;
    context.lived ||= next.report.going;
    const following = next.report.going && (state.following || (begins && wasLast));
    const at = state.following || following ? next.moments.length - 1 : nearestMoment(next.moments, step);
    store.set({ at, following });
  }
  store.touch("reel");
}

/** What can be done, by button, slider, curve or key. */
function createReelActions(context, store) {
  let timer = 0;
  const pause = () => {
    clearInterval(timer);
    store.set({ playing: false });
  };
  const go = (place) => {
    const last = context.reel.moments.length - 1;
    if (last >= 0) store.set({ at: Math.max(0, Math.min(last, place)), following: false, hinted: true });
  };
  const goTo = (place) => {
    pause();
    go(place);
  };
  const tick = () => {
    if (context.state.at >= context.reel.moments.length - 1) pause();
    else go(context.state.at + 1);
  };
  const play = () => {
    const last = context.reel.moments.length - 1;
    if (context.state.playing) return pause();
    if (last < 1) return;
    if (context.state.at >= last) go(0);
    const pace = (FILM_SECONDS * 1000) / (last + 1);
    timer = setInterval(tick, Math.min(Math.max(pace, FILM_PACE[0]), FILM_PACE[1]));
    store.set({ playing: true });
  };
  const follow = () => {
    if (!context.reel.report.going) return;
    pause();
    store.set({ following: true, at: context.reel.moments.length - 1 });
  };
  return {
    goTo,
    play,
    pause,
    follow,
    first: () => goTo(0),
    last: () => goTo(context.reel.moments.length - 1),
    previous: () => goTo(context.state.at - 1),
    next: () => goTo(context.state.at + 1),
  };
}

/** The picture of the present moment came: show it. */
function pictureCame(context, address) {
  if (context.reel.moments[context.state.at]?.picture === address) context.touch("picture");
}

/** The room the time-lapse is given: from where it begins to the end of the window. */
function watchRoom(context) {
  const { root, signal } = context;
  const fit = () => {
    const top = Math.max(root.getBoundingClientRect().top + window.scrollY, 0);
    root.style.setProperty("--reel-room", `calc(100dvh - ${Math.round(top)}px)`);
    context.touch("size");
  };
  const observer = new ResizeObserver(fit);
  observer.observe(root);
  window.addEventListener("resize", fit, { signal });
  signal.addEventListener("abort", () => observer.disconnect());
  fit();
}

/** Curves appear when Plotly is there; without it the slider and the picture still work. */
async function startPlotly(context) {
  try {
    context.plotly = await servedPlotly();
    context.touch("size");
  } catch {
    context.plotly = null; // the probe says so
  }
}
