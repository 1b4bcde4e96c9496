/** The heads' gold weights at this moment, which is also the key to the lines above them. */
function createHeads(context) {
  const node = element("div", { class: "head-key", testid: "head-key", role: "group" });
  assign(node, "aria-label", context.say("gold"));
  let shape = "";
  const update = (changed) => {
    if (!["reel", "at", "theme", "head"].some((name) => changed.has(name))) return;
    const gold = context.reel.moments[context.state.at]?.gold ?? [];
    const next = gold.map((layer) => layer.length).join();
    if (next !== shape || changed.has("theme")) {
      shape = next;
      node.replaceChildren(...gold.map((layer, row) => headRow(context, layer.length, row)));
    }
    gold.forEach((layer, row) => layer.forEach((weight, head) => markHead(context, node, row, head, weight)));
  };
  return { element: node, update };
}

/** The heads of one layer. */
function headRow(context, heads, row) {
  const buttons = Array.from({ length: heads }, (_, head) => {
    const line = element("i", { class: "line" });
    line.style.background = headColour(context.palette, row, head, heads);
    return element(
      "button",
      { type: "button", class: "head", on: { click: () => context.act.chooseHead(row, head) } },
      line,
      element("span", { class: "name" }, `H${head}`),
      element("output", { class: "weight" }),
    );
  });
  return element("div", { class: "head-row" }, element("span", { class: "layer" }, `L${row}`), ...buttons);
}

/** A head's weight, and whether it is the one on the right. */
function markHead({ say, chosen }, node, row, head, weight) {
  const button = node.children[row].children[head + 1];
  const text = weight === null ? "–" : shortWeight(weight);
  write(button.lastChild, text);
  const title = say("head_title", { head: headName(row, head), weight: text });
  assign(button, "title", title);
  assign(button, "aria-label", title);
  assign(button, "aria-pressed", chosen?.layer === row && chosen?.head === head ? "true" : "false");
}
