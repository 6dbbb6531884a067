import { Result } from "effect"
import { acknowledgedUntil } from "@tocsin/core/acknowledgements/acknowledgedUntil"
import { format } from "@tocsin/contract/Instant"
import type { RuleOptions } from "@tocsin/core/ports/RuleSettings"
import type { IncidentLogEntry } from "./readLog.ts"
import type { SimulatedService } from "./SimulatedService.ts"
import { simulatedSignature } from "./simulatedSignature.ts"

/** Does what a line states about an incident. Fails with the reason if it is impossible. */
export const applyIncidentAct = (
  service: SimulatedService,
  act: IncidentLogEntry,
  rules: RuleOptions,
): Result.Result<void, string> => {
  const { incident_key: key, received_at: at } = act
  const when = format(at)
  if ("withdraw" in act) {
    if (service.withdraw(act, simulatedSignature(act.withdraw.by), at) > 0) return Result.void
    return Result.fail(
      `no open incident of ${key} is acknowledged at ${when}: withdraw what a line before acknowledges`,
    )
  }
  const { by: name, note, severity, ...end } = act.acknowledge
  const until = acknowledgedUntil(end, rules, at)
  if (Result.isFailure(until)) return Result.fail(until.failure)
  const results = service.acknowledge(
    act,
    { by: simulatedSignature(name), note, severity, until: until.success },
    at,
  )
  if (results.length === 0)
    return Result.fail(`no incident of ${key} is open at ${when}: acknowledge it while it is open`)
  for (const result of results) {
    if (result.outcome === "another_severity")
      return Result.fail(`the severity of ${key} is ${result.severity} at ${when}: name this one, or none`)
  }
  return Result.void
}
