import { isTwiceIncident } from "@tocsin/core/heart/deadAgents/twiceIncident"
import { eachPage, OPEN_INCIDENTS } from "@tocsin/core/kernel/engine/lists/readPage"
import { Storage } from "@tocsin/core/kernel/ports/Storage"
import { Effect } from "effect"
import { attention, type Finding } from "./Finding.ts"

/** The agents whose key two agents use (docs/rules.md#two-agents-with-one-key). */
export const examineTwice = Effect.gen(function* () {
  const findings: Array<Finding> = []
  yield* eachPage(yield* Storage, OPEN_INCIDENTS, (incidents) => {
    for (const { agent_id, summary = "", ...incident } of incidents)
      if (isTwiceIncident(incident))
        findings.push(attention(`agent ${agent_id}`, `give one of two hosts its own key: ${summary}`))
    return Effect.void
  })
  return findings
})
