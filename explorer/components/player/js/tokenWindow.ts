/** The tokens of a long text that a strip has as elements: from the first one to the one behind the last. */
export interface TokenWindow {
  first: number;
  stop: number;
}

const LENGTH = 128; // tokens; some ten lines, of which two are seen
const MARGIN = 24; // tokens that stay around the one in view, so that most steps move no window

/**
 * The window of a strip. Elements of all tokens of a long text would take most of the time of a step:
 * two lines of them are seen.
 * @param count of all tokens
 * @param wanted the token in view; −1 = none
 * @param before the window until now, which stays as long as the token is well inside
 */
export function windowAround(count: number, wanted: number, before: TokenWindow): TokenWindow {
  const [first, stop] = [Math.max(before.first, 0), Math.min(before.stop, count)];
  const whole = stop - first === Math.min(count, LENGTH);
  const inside =
    (first === 0 || wanted >= first + MARGIN) && (stop === count || wanted < stop - MARGIN);
  if (whole && (wanted < 0 || inside)) return before;
  return windowFrom(count, wanted - LENGTH / 2);
}

/** A whole window that begins at a token, or as near to it as the text allows. */
export function windowFrom(count: number, token: number): TokenWindow {
  const first = Math.max(0, Math.min(token, count - LENGTH));
  return { first, stop: Math.min(count, first + LENGTH) };
}

/** The window before this one, or after it; one line of tokens is in both. */
export function nextWindow(count: number, { first, stop }: TokenWindow, later: boolean) {
  return windowFrom(count, later ? stop - MARGIN / 2 : first - LENGTH + MARGIN / 2);
}
