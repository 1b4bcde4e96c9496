/**
 * Let a browser install the static site. From disk there is nothing to install, and a browser refuses
 * the manifest.
 */
export function offerInstallation() {
  if (!location.protocol.startsWith("http")) return;
  document.head.append(
    linkTo("manifest", "app.webmanifest"),
    linkTo("apple-touch-icon", "icon-192.png"),
  );
  // Without a service worker offline is not promised.
  navigator.serviceWorker?.register("service-worker.js").catch(() => {});
}

function linkTo(rel: string, href: string) {
  return Object.assign(document.createElement("link"), { rel, href });
}
