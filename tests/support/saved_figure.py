"""What to look for in a saved figure: texts outside of it, over each other or too small to read."""

OVERLAPPING = """([source, type]) => {
  const host = document.createElement("div");
  host.append(new DOMParser().parseFromString(source, "image/svg+xml").documentElement);
  document.body.append(host);
  const figure = host.firstChild.getBoundingClientRect();
  const boxes = [...host.querySelectorAll("text")].map((node) => {
    const { left, right, top, bottom } = node.getBoundingClientRect();
    const upright = (node.getAttribute("transform") ?? "").includes("rotate");
    const [x, y] = [(left + right) / 2, (top + bottom) / 2]; // letters, not the line they stand in
    return upright ? { left: x - type / 2, right: x + type / 2, top, bottom, node }
      : { left, right, top: y - type / 2, bottom: y + type / 2, node };
  });
  const faults = boxes.filter(({ left, right, top, bottom }) => left < figure.left ||
    right > figure.right || top < figure.top || bottom > figure.bottom)
    .map(({ node }) => ["outside", node.textContent]);
  boxes.forEach((one, at) => boxes.slice(at + 1).forEach((other) => {
    const across = Math.min(one.right, other.right) - Math.max(one.left, other.left);
    const down = Math.min(one.bottom, other.bottom) - Math.max(one.top, other.top);
    if (across > 1 && down > 1) faults.push([one.node.textContent, other.node.textContent]);
  }));
  const small = boxes.filter(({ node }) => parseFloat(getComputedStyle(node).fontSize) < type);
  host.remove();
  return [...faults, ...small.map(({ node }) => ["small", node.textContent])];
}"""

SMALLEST = 9 / 72 * 2.54 / 16
"""Share of the figure's width of 9-pt type where the figure is printed 16 cm wide."""
