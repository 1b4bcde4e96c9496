/** Ring, in every picture of the cross-attention, the cells the answer comes from. */
function ringGold(context, box, key) {
  const site = siteOf(context);
  const rings = site.name === "cross" ? goldCells(context.trace, site) : [];
  key.hidden = rings.length === 0;
  for (const picture of box.querySelectorAll(".heads .picture")) placeRings(picture, rings, site);
  const clip = box.querySelector(".map .clip");
  if (clip) placeRings(clip, context.state.zoomed ? [] : rings, site);
}

/** [query, key] of every gold cell. */
function goldCells(trace, site) {
  const cells = [];
  for (let query = 0; query < site.queries; query += 1) {
    for (let key = 0; key < site.keys; key += 1) if (isGold(trace, query, key)) cells.push([query, key]);
  }
  return cells;
}

/** Put rings over a picture that shows the whole matrix. */
function placeRings(picture, cells, site) {
  let layer = picture.querySelector(".rings");
  if (!layer) picture.append((layer = element("span", { class: "rings", "aria-hidden": "true" })));
  const rings = populate(layer, cells.length, () => element("b", { class: "ring" }));
  cells.forEach(([query, key], place) => {
    Object.assign(rings[place].style, {
      left: `${(100 * key) / site.keys}%`,
      top: `${(100 * query) / site.queries}%`,
      width: `${100 / site.keys}%`,
      height: `${100 / site.queries}%`,
    });
  });
}
