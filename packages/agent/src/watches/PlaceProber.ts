import { fieldsOf, parsedJson } from "@tocsin/reporting/agent/Answer"
import type { CheckReport } from "@tocsin/reporting/agent/CheckReport"
import type { Admission } from "@tocsin/reporting/agent/Submission"
import type { Clock } from "@tocsin/reporting/agent/ServerTime"
import { CheckRunner, type RunnerOptions } from "../checks/CheckRunner.ts"
import { runProbe } from "../checks/startCheck.ts"
import type { AskedWatches, AskingWatches } from "../sending/httpTransport.ts"
import { TIMES } from "@tocsin/contract/watches/watchOptions"
import { placeChecks, placeOutput } from "./placeChecks.ts"
import type { PlaceRules } from "./PlaceRules.ts"

const ASKS_EVERY_MILLIS = 30_000
/** How soon it is noticed that the agent was accepted. */
const LOOK_MILLIS = 1_000
/** How long a place goes on while no server answers. */
const GOES_ON_MILLIS = 3_600_000
const PARALLEL = 16

const NOTHING: ReadonlyArray<unknown> = []

/** An address whose connection nobody else reads. */
const isConfidential = (server: string): boolean =>
  /^https:/i.test(server) || /^http:\/\/(?:localhost|127\.[\d.]+|\[::1\])(?:[:/]|$)/i.test(server)

interface Options extends Pick<RunnerOptions, "lastOf"> {
  readonly clock: Clock
  readonly ask: (asking: Omit<AskingWatches, "key">) => Promise<AskedWatches>
  /** The agent as its configuration has it, and what its servers said of its key. */
  readonly agent: () => {
    readonly agentId: string
    readonly servers: ReadonlyArray<string>
    readonly admission: Admission
    readonly place: PlaceRules | undefined
  }
  readonly report: (report: CheckReport) => void
}

/** Asks a server which watches to probe, and probes them (docs/rules.md#places). Keeps nothing on the disk. */
export class PlaceProber {
  readonly #options: Options
  readonly #runner: CheckRunner
  #timer: NodeJS.Timeout | undefined
  #isStopped = false
  #answeredAt = 0
  #tag: string | undefined
  #items = NOTHING
  #checks: ReturnType<typeof placeChecks> = new Map()
  #rules: PlaceRules | undefined
  #agentId = ""

  constructor(options: Options) {
    this.#options = options
    const { clock, lastOf, report } = options
    this.#runner = new CheckRunner({
      clock,
      lastOf,
      report,
      keep: () => {},
      skipped: () => {},
      start: (check) => {
        const planned = this.#checks.get(check.id)
        const { timeoutMillis, work } = planned ?? check
        if (work.kind !== "probe") throw new Error("a place runs no commands")
        const run = runProbe(work.probe, { timeoutMillis, clock })
        const outcome = run.outcome.then((found) =>
          planned === undefined ? found : { ...found, output: placeOutput(planned, found.output) },
        )
        return { ...run, outcome }
      },
    })
  }

  start(): void {
    void this.#look()
  }

  /** Takes another configuration: its rules count immediately. */
  reconfigure(): void {
    this.#tag = undefined
    this.#take(this.#items)
  }

  async stop(): Promise<void> {
    this.#isStopped = true
    clearTimeout(this.#timer)
    await this.#runner.stop()
  }

  async #look(): Promise<void> {
    const { admission, place: rules } = this.#options.agent()
    let wait = LOOK_MILLIS
    const isRefused = admission !== "accepted" && admission !== "unknown"
    if (rules === undefined || isRefused) this.#take(NOTHING)
    else if (admission === "accepted") {
      await this.#ask()
      wait = ASKS_EVERY_MILLIS
    }
    if (this.#options.clock.steady() - this.#answeredAt > GOES_ON_MILLIS) this.#take(NOTHING)
    if (!this.#isStopped) this.#timer = setTimeout(() => void this.#look(), wait)
  }

  /** Asks the servers until one answers. */
  async #ask(): Promise<void> {
    const { ask, agent, clock } = this.#options
    const { agentId, servers } = agent()
    for (const server of servers) {
      const asking = { server, agentId, secrets: isConfidential(server), tag: this.#tag }
      const answer = await ask(asking).catch(() => undefined)
      const items = answer && itemsOf(answer)
      if (answer === undefined || items === undefined) continue
      this.#answeredAt = clock.steady()
      if (items === "unchanged") return
      this.#tag = answer.tag
      return this.#take(items)
    }
  }

  #take(items: ReadonlyArray<unknown>): void {
    if (this.#isStopped) return
    const { agentId, place: rules } = this.#options.agent()
    if (items.length === 0) this.#tag = undefined
    if (items === this.#items && rules === this.#rules && agentId === this.#agentId) return
    this.#items = items
    this.#rules = rules
    this.#agentId = agentId
    this.#checks = rules === undefined ? new Map() : placeChecks(items, rules)
    const apartMillis = TIMES.every.min
    this.#runner.plan({ agentId, checks: this.#checks, maxParallel: PARALLEL, apartMillis })
  }
}

/** The key is refused, or the server is older and knows no places. */
const REFUSALS: ReadonlySet<number> = new Set([401, 403, 404])

/** The watches of an answer; `undefined` for one that no server of Tocsin gives. */
const itemsOf = ({ body, status }: AskedWatches): ReadonlyArray<unknown> | "unchanged" | undefined => {
  if (status === 304) return "unchanged"
  if (REFUSALS.has(status)) return NOTHING
  const { items } = fieldsOf(parsedJson(body))
  return status === 200 && Array.isArray(items) ? items : undefined
}
