import { streamlitComponent } from "../../page/js/streamlitComponent.ts";
import { type Listeners, readContent } from "./content.ts";
import { mountLesson } from "./lesson.ts";
import { mountOffer } from "./offer.ts";

let begun = false; // from the offer: the keyboard's focus was on it

/** The card of a lesson as a Streamlit component, or the offer of the first lesson. */
export default streamlitComponent({
  read: readContent,
  identity: ({ lesson, offer }) => (lesson ? "lesson" : offer ? "offer" : "none"),
  listeners: ({ setTriggerValue }): Listeners => ({
    onCard: (card, here) => setTriggerValue("card", { card, here }),
    onStart: (name) => {
      begun = true;
      setTriggerValue("start", name);
    },
    onLeave: () => setTriggerValue("leave", true),
  }),
  open: (parent, content, listeners) => {
    if (content.lesson) {
      const lesson = mountLesson(parent, content, listeners);
      if (begun) lesson.focus();
      begun = false;
      return lesson;
    }
    if (content.offer) return mountOffer(parent, content, listeners);
    return { update: () => {}, listen: () => {}, destroy: () => {} };
  },
});
