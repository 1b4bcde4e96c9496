/** @import { MIRRORED_STATE, Selection } from "./look.js" */
/** @import { TraceState } from "./initialState.js" */
/** @import { SiteName } from "./trace.js" */

/**
 * Events of the document by which the player, the card of a lesson and the host's class tools, each in
 * a shadow root of its own, know of each other.
 */

export const SHOWN = "explorer-shown"; // the player: what it shows, after each change; a `Described`, or null when it goes
export const CARD = "explorer-card"; // a lesson: the card on screen, after each change; a `ShownCard` or null
export const ASKED = "explorer-asked"; // to both: say what is shown
export const REVEALED = "explorer-revealed"; // to the player: show what is hidden
export const CARD_REVEALED = "explorer-card-revealed"; // to a lesson: show the answer of the card
export const ASKS = "explorer-asks"; // to the player: what the host lets the class guess; a `Kind`

/**
 * @typedef {Pick<TraceState, Exclude<typeof MIRRORED_STATE[number], "guess">>} Place
 * @typedef {Place & {guess: {weightsToo: boolean, rows: number, tokens: number} | null}} ShownState
 *   what a guest's picture follows
 *
 * @typedef {"player" | "heads" | "norms"} ShownPicture of the trace: the player, the grid of all heads
 *   with their weights, or with their value norms
 *
 * @typedef {"token" | "key"} Kind what is guessed of a trace: the next token, or where a head looks
 *
 * @typedef {object} Question
 * @property {Kind | "card"} kind
 * @property {string} head the one whose key is guessed; "" for another kind
 * @property {string[]} tokens the last of those that are known
 * @property {string[]} candidates in an order that tells nothing
 * @property {number[]} positions of the keys, from 0; none for another kind
 * @property {string} prompt what a card asks; "" for another kind
 * @property {number | null} answer index of the right one, or none's; null while it is hidden
 *
 * @typedef {object} Described
 * @property {Record<string, string> | null} visit what the trace is of; null where no other visitor can ask for it
 * @property {string} trace by which the server knows the trace; "" where it does not
 * @property {ShownPicture} picture
 * @property {Selection} selection
 * @property {ShownState} shown
 * @property {Question | null} question null while nothing is guessed
 * @property {ShownTraining} [training] in the place of a trace
 *
 * @typedef {object} ShownMoment what guests follow in a training
 * @property {number | null} moment its step; null = the newest, as it comes
 * @property {SiteName} site
 * @property {number | null} layer null = that of the sharpest head
 * @property {number | null} head
 *
 * @typedef {ShownMoment & {run: string, others: string[], revision: number}} ShownTraining names of the
 *   run and the compared ones; `revision` grows when the state of the run has changed
 *
 * @typedef {object} CardText of a lesson, as guests read it
 * @property {string} title of the lesson
 * @property {number} number of the card, from 1
 * @property {number} cards
 * @property {string} text
 * @property {string} because what is right, and why; "" before it is answered
 *
 * @typedef {object} ShownCard
 * @property {CardText} card
 * @property {Question | null} question null where the card asks nothing
 */
