/**
 * While nothing is drawn, ask whether the server answers pages of this address: after some seconds,
 * and when a script fails to load. A refusal is a sentence that names the setting, in the place of
 * "Loading". A proxy that changes the Host header lets the page through, but not its connection.
 */
{
  const SECONDS = 5;
  const ask = async () => {
    const loading = document.querySelector(".loading-page");
    if (!loading || document.querySelector(".stElementContainer")) return;
    // POST, since a browser names the page's origin in it, as in the handshake of a WebSocket.
    const answer = await fetch("./_stcore/health", { method: "POST" }).catch(() => null);
    const isSentence = answer?.headers.get("content-type")?.startsWith("text/plain");
    if (answer?.status !== 403 || !isSentence) return;
    const refusal = document.createElement("p");
    refusal.role = "alert";
    refusal.textContent = await answer.text();
    loading.replaceChildren(refusal);
  };
  setTimeout(ask, 1000 * SECONDS);
  const failed = ({ target }) => {
    if (target instanceof HTMLScriptElement) void ask();
  };
  window.addEventListener("error", failed, true);
}
