import { Result } from "effect"
import type { SilenceId } from "@tocsin/contract/Identifiers"
import { format } from "@tocsin/contract/Instant"
import type { RuleOptions } from "@tocsin/core/ports/RuleSettings"
import { createSilence, editSilence, expireSilence } from "@tocsin/core/silences/silenceDecisions"
import type { SilenceAct } from "./readLog.ts"
import type { SimulatedService } from "./SimulatedService.ts"
import type { HeldBy } from "./SimulationListener.ts"
import { simulatedSignature } from "./simulatedSignature.ts"

/** The silences of a simulation, by the names that the input gives them. */
export class SimulatedSilences {
  readonly #service: SimulatedService
  readonly #rules: RuleOptions
  readonly #ids = new Map<string, SilenceId>()
  /** By what withholds a firing. */
  readonly #names = new Map<HeldBy[number], HeldBy[number]>()

  constructor(service: SimulatedService, rules: RuleOptions) {
    this.#service = service
    this.#rules = rules
  }

  /** Does what a line states. Fails with the reason if it is impossible. */
  apply(act: SilenceAct): Result.Result<void, string> {
    const { received_at: at, silence: name } = act
    const id = this.#ids.get(name)
    if ("add" in act) {
      return id === undefined
        ? this.#add(act)
        : Result.fail(`a line before adds a silence that is named ${name}: choose another name`)
    }
    if (id === undefined)
      return Result.fail(`no line before adds a silence that is named ${name}: add it first`)
    if ("expire" in act) {
      const count = this.#service.silence(expireSilence(id, simulatedSignature(act.expire.by)), at)
      return count > 0 ? Result.void : hasEnded(act)
    }
    const { by, ...changes } = act.extend
    const edited = this.#service.silence(editSilence(id, changes, this.#rules, simulatedSignature(by)), at)
    switch (edited.outcome) {
      case "edited":
        return Result.void
      case "invalid":
        return Result.fail(edited.message)
      case "ended":
      case "unknown":
        return hasEnded(act)
    }
  }

  /** The holds of a firing, with the names of silences instead of their IDs. */
  named(heldBy: HeldBy): HeldBy {
    return heldBy.map((by) => this.#names.get(by) ?? by)
  }

  #add({
    add: { by, comment, matchers, ...times },
    received_at: at,
    silence: name,
  }: Extract<SilenceAct, { readonly add: unknown }>): Result.Result<void, string> {
    const id = this.#service.newSilenceId(at)
    const silence = { id, matchers, comment, ...times }
    const added = this.#service.silence(createSilence(silence, this.#rules, simulatedSignature(by)), at)
    if (Result.isFailure(added)) return Result.fail(added.failure.message)
    this.#ids.set(name, id)
    this.#names.set(`silence:${id}`, `silence:${name}`)
    return Result.void
  }
}

const hasEnded = ({ received_at, silence }: SilenceAct) =>
  Result.fail(`the silence ${silence} has ended before ${format(received_at)}: add another one`)
