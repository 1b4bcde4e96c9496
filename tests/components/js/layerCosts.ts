/** Costs of the parts of a layer: a config on standard input, numbers on standard output. */

import { readFileSync } from "node:fs";
import { attentionCost, costsOf } from "../../../explorer/components/inside/js/costs.ts";

const {
  config,
  site,
  queries,
  keys,
}: {
  config: import("../../../explorer/components/inside/js/tokenPath.ts").Sizes;
  site: "encoder" | "decoder" | "cross";
  queries: number;
  keys: number;
} = JSON.parse(readFileSync(0, "utf8"));
const parts = costsOf(config, site, queries, keys);
const attention = attentionCost(config, site, queries, keys);
process.stdout.write(JSON.stringify({ parts, attention }));
