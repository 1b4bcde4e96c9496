/** @import { MIRRORED_STATE, Selection } from "./look.js" */
/** @import { TraceState } from "./initialState.js" */

/**
 * Events of the document by which the player and the class tools, each in a shadow root of its own,
 * know of each other.
 */

export const SHOWN = "explorer-shown"; // the player: what it shows, after each change; a `Described`
export const ASKED = "explorer-asked"; // to the player: say what is shown
export const MIRRORED = "explorer-mirrored"; // to the player: a `Mirrored`
export const REVEALED = "explorer-revealed"; // to the player: show what is hidden
export const VOTED = "explorer-chosen"; // the player: a guest has chosen this; a `Chosen`
export const ASKS = "explorer-asks"; // to the player: what the host lets the class guess; a `Kind`
export const ADMITTED = "explorer-admitted"; // the page: this visitor has become the host

/**
 * @typedef {Pick<TraceState, Exclude<typeof MIRRORED_STATE[number], "guess">>} Place
 * @typedef {Place & {guess: {weightsToo: boolean, rows: number, tokens: number} | null}} ShownState
 *   what a guest's player mirrors
 *
 * @typedef {"token" | "key"} Kind what is guessed: the next token, or where a head looks
 *
 * @typedef {object} Chosen
 * @property {Kind} kind
 * @property {string} token
 * @property {number} position of the token among the keys, from 0
 *
 * @typedef {object} Question
 * @property {Kind} kind
 * @property {string} head the one whose key is guessed; "" for a token
 * @property {string[]} tokens the last of those that are known
 * @property {string[]} candidates in an order that tells nothing
 * @property {number[]} positions of the keys, from 0; none for a token
 * @property {number | null} answer index of the right one, or none's; null while it is hidden
 *
 * @typedef {object} Described
 * @property {Record<string, string> | null} visit what the trace is of; null where no other visitor can ask for it
 * @property {Selection} selection
 * @property {ShownState} shown
 * @property {Question | null} question null while nothing is guessed
 *
 * @typedef {object} Mirrored
 * @property {boolean} on whether the player shows what the host shows, and nothing else
 * @property {ShownState | null} shown null until it has the trace
 */

/**
 * Say what a guest has chosen in the player.
 * @param {Chosen} chosen
 */
export function tellVote(chosen) {
  document.dispatchEvent(new CustomEvent(VOTED, { detail: chosen }));
}
