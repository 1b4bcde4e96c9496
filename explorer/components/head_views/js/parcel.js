/**
 * Read the bytes Python wrote.
 * @param {Uint8Array} bytes
 * @returns {object} the header, `part(name)`: a run of bytes, and `field(name, site)`: numbers
 *   by (layer, head) or null
 */
function readParcel(bytes) {
  const whole = bytes.byteOffset % 4 ? bytes.slice() : bytes; // typed arrays must be aligned
  const size = new DataView(whole.buffer, whole.byteOffset).getUint32(0, true);
  const header = JSON.parse(new TextDecoder().decode(whole.subarray(4, 4 + size)));
  const part = (name) => {
    const [start, length] = header.parts[name] ?? [0, -1];
    return length < 0 ? null : whole.subarray(4 + size + start, 4 + size + start + length);
  };
  const field = (name, site) => {
    const run = part(`${name}.${site.name}`);
    const values = run && new Float32Array(run.buffer, run.byteOffset, run.byteLength / 4);
    return values && createField(values, site);
  };
  return { ...header, part, field };
}

/** The numbers of every head of a site, the largest of them without its sign, and whose it is. */
function createField(values, site) {
  const area = site.queries * site.keys;
  let [largest, place] = [0, 0];
  values.forEach((value, at) => {
    if (Math.abs(value) > largest) [largest, place] = [Math.abs(value), Math.floor(at / area)];
  });
  const strongest = { layer: Math.floor(place / site.heads), head: place % site.heads };
  const one = (layer, head) => {
    const start = (layer * site.heads + head) * area;
    return values.subarray(start, start + area);
  };
  /** A head's numbers; below head 0, the mean of its layer's. */
  const of = (layer, head) => {
    if (head >= 0) return one(layer, head);
    const all = Array.from({ length: site.heads }, (_, place) => one(layer, place));
    return all[0].map((_, cell) => all.reduce((sum, own) => sum + own[cell], 0) / site.heads);
  };
  return { of, largest, strongest };
}
