const PITCH = 7; // px between two strokes of a closed cell

/**
 * Draw why cells are closed: strokes for a later position, dots for padding, a grid for what a
 * person closed. One path a reason, however many cells.
 */
function drawPattern(pen, geometry, site, closed, palette) {
  const size = cellSize(geometry);
  pen.save();
  pen.beginPath();
  pen.rect(0, 0, geometry.width, geometry.height);
  pen.clip();
  for (const code of [1, 2, 3]) {
    const cells = closedPath(geometry, site, closed, code, size);
    if (!cells) continue;
    pen.save();
    pen.clip(cells);
    pen.strokeStyle = pen.fillStyle = css(palette.stroke[code]);
    pen.lineWidth = 1;
    if (code === 2) drawDots(pen, geometry);
    else drawStrokes(pen, geometry, code === 3);
    pen.restore();
  }
  pen.restore();
}

/** All cells closed for one reason as one path, a rectangle a run; null when there are none. */
function closedPath(geometry, site, closed, code, size) {
  const path = new Path2D();
  let runs = 0;
  for (let query = 0; query < site.queries; query += 1) {
    const start = query * site.keys;
    for (let key = 0; key < site.keys; key += 1) {
      if (closed[start + key] !== code) continue;
      const first = key;
      while (key + 1 < site.keys && closed[start + key + 1] === code) key += 1;
      const width = (key + 1 - first) * size.width;
      path.rect(xOf(geometry, first), yOf(geometry, query), width, size.height);
      runs += 1;
    }
  }
  return runs ? path : null;
}

/** Diagonal strokes over the whole plot, with `crossed` in both directions. */
function drawStrokes(pen, { width, height }, crossed) {
  pen.beginPath();
  for (let from = -height; from < width; from += PITCH) {
    pen.moveTo(from, height);
    pen.lineTo(from + height, 0);
    if (crossed) {
      pen.moveTo(from, 0);
      pen.lineTo(from + height, height);
    }
  }
  pen.stroke();
}

/** A lattice of dots over the whole plot. */
function drawDots(pen, { width, height }) {
  for (let y = PITCH / 2; y < height; y += PITCH) {
    for (let x = PITCH / 2; x < width; x += PITCH) pen.fillRect(x, y, 2, 2);
  }
}

/** A picture of the pattern for an exported figure, `unit` px a cell. */
function patternImage(site, closed, palette, unit) {
  const canvas = document.createElement("canvas");
  canvas.width = site.keys * unit;
  canvas.height = site.queries * unit;
  const geometry = {
    width: canvas.width,
    height: canvas.height,
    x: [-0.5, site.keys - 0.5],
    y: [-0.5, site.queries - 0.5],
  };
  drawPattern(canvas.getContext("2d"), geometry, site, closed, palette);
  return canvas.toDataURL();
}
