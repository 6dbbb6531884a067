import type { OverrideId } from "@tocsin/contract/Identifiers"
import { format } from "@tocsin/contract/Instant"
import type { RotaOverrideRecord } from "@tocsin/core/model/RotaOverrideRecord"
import { createOverride, endOverride } from "@tocsin/core/onCall/overrideDecisions"
import { lackedBy } from "@tocsin/core/policy/rotaWarnings"
import { Result } from "effect"
import type { OverrideAct } from "./readLines.ts"
import { simulatedSignature } from "./registrationOf.ts"
import type { SimulatedService } from "./SimulatedService.ts"

/** The overrides of a simulation, by the names that the input gives them. */
export class SimulatedOverrides {
  readonly #service: SimulatedService
  readonly #created = new Map<string, RotaOverrideRecord>()

  constructor(service: SimulatedService) {
    this.#service = service
  }

  /** Does what a line states. Fails with the reason if it is impossible. */
  apply(act: OverrideAct): Result.Result<void, string> {
    const { override: name, received_at: at } = act
    const before = this.#created.get(name)
    if ("create" in act) {
      return before === undefined
        ? this.#create(act)
        : Result.fail(`a line before creates an override that is named ${name}: choose another name`)
    }
    if (before === undefined)
      return Result.fail(`no line before creates an override that is named ${name}: create it first`)
    const by = simulatedSignature(act.end.by)
    return this.#service.act(endOverride(before.rota, before.id, by), at) > 0
      ? Result.void
      : Result.fail(`the override ${name} has ended before ${format(at)}: create another one`)
  }

  #create({
    create: { by, ...asked },
    override: name,
    received_at: at,
  }: Extract<OverrideAct, { readonly create: unknown }>): Result.Result<void, string> {
    const lacking = lackedBy(this.#service.policy, asked)
    if (lacking.length > 0) return Result.fail(`the policy lacks ${lacking.join(", ")}: add that`)
    const override = { note: undefined, ...asked, id: this.#service.newId<OverrideId>(at) }
    const created = this.#service.act(createOverride(override, simulatedSignature(by)), at)
    if (Result.isFailure(created)) return Result.fail(created.failure.message)
    this.#created.set(name, created.success)
    return Result.void
  }
}
