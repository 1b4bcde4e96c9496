/** Before the app draws its page and the switch: whether all controls are shown, as was chosen. */

import { showChosen } from "./everythingChosen.ts";

showChosen();
