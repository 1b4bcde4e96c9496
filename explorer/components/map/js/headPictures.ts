import { readEnvelope } from "../../page/js/envelope.ts";
import { headPictures } from "../../trace/js/largeSite.ts";
import { siteOf } from "../../trace/js/stepState.ts";
import type { Picture, Site } from "../../trace/js/trace.ts";
import type { TraceContext } from "../../trace/js/traceContext.ts";
import { createLoading, isAnswer, offers } from "../../trace/js/traceQuestions.ts";
import { wholeMap, type Zoom } from "../../trace/js/zoom.ts";
import { part } from "./largeMap.ts";

/** Pictures of all heads. */
export interface HeadPictures {
  part: Zoom; // of the map, which they show
  of: Site["picture"];
}

interface Answer {
  size: number[]; // rows and columns of each
  codes: Uint8Array;
  masks: Uint8Array;
}

/**
 * Pictures of a part of the map, or of all of it. Those of a large trace are asked for; until they
 * have come, and where nobody has them, they are of the whole map.
 */
export function createHeadPictures(context: TraceContext): (zoom: Zoom | null) => HeadPictures {
  const find = createLoading(context, "pictures", readAnswer);
  /** What has come of a large trace; null where its payload has all that can be had. */
  const asked = (site: Site, zoom: Zoom | null) => {
    const { trace } = context;
    const held = trace.header.sites[site.name]?.picture !== undefined;
    if ((held && !zoom) || !offers(context, "pictures")) return null;
    const [first, last, firstKey, lastKey] = zoom ?? wholeMap(site);
    const unit = trace.rows ? "words" : "pieces";
    const found = find(`${unit}/${site.name}/${first}-${last}.${firstKey}-${lastKey}`);
    return isAnswer(found) ? found : null;
  };
  return (zoom) => {
    const site = siteOf(context);
    const whole = wholeMap(site);
    if (!context.trace.heads) {
      const cells = zoom ?? whole;
      return { part: cells, of: (layer, head) => cut(site.picture(layer, head), cells) };
    }
    const answer = asked(site, zoom);
    if (!answer) return { part: whole, of: site.picture };
    const shape = [site.layers, site.heads, ...answer.size];
    return { part: zoom ?? whole, of: headPictures(shape, answer.codes, answer.masks) };
  };
}

/** A part of a picture that has every cell of its map. */
function cut(picture: Picture, [first, last, firstKey, lastKey]: Zoom): Picture {
  const rows = { first, count: last - first + 1 };
  const columns = { first: firstKey, count: lastKey - firstKey + 1 };
  const of = <Cells extends Uint8Array | Uint16Array>(cells: Cells) =>
    part(cells, picture.keys, rows, columns);
  return {
    queries: rows.count,
    keys: columns.count,
    weights: of(picture.weights),
    masked: of(picture.masked),
  };
}

function readAnswer(bytes: Uint8Array): Answer {
  const { header, array } = readEnvelope<{ picture: number[] }>(bytes);
  const [codes, masks] = ["pictures", "closed"].map((name) => array(name) as Uint8Array);
  return { size: header.picture, codes, masks };
}
