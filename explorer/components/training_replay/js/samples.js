/** What a translator writes at this moment for a few sentences it was never taught. */
function createSamples(context) {
  const list = element("ol", { class: "samples", testid: "samples", title: context.say("samples_title") });
  assign(list, "aria-label", context.say("samples"));
  const update = (changed) => {
    if (!["reel", "at"].some((name) => changed.has(name))) return;
    const { samples, moments } = context.reel;
    const written = moments[context.state.at]?.written ?? [];
    populate(list, samples.length, sampleRow);
    samples.forEach((sample, place) => writeSample(context, list.children[place], sample, written[place]));
  };
  return { element: list, update };
}

/** A sentence, what was made of it, and a right translation. */
function sampleRow() {
  const part = (name) => element("bdi", { class: name });
  return element("li", { class: "sample" }, part("source"), part("written"), part("reference"));
}

/** Fill a row; a moment whose line is damaged has written nothing. */
function writeSample({ say }, row, sample, text) {
  const [source, written, reference] = row.children;
  write(source, sample.source);
  write(written, text || say("empty"));
  write(reference, sample.reference);
  row.classList.toggle("same", text === sample.reference);
  assign(written, "title", text);
}

/** A sentence from the labels of its pieces; bytes become the characters they make up. */
function joinedPieces(labels) {
  const bytes = [];
  for (const label of labels) {
    const byte = /^<0x([0-9A-F]{2})>$/.exec(label);
    if (byte) bytes.push(parseInt(byte[1], 16));
    else bytes.push(...new TextEncoder().encode(label));
  }
  return new TextDecoder().decode(new Uint8Array(bytes)).replaceAll("\u2581", " ").trim();
}
