/**
 * One head as pixels, one pixel a cell, closed cells in their greys.
 *
 * With fewer pixels than cells a pixel shows the largest weight it covers: a mean would wash
 * out thin diagonals, the very thing to be seen.
 * @returns {ImageData} of `columns` × `rows`
 */
function bitmap(palette, tone, closed, queries, keys, rows = queries, columns = keys) {
  const image = new ImageData(columns, rows);
  const pixels = new Uint32Array(image.data.buffer);
  const open = palette.ramp.map(pixel);
  const shut = palette.closed.map((colour) => (colour ? pixel(colour) : 0));
  const rowOf = Array.from({ length: queries }, (_, row) => Math.floor((row * rows) / queries));
  const columnOf = Array.from({ length: keys }, (_, key) => Math.floor((key * columns) / keys));
  const best = new Int16Array(rows * columns).fill(-4); // below zero: closed, by its code
  for (let query = 0, cell = 0; query < queries; query += 1) {
    const start = rowOf[query] * columns;
    for (let key = 0; key < keys; key += 1, cell += 1) {
      const place = start + columnOf[key];
      const value = closed[cell] ? closed[cell] - 4 : Math.round(tone[cell] * (LEVELS - 1));
      if (value > best[place]) best[place] = value;
    }
  }
  for (let place = 0; place < best.length; place += 1) {
    pixels[place] = best[place] < 0 ? shut[best[place] + 4] : open[best[place]];
  }
  return image;
}

/** A colour as the 32 bits of an opaque pixel (little-endian, as every browser's machine is). */
function pixel([red, green, blue]) {
  return ((255 << 24) | (blue << 16) | (green << 8) | red) >>> 0;
}

/** Put an image on a canvas of its size. */
function paint(canvas, image) {
  if (canvas.width !== image.width) canvas.width = image.width;
  if (canvas.height !== image.height) canvas.height = image.height;
  canvas.getContext("2d").putImageData(image, 0, 0);
}
