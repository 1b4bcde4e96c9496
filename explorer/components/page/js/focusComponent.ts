import { onPage } from "./onPage.ts";

let seen = 0;

/** Moves the keyboard's focus to the picture when a text was submitted, as a Streamlit component. */
export default function ({ data }: { data: { count: number } }) {
  if (data.count <= seen) return;
  seen = data.count;
  onPage.picture?.focus();
}
