/** The module that anywidget runs: the page of the player in a frame, which has the widget. */

/** What anywidget gives: the traits of the widget in Python, and messages. */
export interface NotebookModel {
  get: (name: string) => unknown;
  set: (name: string, value: unknown) => void;
  save_changes: () => void;
  on: (event: string, listener: (...told: never[]) => void) => void;
  off: (event: string, listener: (...told: never[]) => void) => void;
  send: (content: object) => void;
}

export type WidgetFrame = HTMLIFrameElement & { widget: NotebookModel };

export default {
  render: ({ model, el }: { model: NotebookModel; el: HTMLElement }) => {
    const frame = document.createElement("iframe") as WidgetFrame;
    frame.widget = model;
    frame.srcdoc = String(model.get("_page"));
    frame.style.cssText = `width: 100%; height: ${model.get("_height")}px; border: 0`;
    el.append(frame);
    return () => frame.remove();
  },
};
