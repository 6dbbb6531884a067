import type { OverrideId } from "@tocsin/contract/onCall/Rotas"
import { format } from "@tocsin/contract/formats/Instant"
import type { RotaOverrideRecord } from "@tocsin/core/heart/model/RotaOverrideRecord"
import { createOverride, endOverride } from "@tocsin/core/features/onCall/overrideDecisions"
import { lackedBy } from "@tocsin/core/features/onCall/rotaWarnings"
import { Result } from "effect"
import type { OverrideAct } from "./readLines.ts"
import { simulatedSignature } from "./registrationOf.ts"
import type { SimulatedService } from "./SimulatedService.ts"

/**
 * Returns a function that creates and ends the overrides of a simulation, by the names that the input gives them. An
 * impossible act fails with its reason.
 */
export const simulatedOverrides = (service: SimulatedService) => {
  const created = new Map<string, RotaOverrideRecord>()
  return (act: OverrideAct): Result.Result<void, string> => {
    const { override: name, received_at: at } = act
    const before = created.get(name)
    if ("end" in act) {
      if (before === undefined)
        return Result.fail(`no line before creates an override that is named ${name}: create it first`)
      const by = simulatedSignature(act.end.by)
      return service.act(endOverride(before.rota, before.id, by), at) > 0
        ? Result.void
        : Result.fail(`the override ${name} has ended before ${format(at)}: create another one`)
    }
    if (before !== undefined)
      return Result.fail(`a line before creates an override that is named ${name}: choose another name`)
    const { by, ...asked } = act.create
    const lacking = lackedBy(service.policy, asked)
    if (lacking.length > 0) return Result.fail(`the policy lacks ${lacking.join(", ")}: add that`)
    const override = { note: undefined, ...asked, id: service.newId<OverrideId>(at) }
    return Result.mapBoth(service.act(createOverride(override, simulatedSignature(by)), at), {
      onSuccess: (made) => void created.set(name, made),
      onFailure: ({ message }) => message,
    })
  }
}
