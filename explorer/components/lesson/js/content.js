import { readEnvelope } from "../../shared/js/envelope.js";

/** @import { Look } from "../../shared/js/lessonEvents.js" */
/** @import { Strings } from "../../shared/js/sentences.js" */

/**
 * @typedef {object} Card
 * @property {string} text
 * @property {string} question "" where nothing is asked
 * @property {string[]} choices
 * @property {number | null} right index of the right choice
 * @property {string} because
 * @property {string} answer what of the trace the right choice is; "" where nothing is asked
 * @property {string} highlight `data-testid` of what the text speaks of, or ""
 * @property {Look | null} look
 * @property {boolean} here whether the text that it speaks of is on screen
 * @property {string} problem why it cannot be shown, or ""
 *
 * @typedef {object} Lesson
 * @property {string} name
 * @property {string} title
 * @property {(Card | null)[]} cards null where the server has to fill one in first
 * @property {number} card on screen, from 0
 * @property {number} visit differs whenever the server chose the card
 * @property {[string, string] | null} following name and title of the next lesson
 *
 * @typedef {object} Content of the payload
 * @property {string} language
 * @property {Strings} strings
 * @property {Lesson} [lesson]
 * @property {string} [back] address to which the last card of a page of its own leads, or ""
 * @property {{name: string, title: string}} [offer]
 *
 * @typedef {object} Listeners
 * @property {(card: number, here: boolean) => void} onCard here: it is on screen already
 * @property {(name: string) => void} onStart
 * @property {() => void} [onLeave] without it the lesson ends at its last card
 */

/**
 * @param {Uint8Array} bytes
 * @returns {Content}
 */
export function readContent(bytes) {
  /** @type {ReturnType<typeof readEnvelope<Content>>} */
  const { header } = readEnvelope(bytes);
  return header;
}
