/** What the address of the page asks for, and a link there to what is on screen. */

import type { Selection } from "../../trace/js/look.ts";
import { readAddress, type Visit, writeAddress } from "./address.ts";
import type { InitialView } from "./initialView.ts";
import type { PageAddress } from "./pageAddress.ts";
import type { PageData } from "./pageData.ts";
import { type PageState, shownRequest } from "./pageState.ts";

export interface AddressedVisit {
  read: (parameters?: string) => Visit; // of other parameters than the address has
  /** Link to the trace on screen. `replace`: whether Back skips what the address says now. */
  link: (selection: InitialView | Selection, replace: boolean) => void;
}

export function createAddressedVisit(
  data: PageData,
  state: Readonly<PageState>,
  address: PageAddress,
): AddressedVisit {
  return {
    read: (parameters = address.read()) => readAddress(parameters, data),
    link: (selection, replace) => {
      const request = shownRequest(state);
      if (request) address.put(writeAddress(request, selection, state.language), replace);
    },
  };
}
