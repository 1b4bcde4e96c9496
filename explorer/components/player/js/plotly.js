/** Plotly from the app's own server, asked for once however many players there are. */
function servedPlotly() {
  window.explorerPlotly ??= new Promise((resolve, reject) => {
    const script = document.createElement("script");
    script.src = new URL("plotly.min.js", document.baseURI).href;
    script.onload = () => (window.Plotly ? resolve(window.Plotly) : reject(new Error(script.src)));
    script.onerror = () => {
      window.explorerPlotly = undefined; // the next player may try again
      reject(new Error(script.src));
    };
    document.head.append(script);
  });
  return window.explorerPlotly;
}

/** Plotly out of the page itself; run only now, so that the first picture need not wait. */
async function embeddedPlotly() {
  await new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)));
  const script = document.createElement("script");
  script.textContent = document.getElementById("plotly").textContent;
  document.head.append(script);
  return window.Plotly;
}

/** The payload out of the page itself. */
function embeddedPayload() {
  const text = atob(document.getElementById("payload").textContent);
  return Uint8Array.from(text, (letter) => letter.charCodeAt(0));
}
