/** A guest of a class: the line above the page, the host's training below it, and who is followed. */

import { createGuest } from "../../classroom/js/guest.ts";
import type { Part } from "../../dom/js/element.ts";
import { fillIn } from "../../dom/js/sentences.ts";
import type { Asking } from "./asking.ts";
import { createHostFollower } from "./hostFollower.ts";
import { createHostTraining } from "./hostTraining.ts";
import type { PageData } from "./pageData.ts";
import type { PageStore } from "./pageState.ts";
import type { TracePicture } from "./tracePicture.ts";

export interface ClassGuest {
  line: (language: string) => HTMLElement; // drawn anew
  training: Part; // of the host
  askAgain: () => void; // show the same in the page's language
  followAddress: () => void; // to which the guest has gone
}

/** What opens first is what the class shows or, without a class, what the address asks for. */
export function createClassGuest(
  data: PageData,
  store: PageStore,
  { asking, picture }: { asking: Asking; picture: TracePicture },
): ClassGuest {
  const training = createHostTraining(store, data.strings);
  const follow = createHostFollower(data, store, { asking, picture, training });
  const guest = createGuest({
    follow,
    open: asking.followAddress,
    leave: () => picture.turnTo("player"),
  });
  return {
    line: (language) => {
      const { class_tools, training_replay } = data.strings[language];
      const sentences = { ...training_replay, ...class_tools };
      return guest.build((key, facts) => fillIn(sentences, key, facts));
    },
    training,
    askAgain: () => {
      const { host } = store.values;
      if (host) follow(host);
      else asking.askAgain();
    },
    followAddress: () => {
      guest.touch();
      if (guest.following() !== "following") asking.followAddress(); // else an open vote covers it
    },
  };
}
