import type { Phases, View } from "./store.ts";

export type AttributeValue = string | number | boolean | null | undefined;

export type Listeners = {
  [Name in keyof HTMLElementEventMap]?: (event: HTMLElementEventMap[Name]) => void;
};

export type Attributes = {
  on?: Listeners;
  testid?: string;
  [name: string]: AttributeValue | Listeners;
};

/** How a part of a component follows a change of state, by phase (`store.ts`). */
export type DrawnPart = Partial<Phases>;

/** A part of a component: its element, and what draws it. */
export interface Part extends DrawnPart {
  element: HTMLElement;
}

/** What draws parts, phase by phase. */
export function phasesOf(parts: DrawnPart[]): Phases {
  const of = (phase: keyof Phases): View[] => parts.flatMap((part) => part[phase] ?? []);
  return { views: of("views"), pictures: of("pictures"), after: of("after") };
}

/**
 * Make an element. Text is added as text nodes only, so a token can never become markup.
 * @param attributes `testid`, `on` (listeners by event), else attributes
 */
export function element<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  attributes: Attributes = {},
  ...children: (Node | string)[]
): HTMLElementTagNameMap[Tag] {
  const node = document.createElement(tag);
  const { on, testid, ...others } = attributes;
  for (const [event, listener] of Object.entries(on ?? {})) {
    node.addEventListener(event, listener as EventListener);
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
 * A button that submits no form.
 * @param click what it does, unless others listen to it
 */
export function buttonElement(
  click: ((event: MouseEvent) => void) | null | undefined,
  attributes: Attributes,
  ...children: (Node | string)[]
): HTMLButtonElement {
  const on = { ...attributes.on, ...(click && { click }) };
  return element("button", { type: "button", ...attributes, on }, ...children);
}

/** Write `text` into `node` only if it differs: an unchanged node needs no layout. */
export function write(node: Node, text: string) {
  if (node.textContent !== text) node.textContent = text;
}

/** Set an attribute or, with null, undefined or false, remove it. */
export function assign(node: Element, name: string, value: AttributeValue) {
  if (value === null || value === undefined || value === false) node.removeAttribute(name);
  else if (node.getAttribute(name) !== String(value)) node.setAttribute(name, String(value));
}

/**
 * Make `parent` have `count` children, keeping those it has.
 * @param parent whose children are all of this kind
 */
export function populate<Child extends HTMLElement>(
  parent: HTMLElement,
  count: number,
  make: (index: number) => Child,
): Child[] {
  while (parent.children.length > count) parent.lastElementChild?.remove();
  while (parent.children.length < count) parent.append(make(parent.children.length));
  return [...parent.children] as Child[];
}

/** Place an absolutely positioned element; px. */
export function positionRectangle(
  node: HTMLElement | SVGElement,
  left: number,
  top: number,
  width: number,
  height: number,
) {
  node.style.transform = `translate(${left}px, ${top}px)`;
  node.style.width = `${width}px`;
  node.style.height = `${height}px`;
}

/** The drawing context of a canvas. */
export function context2d(canvas: HTMLCanvasElement, settings?: CanvasRenderingContext2DSettings) {
  const context = canvas.getContext("2d", settings);
  if (!context) throw new Error("no 2d canvas");
  return context;
}
