import type { Policy } from "../firings/Story.ts"
import type { Member } from "./Named.ts"
import { Rotas } from "./Rotas.ts"

/** A silence, in seconds of the night. */
export interface Silence {
  readonly match: ReadonlyArray<string>
  from: number
  to: number
}

const DAY = 86_400
const SETTLE = 120
const STALE = 120

/** The facts that all incidents of a night share. */
export class World {
  readonly policy: Policy
  readonly rotas: Rotas
  readonly receivers: ReadonlyArray<string>
  readonly every: ReadonlyArray<string>
  readonly silences: Array<Silence> = []
  readonly outages: Array<{ readonly from: number; readonly to: number }> = []
  readonly delays: ReadonlyArray<number>
  readonly reminds: ReadonlyArray<number>
  #begins: number
  readonly opened: Array<{ readonly key: string; readonly at: number }> = []
  /** Whether a result is being applied. */
  isEvent = false
  /** The number of the last report. */
  batch = 0

  constructor(policy: Policy, receivers: ReadonlyArray<string>, begins: string) {
    this.policy = policy
    this.receivers = receivers
    this.rotas = new Rotas(policy.rotas ?? {}, begins)
    this.every = this.rotas.everyReceiver(receivers)
    this.#begins = Date.parse(begins) / 1_000
    const routes = policy.routes ?? []
    this.delays = routes.flatMap(({ after = 0, flapping, steps = [] }) => [
      after,
      ...(flapping ? [flapping.after] : []),
      ...steps.map((step) => Math.max(after, step.after ?? 0)),
      ...(flapping ? steps.map((step) => Math.max(flapping.after, step.after ?? 0)) : []),
    ])
    this.reminds = routes.flatMap(({ remind }) => (remind === undefined ? [] : [remind]))
  }

  get againAfter(): number {
    return this.policy.again_after ?? 600
  }
  get hasRoutes(): boolean {
    return this.policy.routes !== undefined || this.policy.rotas !== undefined
  }

  /** How often a key opened, up to the opening of an incident. */
  openings(key: string, at: number, within: number): number {
    return this.opened.filter((one) => one.key === key && one.at <= at && one.at > at - within).length
  }

  isMuted(
    { key, members }: { readonly key: string; readonly members: ReadonlyMap<string, Member> },
    at: number,
  ): boolean {
    const loud = Array.from(members.values()).filter(({ isLoud }) => isLoud)
    const inForce = this.silences.filter(({ from, to }) => from <= at && at < to)
    const covers = (match: ReadonlyArray<string>, agent: string, check: string) =>
      match.every((one) => {
        const [field, , value] = one.split(" ")
        return value === { agent_id: agent, check_id: check, incident_key: key }[field ?? ""]
      })
    return (
      loud.length > 0 &&
      loud.every(({ agent, check }) => inForce.some(({ match }) => covers(match, agent, check)))
    )
  }

  isQuiet(receiver: string, announced: number, at: number): boolean {
    const quiet = this.policy.quiet?.[receiver]
    if (quiet === undefined || announced >= (quiet.below === "critical" ? 3 : 2)) return false
    const second = (this.#begins + at) % DAY
    return quiet.from < quiet.to
      ? quiet.from <= second && second < quiet.to
      : second >= quiet.from || second < quiet.to
  }

  /** Whether a moment lies in an outage, or in the two minutes after one. */
  isOut(at: number): boolean {
    return this.outages.some(({ from, to }) => to - from > STALE && from <= at && at < to + SETTLE)
  }

  /** The clock shows less by so many seconds: what people set comes later. Says whether others are on call. */
  setBack(at: number, by: number): boolean {
    const onCall = () => JSON.stringify(this.rotas.names.map((name) => this.rotas.base(name, at)))
    const before = onCall()
    this.#begins -= by
    this.rotas.setBack(by)
    for (const one of [...this.silences, ...this.rotas.overrides]) {
      one.from += by
      one.to += by
    }
    return onCall() !== before
  }

  *moments(until: number): Generator<number> {
    for (const { from, to } of this.silences) yield* [from, to]
    for (const { to } of this.outages) yield to + SETTLE
    for (const { from, to } of this.rotas.overrides) yield* [from, to]
    for (const { from, to } of Object.values(this.policy.quiet ?? {}))
      for (const edge of [from, to])
        for (let at = edge - (this.#begins % DAY) - DAY; at <= until; at += DAY) yield at
    yield* this.rotas.changes(until)
  }
}
