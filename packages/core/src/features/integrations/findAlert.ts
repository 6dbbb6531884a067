import { Effect } from "effect"
import type { AgentId, CheckId } from "@tocsin/contract/formats/Identifiers"
import { ALL_CHECKS, eachPage } from "../../kernel/engine/lists/readPage.ts"
import type { Storage } from "../../kernel/ports/Storage.ts"

/** Finds the check of an alert, page by page: senders seldom name an alert by its ID. */
export const findAlert = Effect.fnUntraced(function* (
  storage: Storage["Service"],
  agent_id: AgentId,
  isNamed: (check_id: CheckId) => boolean,
) {
  let found: CheckId | undefined
  yield* eachPage(storage, { ...ALL_CHECKS, filter: { agent_id } }, (rows) => {
    found = rows.find(({ check_id }) => isNamed(check_id))?.check_id
    return found === undefined
  })
  return found
})
