const SHARED_STATE = ["site", "layer", "head", "ahead", "scale", "projector"];

/** Two stands that always look at the same place: what changes in one changes in the other. */
function lockTogether(one, other) {
  follow(one, other);
  follow(other, one);
}

/** `there` goes where `here` goes, as far as its trace reaches; it does not call back. */
function follow(here, there) {
  here.watchers.push((changed) => {
    const names = SHARED_STATE.filter((name) => changed.has(name));
    const patch = Object.fromEntries(names.map((name) => [name, here.state[name]]));
    if (changed.has("step")) {
      const own = here.state.step !== here.told;
      here.told = null;
      const step = Math.min(here.state.step, there.trace.steps);
      if (own && step !== there.state.step) {
        there.told = step;
        patch.step = step;
      }
    }
    there.set(patch);
  });
}
