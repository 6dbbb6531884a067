import { DECLARATION_SIZE_RULE, MAX_EXPECTATIONS } from "./Expectations.ts"
import { MAX_LABELS, TOO_MANY_LABELS } from "./Labels.ts"
import { BATCH_SIZE_RULE, MAX_EVENTS } from "./Requests.ts"

/** The fields of bodies whose entries are counted before they are read, and the refusal of more. */
export const sizeRules = {
  events: { most: MAX_EVENTS, message: `events ${BATCH_SIZE_RULE}` },
  labels: { most: MAX_LABELS, message: `labels ${TOO_MANY_LABELS}` },
  checks: { most: MAX_EXPECTATIONS, message: `checks ${DECLARATION_SIZE_RULE}` },
}
