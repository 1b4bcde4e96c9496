/**
 * A trace, its state and what can be done with it, to be looked at by any of the player's parts.
 * @param {object} frame @param {Uint8Array} bytes the player's payload
 * @param {object} more values of the state beside the player's own
 */
function createStand(frame, bytes, more = {}) {
  const trace = readPayload(bytes);
  const context = {
    root: frame.root,
    options: { ...frame.options, plotly: servedPlotly },
    signal: frame.signal,
    generation: 0,
    parts: [],
    watchers: [],
  };
  const draw = (changed) => {
    if (changed.has("projector")) frame.root.classList.toggle("projector", context.state.projector);
    for (const part of context.parts) part.update(changed);
    for (const watch of context.watchers) watch(changed);
  };
  const store = createState({ ...openingState(trace, trace.header.view, {}), ...more }, draw);
  Object.assign(context, { state: store.values, set: store.set, touch: store.touch, store });
  Object.assign(context, { trace, pieces: trace, palette: frame.palette });
  context.say = (key, facts) => fill(context.trace.header.strings, key, facts);
  context.act = createActions(context, store);
  frame.recolour.push((palette) => {
    context.palette = palette;
    context.touch("theme");
  });
  return context;
}

/** Draw every part for the first time; the map goes on to draw itself with Plotly. */
function openStand(context, parts, maps) {
  context.parts.push(...parts);
  context.touch(...Object.keys(context.state), "trace", "theme", "size");
  context.store.flush();
  for (const map of maps) map.start();
}

/** Show another trace; the selection stays where the view says nothing else. */
function updateStand(context, bytes) {
  const next = readPayload(bytes);
  context.act.pause();
  Object.assign(context, { trace: next, pieces: next });
  context.generation += 1;
  context.set(openingState(next, next.header.view, context.state));
  context.touch("trace", "step", "site", "layer", "head", "ahead", "zoomed");
}

/** The end of a stand. */
function closeStand(context, maps) {
  context.act.pause();
  context.store.stop();
  for (const map of maps) map.destroy();
}
