import { untracked } from "../../dom/js/store.ts";

/**
 * An event of the document, by which components, each in a shadow root of its own, know of each other.
 * A view that tells something depends on nothing that those who hear it read.
 */
export function channel<Detail = void>(name: string) {
  const tell = (detail: Detail) => {
    untracked(() => document.dispatchEvent(new CustomEvent(name, { detail })));
  };
  const hear = (follow: (detail: Detail) => void, signal: AbortSignal) => {
    const listen = (event: Event) => follow((event as CustomEvent<Detail>).detail);
    document.addEventListener(name, listen, { signal });
  };
  return { tell, hear };
}
