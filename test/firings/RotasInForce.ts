import { isDeepStrictEqual } from "node:util"
import type { Incident } from "./IncidentModel.ts"
import { type Override, type Places, placesOf } from "./RotaModel.ts"
import { type Happening, type Story, TICK } from "./Story.ts"

type Rules = Pick<Story, "policy" | "receivers">

/** Who could be on call by the policy in force and the overrides. */
export class RotasInForce {
  places: Places
  readonly #overrides: Array<Override> = []

  constructor(rules: Rules, now: number) {
    this.places = this.#at(rules, now)
  }

  #at(rules: Rules, at: number): Places {
    const names = Object.keys(rules.policy.rotas ?? {})
    return new Map(names.map((name) => [name, placesOf(rules, this.#overrides, name, at)]))
  }

  /** Follows a moment. Returns whether something changed. */
  follow(rules: Rules, open: ReadonlyArray<Incident>, now: number): boolean {
    const places = this.#at(rules, now)
    if (isDeepStrictEqual(places, this.places)) return false
    this.places = places
    for (const { onCall } of open) onCall.follow(places, now)
    return true
  }

  /** Another policy decides about the past too, and another clock has other times. */
  repeat(rules: Rules, open: ReadonlyArray<Incident>, now: number): void {
    this.places = this.#at(rules, now)
    for (const { onCall, openedAt } of open) {
      const moments: Array<number> = []
      for (let at = Math.ceil(openedAt); at <= now; at += TICK) moments.push(at)
      onCall.repeat(moments, (at) => this.#at(rules, at))
    }
  }

  /** Begins an override, or ends one. */
  override(
    step: Extract<Happening, { step: "override" | "end_override" }>,
    { policy, receivers }: Rules,
    now: number,
  ): void {
    if (step.step === "end_override") {
      const override = this.#overrides[step.which % this.#overrides.length]
      if (override !== undefined) override.until = Math.min(override.until, now)
      return
    }
    const isKnown = step.receivers.every((name) => receivers.includes(name))
    if (policy.rotas?.[step.rota] === undefined || !isKnown) return
    const from = now + step.after
    this.#overrides.push({ ...step, from, until: from + step.lasts })
  }
}
