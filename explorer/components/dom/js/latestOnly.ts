/**
 * A task that runs once at a time. What is asked for while it runs is done once more afterwards, from
 * the latest state.
 */
export function latestOnly(task: () => Promise<void>): () => Promise<void> {
  let [busy, asked] = [false, false];
  return async () => {
    asked = true;
    if (busy) return;
    busy = true;
    try {
      while (asked) {
        asked = false;
        await task();
      }
    } finally {
      busy = false;
    }
  };
}
