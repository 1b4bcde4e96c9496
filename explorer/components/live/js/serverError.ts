import { ModelError } from "../../browser_model/js/modelError.ts";

/** Why the server answers nothing, whatever the text; `key` names the sentence in `live.toml`. */
export class ServerError extends ModelError {}

/** @param name of the model that was asked */
export function statusError(status: number, name: string) {
  if (status === 404) return new ServerError("model_deleted", { name });
  if (status === 429) return new ServerError("server_busy");
  return new ServerError("server_refused", { status });
}
