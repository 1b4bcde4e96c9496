const AT_ONCE = 4; // pictures asked for at the same time

/**
 * Read the bytes Python wrote: the run's moments, its report and every sentence.
 * @param {Uint8Array} bytes
 */
function readReel(bytes) {
  return JSON.parse(new TextDecoder().decode(bytes));
}

/** The place of the moment nearest to `step`; −1 without any. */
function nearestMoment(moments, step) {
  let best = -1;
  moments.forEach((moment, place) => {
    if (best < 0 || Math.abs(moment.step - step) < Math.abs(moments[best].step - step)) best = place;
  });
  return best;
}

/**
 * The pictures of the moments, each asked for once and kept: from then on scrubbing needs nobody.
 * @param {function(string)} arrived hears the address of each that came, or could not
 */
function createPictures(arrived, signal) {
  const kept = new Map(); // address → trace, null while under way, false when there is none
  let wanted = [];
  let under = 0;
  const take = async (address) => {
    under += 1;
    kept.set(address, null);
    try {
      const answer = await fetch(new URL(address, document.baseURI), { signal });
      if (!answer.ok) throw new Error(answer.status);
      kept.set(address, readPayload(new Uint8Array(await answer.arrayBuffer())));
    } catch {
      kept.set(address, false);
    }
    under -= 1;
    if (signal.aborted) return;
    arrived(address);
    next();
  };
  const next = () => {
    while (under < AT_ONCE && wanted.length) {
      const address = wanted.shift();
      if (!kept.has(address)) take(address);
    }
  };
  /** Ask for all of them, those nearest to `at` first. */
  const want = (moments, at) => {
    wanted = moments
      .map((moment, place) => [moment.picture, Math.abs(place - at)])
      .filter(([address]) => address && !kept.has(address))
      .sort((one, other) => one[1] - other[1])
      .map(([address]) => address);
    next();
  };
  return { want, get: (address) => (address ? kept.get(address) ?? null : false) };
}
