/**
 * The one state of a player. Every change goes through `set`; what is drawn follows from it.
 *
 * Changes within one frame are drawn once, from the latest values: a held key can never queue
 * up more pictures than the screen shows.
 * @param {object} initial
 * @param {function(Set<string>)} render receives the names of what changed
 */
function createState(initial, render) {
  const values = { ...initial };
  let changed = new Set();
  let frame = 0;
  const flush = () => {
    cancelAnimationFrame(frame);
    frame = 0;
    const names = changed;
    changed = new Set();
    if (names.size) render(names);
  };
  const touch = (...names) => {
    for (const name of names) changed.add(name);
    if (changed.size && !frame) frame = requestAnimationFrame(flush);
  };
  const set = (patch) => {
    const names = Object.keys(patch).filter((name) => values[name] !== patch[name]);
    Object.assign(values, patch);
    touch(...names);
  };
  return { values, set, touch, flush, stop: () => cancelAnimationFrame(frame) };
}
