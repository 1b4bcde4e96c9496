const PAUSES = [300, 1000, 3000]; // ms before each further try

/**
 * Fetch what the server keeps of the trace on screen, again where it is busy or made anew.
 * @param {string} path relative to the page
 * @param {AbortSignal} signal
 * @param {() => void} onMissing called when the server has dropped the trace, to make it anew
 * @returns {Promise<Uint8Array>}
 */
export async function serverBytes(path, signal, onMissing) {
  const address = new URL(path, document.baseURI);
  for (const pause of [...PAUSES, 0]) {
    const answer = await fetch(address, { signal });
    if (answer.ok) return new Uint8Array(await answer.arrayBuffer());
    if (answer.status === 404) onMissing();
    if (!pause) break;
    await new Promise((resolve) => setTimeout(resolve, pause));
  }
  throw new Error(`nothing at ${path}`);
}
