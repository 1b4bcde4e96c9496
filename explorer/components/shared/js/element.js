/**
 * @typedef {string | number | boolean | null | undefined} AttributeValue
 * @typedef {{[Name in keyof HTMLElementEventMap]?: (event: HTMLElementEventMap[Name]) => void}} Listeners
 * @typedef {{on?: Listeners, testid?: string, [name: string]: AttributeValue | Listeners}} Attributes
 */

/**
 * A part of a component: its element, and how it follows a change of state.
 * @typedef {object} Part
 * @property {HTMLElement} element
 * @property {(changed: Set<string>) => void} update `changed`: names of the changed values
 * @property {(changed: Set<string>) => void} [scroll] to what is current, when all parts are drawn; it
 *   reads the layout, which a part that is drawn afterwards would make the browser compute again
 */

/** @typedef {Pick<Part, "update" | "scroll">} DrawnPart */

/**
 * Let parts follow a change of state, in their order.
 * @param {DrawnPart[]} parts
 * @param {Set<string>} changed
 */
export function drawParts(parts, changed) {
  for (const part of parts) part.update(changed);
  for (const part of parts) part.scroll?.(changed);
}

/**
 * Make an element. Text is added as text nodes only, so a token can never become markup.
 * @template {keyof HTMLElementTagNameMap} Tag
 * @param {Tag} tag
 * @param {Attributes} [attributes] `testid`, `on` (listeners by event), else attributes
 * @param {...(Node | string)} children
 * @returns {HTMLElementTagNameMap[Tag]}
 */
export function element(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  const { on, testid, ...others } = attributes;
  for (const [event, listener] of Object.entries(on ?? {})) {
    node.addEventListener(event, /** @type {EventListener} */ (listener));
  }
  if (testid !== undefined) node.dataset.testid = testid;
  for (const [name, value] of Object.entries(others)) {
    if (value === true) node.setAttribute(name, "");
    else if (value !== false && value !== undefined && value !== null)
      node.setAttribute(name, String(value));
  }
  node.append(...children);
  return node;
}

/**
 * Write `text` into `node` only if it differs: an unchanged node needs no layout.
 * @param {Node} node
 * @param {string} text
 */
export function write(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

/**
 * Set an attribute or, with null, undefined or false, remove it.
 * @param {Element} node
 * @param {string} name
 * @param {AttributeValue} value
 */
export function assign(node, name, value) {
  if (value === null || value === undefined || value === false) node.removeAttribute(name);
  else if (node.getAttribute(name) !== String(value)) node.setAttribute(name, String(value));
}

/**
 * Make `parent` have `count` children, keeping those it has.
 * @template {HTMLElement} Child
 * @param {HTMLElement} parent whose children are all of this kind
 * @param {number} count
 * @param {(index: number) => Child} make
 * @returns {Child[]}
 */
export function populate(parent, count, make) {
  while (parent.children.length > count) parent.lastElementChild?.remove();
  while (parent.children.length < count) parent.append(make(parent.children.length));
  return /** @type {Child[]} */ ([...parent.children]);
}

/**
 * Place an absolutely positioned element; px.
 * @param {HTMLElement} node
 * @param {number} left
 * @param {number} top
 * @param {number} width
 * @param {number} height
 */
export function positionRectangle(node, left, top, width, height) {
  node.style.transform = `translate(${left}px, ${top}px)`;
  node.style.width = `${width}px`;
  node.style.height = `${height}px`;
}

/**
 * The drawing context of a canvas.
 * @param {HTMLCanvasElement} canvas
 * @param {CanvasRenderingContext2DSettings} [settings]
 */
export function context2d(canvas, settings) {
  const context = canvas.getContext("2d", settings);
  if (!context) throw new Error("no 2d canvas");
  return context;
}

/**
 * Give a canvas a size in CSS px at the resolution of the screen.
 * @param {HTMLCanvasElement} canvas
 * @param {number} width
 * @param {number} height
 * @returns {CanvasRenderingContext2D} which draws in CSS px
 */
export function sharpCanvas(canvas, width, height) {
  const ratio = window.devicePixelRatio || 1;
  canvas.width = Math.ceil(width * ratio);
  canvas.height = Math.ceil(height * ratio);
  const context = context2d(canvas);
  context.scale(ratio, ratio);
  return context;
}
