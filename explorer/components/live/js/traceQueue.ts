import type { ModelClient } from "./modelClient.ts";
import type { Questions } from "./modelWorker.ts";

/**
 * Asks the worker for traces, one after another: that of a text which was sent, and ahead of it that
 * of the text a person is typing, which is there by the time it is sent.
 */

export type Question = Questions["trace"];

export type Answer = Promise<Uint8Array<ArrayBuffer>>;

const PAUSE = 100; // ms without a key before a text is traced ahead
const LONGEST = 200; // ms; a text that is sent waits for the one traced ahead, which cannot be stopped

export class TraceQueue {
  running: Promise<unknown>; // settles when the worker has answered
  ahead: { key: string; answer: Answer } | null;
  timer: ReturnType<typeof setTimeout> | undefined; // of a text that is being typed
  pace: Map<string, number>; // least milliseconds a character, by model

  constructor() {
    this.running = Promise.resolve();
    this.ahead = null;
    this.timer = undefined;
    this.pace = new Map();
  }

  /**
   * The payload of a text that was sent; null where nobody waits for it any longer when its turn
   * comes. Rejects as the worker does.
   * @param options.wanted whether it is waited for
   */
  async trace(
    client: ModelClient,
    question: Question,
    { wanted, onText }: { wanted: () => boolean; onText: (decoded: string) => void },
  ): Promise<Uint8Array<ArrayBuffer> | null> {
    this.cancel();
    await this.running;
    if (!wanted()) return null;
    const key = keyOf(question);
    const answer = this.ahead?.key === key ? this.ahead.answer : this.ask(client, question, onText);
    this.ahead = null;
    return answer;
  }

  /**
   * Trace a text that is not sent yet, once no key has been pressed for a while, if its model is fast
   * enough.
   */
  traceAhead(client: ModelClient, question: Question) {
    this.cancel();
    const { model, text } = question.request;
    if (text.length * (this.pace.get(model) ?? Infinity) > LONGEST) return;
    const key = keyOf(question);
    const timer = setTimeout(async () => {
      await this.running;
      if (timer !== this.timer || key === this.ahead?.key) return;
      this.ahead = { key, answer: this.ask(client, question) };
    }, PAUSE);
    this.timer = timer;
  }

  /** Trace nothing ahead that is not begun. */
  cancel() {
    clearTimeout(this.timer);
    this.timer = undefined;
  }

  ask(client: ModelClient, question: Question, onText?: (decoded: string) => void): Answer {
    const { model, text } = question.request;
    const start = performance.now();
    const answer = client.ask("trace", question, onText);
    this.running = answer.then(
      () => {
        const pace = (performance.now() - start) / Math.max(1, text.length);
        this.pace.set(model, Math.min(pace, this.pace.get(model) ?? Infinity));
      },
      () => {},
    );
    return answer;
  }
}

function keyOf(question: Question) {
  return JSON.stringify(question);
}
