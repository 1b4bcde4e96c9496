import type { Message } from "./classroom.ts";

/**
 * none: nothing is known of a class; waiting: nobody leads; away: who led is gone for the moment
 */
export type Following = "none" | "waiting" | "away" | "alone" | "following";

/**
 * Whether a guest follows the host.
 * @param alone whether the guest has left the host's view
 */
export function followingOf(
  message: Pick<Message, "host" | "view" | "away"> | null,
  alone: boolean,
): Following {
  if (!message || message.host) return "none";
  if (!message.view) return "waiting";
  if (message.away) return "away";
  return alone ? "alone" : "following";
}

/** What a guest is asked; null where nothing is, or the guest explores alone. */
export function askedOf({ message, alone }: { message: Message | null; alone: boolean }) {
  const present = followingOf(message, alone) !== "alone" && !message?.host;
  return (present && message?.question) || null;
}
