// failed.tsx - in place of something that could not be loaded
import { textOf } from "./messages";

export function Failed({ error }: { error: unknown }) {
  return <p class="failed" role="alert">{textOf(error)}</p>;
}
