import { AgentId, CheckId, EventId } from "@tocsin/contract/formats/Identifiers"
import * as Instant from "@tocsin/contract/formats/Instant"
import type { CheckStatus } from "@tocsin/contract/formats/Status"
import type { Ingest } from "@tocsin/core/heart/usecases/Ingest"
import { Effect, Redacted } from "effect"
import { agentKey, agentName, AGENTS, CHECKS, eventId } from "./Year.ts"

/**
 * Heartbeats and batches of all checks are thinned out to one in so many hours, and the thresholds of the year's
 * process are longer. Every change of a status is reported at its own time.
 */
const REPORT_HOURS = 4
const HOUR = 3_600_000
const MINUTE = 60_000
const ROUND = REPORT_HOURS * HOUR
const [WEEK_HOURS, MONTH_HOURS] = [168, 720]

const FAILURES_OF_CHECK_PER_WEEK = 1
const MEAN_FAILURE_MINUTES = 6
const FLAPS = { share: 0.02, times: 5, minutes: 2 }
const REBOOTS = { ofHostPerMonth: 1, checks: 4, minutes: 2 }
/** Switched off together once a month, for longer than the dead threshold. */
const OUTAGE = { hosts: 20, hours: 12 }

/** One host of the year: what happens to it, and what its agent reports. */
export class Host {
  readonly #statuses: Array<CheckStatus> = Array.from({ length: CHECKS }, () => "ok")
  readonly #agentId: AgentId
  readonly #key: Redacted.Redacted
  readonly #ingest: Ingest["Service"]
  readonly #index: number
  #events = 0

  constructor(index: number, ingest: Ingest["Service"]) {
    this.#index = index
    this.#ingest = ingest
    this.#agentId = AgentId.make(agentName(index))
    this.#key = Redacted.make(agentKey(index))
  }

  readonly heartbeat = Effect.suspend(() =>
    Effect.flatMap(Instant.now, (observed_at) =>
      this.#ingest.heartbeat(this.#key, {
        agent_id: this.#agentId,
        observed_at,
        hostname: `${this.#agentId}.site.example.org`,
        features: { push: true, metrics: false },
        labels: { os: "linux", site: `site-${this.#index % 10}` },
      }),
    ),
  )

  /** Reports for so many hours. */
  readonly live = Effect.fnUntraced(function* (this: Host, hours: number) {
    yield* Effect.sleep((ROUND * this.#index) / AGENTS)
    for (let hour = 0; hour < hours; hour += REPORT_HOURS) {
      const begun = Number(yield* Instant.now) / 1_000
      const until = (at: number) =>
        Effect.flatMap(Instant.now, (now) => Effect.sleep(Math.max(0, begun + at - Number(now) / 1_000)))
      if (!this.#isOff(hour)) {
        yield* this.heartbeat
        yield* this.#report(Array.from(this.#statuses.keys()))
        for (const { at, check, status } of this.#changes()) {
          yield* until(at)
          this.#statuses[check] = status
          yield* this.#report([check])
        }
      }
      yield* until(ROUND)
    }
  }, Effect.orDie)

  #isOff(hour: number): boolean {
    const first = (Math.floor(hour / MONTH_HOURS) * OUTAGE.hosts) % AGENTS
    const since = (hour % MONTH_HOURS) - MONTH_HOURS / 2
    const isOneOfThem = this.#index >= first && this.#index < first + OUTAGE.hosts
    return isOneOfThem && since >= 0 && since < OUTAGE.hours
  }

  /** The changes until the next report of all checks, in order. */
  #changes() {
    const changes: Array<{ readonly at: number; readonly check: number; readonly status: CheckStatus }> = []
    const fail = (at: number, check: number, minutes: number) => {
      const end = Math.min(ROUND - 1, at + minutes * MINUTE)
      changes.push({ at, check, status: Math.random() < 0.3 ? "warning" : "critical" })
      changes.push({ at: end, check, status: "ok" })
    }
    for (let check = 0; check < CHECKS; check++) {
      if (Math.random() >= (FAILURES_OF_CHECK_PER_WEEK * REPORT_HOURS) / WEEK_HOURS) continue
      const at = Math.random() * 0.9 * ROUND
      if (Math.random() >= FLAPS.share) fail(at, check, -Math.log(1 - Math.random()) * MEAN_FAILURE_MINUTES)
      else
        for (let time = 0; time < FLAPS.times; time++)
          fail(at + 2 * time * FLAPS.minutes * MINUTE, check, FLAPS.minutes)
    }
    if (Math.random() < (REBOOTS.ofHostPerMonth * REPORT_HOURS) / MONTH_HOURS)
      for (let check = 0; check < REBOOTS.checks; check++) fail(0.9 * ROUND, check, REBOOTS.minutes)
    return changes.toSorted((a, b) => a.at - b.at)
  }

  readonly #report = Effect.fnUntraced(function* (this: Host, checks: ReadonlyArray<number>) {
    const observed_at = yield* Instant.now
    const events = checks.map((check) => {
      const status = this.#statuses[check] ?? "ok"
      return {
        event_id: EventId.make(eventId(observed_at / 1_000n, this.#index, this.#events++)),
        check_id: CheckId.make(`check-${check}`),
        observed_at,
        status,
        exit_code: status === "ok" ? 0 : 2,
        duration_ms: 12,
        output: `PING ${status.toUpperCase()} - packet loss 0%, RTA 0.${this.#events % 4_096} ms, of ${this.#agentId}`,
        output_truncated: false,
        notifications_enabled: true,
      }
    })
    yield* this.#ingest.events(this.#key, { agent_id: this.#agentId, events })
  })
}
