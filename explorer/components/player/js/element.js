/**
 * Make an element. Text goes in as text nodes only, so a token can never become markup.
 * @param {string} tag element name
 * @param {object} attributes `class`, `testid`, `on` (listeners by event), else attributes
 * @param {...(Node|string)} children
 * @returns {HTMLElement}
 */
function element(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name === "on") {
      for (const [event, listener] of Object.entries(value)) node.addEventListener(event, listener);
    } else if (name === "testid") {
      node.dataset.testid = value;
    } else if (value === true) {
      node.setAttribute(name, "");
    } else if (value !== false && value !== undefined && value !== null) {
      node.setAttribute(name, value);
    }
  }
  node.append(...children);
  return node;
}

/** Write `text` into `node` only if it differs: an unchanged node costs no layout. */
function write(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

/** Set or, with null, remove an attribute. */
function assign(node, name, value) {
  if (value === null || value === undefined || value === false) node.removeAttribute(name);
  else if (node.getAttribute(name) !== String(value)) node.setAttribute(name, value);
}

/** Make `count` children of `parent`, reusing the ones it has. */
function populate(parent, count, make) {
  while (parent.children.length > count) parent.lastChild.remove();
  while (parent.children.length < count) parent.append(make(parent.children.length));
  return parent.children;
}
