import assert from "node:assert/strict";
import { test } from "node:test";
import { onPage, placeOnPage } from "../../../explorer/components/page/js/onPage.ts";

function picture(): any {
  return { view: () => null };
}

test("the page has the picture mounted last, until that one goes", () => {
  const [before, after] = [picture(), picture()];
  const [first, second] = [new AbortController(), new AbortController()];
  placeOnPage("picture", before, first.signal);
  placeOnPage("picture", after, second.signal);
  first.abort(); // later than the next one comes, as when the page changes
  assert.equal(onPage.picture, after);
  second.abort();
  assert.equal(onPage.picture, null);
});
