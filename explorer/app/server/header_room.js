/**
 * Tell main.css what the header's parts take, in px, since that differs with the language: where the
 * title and the links of the pages end, and how far from the right the choice of a lesson begins.
 * Without room for a sentence between them, the page has `data-header-full`.
 */
{
  const root = document.documentElement;
  const LEAST = 14; // rem in which a sentence can be read
  const FITTING = [23.5, 20.75]; // rem that main.css leaves for the parts in any language
  const last = (selector) => [...document.querySelectorAll(selector)].at(-1);
  const title = () => last(".st-key-header h1 > *");
  const link = () => last('[data-testid="stTopNavLink"]');
  const choices = () => last(".st-key-header .st-key-lessons") ?? last(".st-key-language");
  const box = (part) => part?.getBoundingClientRect() ?? { left: innerWidth, right: 0 };
  const set = (name, pixels) => root.style.setProperty(name, `${Math.ceil(pixels)}px`);
  const measure = () => {
    set("--title-end", box(title()).right + 8);
    const ends = [box(link()).right + 16, innerWidth - box(choices()).left + 4]; // once the title is set
    set("--links-end", ends[0]);
    set("--choices-room", ends[1]);
    const rem = Number.parseFloat(getComputedStyle(root).fontSize);
    const longer = ends.some((end, at) => end > FITTING[at] * rem);
    root.toggleAttribute("data-header-full", longer && innerWidth - ends[0] - ends[1] < LEAST * rem);
  };
  const sizes = new ResizeObserver(measure);
  const observed = new WeakSet();
  const observe = () => {
    for (const part of [title(), link(), choices(), last(".st-key-language"), last(".st-key-everything")]) {
      if (!part || observed.has(part)) continue;
      observed.add(part);
      sizes.observe(part);
    }
  };
  new MutationObserver(observe).observe(document, { childList: true, subtree: true });
  window.addEventListener("resize", measure);
}
