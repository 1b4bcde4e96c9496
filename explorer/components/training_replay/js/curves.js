/**
 * Panels of curves with one cursor; where one clicks or drags, the moment goes.
 * @param {object} context the time-lapse's
 * @param {Array} panels @param {function(): number} columns beside each other @param {string} testid
 */
function createCurves(context, panels, columns, testid) {
  const plot = element("div", { class: "curve-plot", "aria-hidden": "true" });
  const cursors = panels.map(() => element("i", { class: "cursor", testid: `${testid}-cursor` }));
  const headings = panels.map((panel) => curveHeading(context, panel));
  const note = element("p", { class: "curve-note", testid: `${testid}-note` });
  const steps = element("span", { class: "step-axis", "aria-hidden": "true" }, context.say("step_axis"));
  const box = element(
    "div",
    { class: "curves", testid, role: "group", "aria-label": context.say("curves") },
    plot,
    ...headings.map((heading) => heading.element),
    ...cursors,
    steps,
    note,
  );
  const own = { context, panels, columns, plot, box, cursors, headings, note, places: [], busy: false };
  watchCurves(own);
  const update = (changed) => {
    if (["reel", "theme", "size", "head", "open", "projector"].some((name) => changed.has(name))) drawCurves(own);
    if (["reel", "at", "size", "open"].some((name) => changed.has(name))) moveCursor(own);
  };
  const destroy = () => context.plotly?.purge(plot);
  return { element: box, update, destroy };
}

/** What a panel shows, and its value at the cursor. */
function curveHeading({ say }, panel) {
  const value = element("output", { class: "curve-value", testid: `value-${panel.name}` });
  const name = element("span", { class: "curve-name" }, say(panel.name));
  return { element: element("div", { class: "curve-heading", title: say(`${panel.name}_title`) }, name, value), value };
}

/** Draw every curve; one drawing at a time, and after it only the latest wish. */
async function drawCurves(own) {
  const { context, panels, plot, box } = own;
  const size = { width: box.clientWidth, height: box.clientHeight };
  if (size.width < 60 || size.height < 60) return;
  const columns = own.columns();
  own.places = panelPlaces(panels, columns, size.width, size.height);
  own.headings.forEach(({ element: node }, place) => {
    const { left, top, width } = own.places[place];
    node.style.transform = `translate(${left}px, ${top - 19}px)`;
    node.style.width = `${width}px`;
  });
  const { every, moments } = context.reel;
  write(own.note, moments.length ? "" : context.say("no_moment", { every }));
  own.wanted = true;
  if (!context.plotly || own.busy) return;
  own.busy = true;
  while (own.wanted && !context.signal.aborted) {
    own.wanted = false;
    const shown = { ...context, range: context.range(), columns: own.columns() };
    const now = { width: box.clientWidth, height: box.clientHeight };
    const { data, layout } = panelFigure(shown, panels, own.places, now);
    await context.plotly.react(plot, data, layout, { staticPlot: true, displayModeBar: false });
  }
  own.busy = false;
}

/** The cursor and the values at the present moment. */
function moveCursor(own) {
  const { context, cursors, places, headings, panels } = own;
  const moment = context.reel.moments[context.state.at];
  const [low, high] = context.range();
  cursors.forEach((cursor, place) => {
    cursor.hidden = !moment || !places.length;
    if (cursor.hidden) return;
    const { left, top, width, height } = places[place];
    const x = left + ((moment.step - low) / (high - low)) * width;
    cursor.style.transform = `translate(${x - 1}px, ${top}px)`;
    cursor.style.height = `${height}px`;
  });
  headings.forEach((heading, place) => write(heading.value, moment ? panels[place].value(moment) : ""));
}

/** Scrub where the pointer is pressed; a press that leaves the panels goes on. */
function watchCurves(own) {
  const { box, context } = own;
  let pressed = false;
  const go = (event) => {
    const frame = box.getBoundingClientRect();
    const [x, y] = [event.clientX - frame.left, event.clientY - frame.top];
    const inside = ({ left, top, width, height }) =>
      x >= left - 8 && x <= left + width + 8 && y >= top - 20 && y <= top + height + 20;
    const place = own.places.find(inside);
    if (!place) return;
    const [low, high] = context.range();
    const share = (x - place.left) / place.width;
    context.act.goTo(nearestMoment(context.reel.moments, low + share * (high - low)));
  };
  box.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    pressed = true;
    box.setPointerCapture(event.pointerId);
    go(event);
  });
  box.addEventListener("pointermove", (event) => pressed && go(event));
  for (const end of ["pointerup", "pointercancel"]) {
    box.addEventListener(end, () => {
      pressed = false;
    });
  }
  const observer = new ResizeObserver(() => context.touch("size"));
  observer.observe(box);
  context.signal.addEventListener("abort", () => observer.disconnect());
}
