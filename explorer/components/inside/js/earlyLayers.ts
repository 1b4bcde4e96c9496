import { readEnvelope } from "../../page/js/envelope.ts";
import type { TokenPath } from "./tokenPath.ts";

/** The first tokens after one layer of the decoder, if it were the last. */
export type EarlyLayer = Pick<TokenPath, "early" | "counts">;

/** Those of all layers of a model of the library, in the format of `inside/payload.py`. */
export interface EarlyLayers {
  layers: EarlyLayer[];
}

export function readEarlyLayers(bytes: Uint8Array): EarlyLayers {
  const { header, array } = readEnvelope<{
    early: string[][][]; // by layer and query
    counts: TokenPath["counts"];
  }>(bytes);
  const { early, counts } = header;
  const shares = array("early") as Float32Array; // (layer, query, rank)
  const layers = early.map((ofLayer, layer) => ({
    counts,
    early: (query: number) => {
      const labels = ofLayer[query] ?? [];
      const start = (layer * counts.queries + query) * labels.length;
      return labels.map((label, rank) => ({ label, probability: shares[start + rank] }));
    },
  }));
  return { layers };
}
