import { Effect, Fiber, type Scope } from "effect"
import { type Agent, enroll, type Event, eventOf, push } from "../processes/Agent.ts"
import type { Base } from "../processes/api.ts"
import { until } from "../processes/until.ts"
import type { Attempt, Submission } from "./judge.ts"

const AGENTS = 4
const CHECKS = ["disk", "load", "swap"]
/** Between the acknowledgement of a result and the next one of the same check. */
const PAUSE = "150 millis"
const BEFORE_RETRY = "100 millis"
/** How long a server may take until it acknowledges again. */
const PATIENCE = "90 seconds"

/** Agents whose checks change their status again and again. */
export interface Load {
  readonly submissions: ReadonlyArray<Submission>
  /** Waits until every server acknowledges a result sent after `moment`. Gives when the last one does. */
  readonly acknowledgedBy: (
    servers: ReadonlyArray<number>,
    moment: number,
  ) => Effect.Effect<number | undefined>
  /** Lets every check end with an acknowledged `ok`, if the servers let it. */
  readonly finish: Effect.Effect<void>
}

const APPLIED = /"accepted":1/

/** Sends a result once to a server, and tells what came of it. */
const attempt = Effect.fnUntraced(function* (base: Base, server: number, agent: Agent, event: Event) {
  const sentAt = performance.now()
  const answer: Attempt["answer"] = yield* push(base, agent, [event]).pipe(
    Effect.map(({ status, text }) => {
      if (status !== 202) return "refused"
      return APPLIED.test(text) ? "applied" : "repeated"
    }),
    Effect.catchTag("Unanswered", () => Effect.succeed("unanswered" as const)),
  )
  return { server, sentAt, answer, answeredAt: performance.now() }
})

const isAcknowledged = ({ answer }: Attempt): boolean => answer === "applied" || answer === "repeated"

/** Has agents report to servers in turn, each result until it is acknowledged. */
export const startLoad = Effect.fnUntraced(function* (
  servers: readonly [Base, ...ReadonlyArray<Base>],
): Effect.fn.Return<Load, never, Scope.Scope> {
  const agents = yield* Effect.forEach(Array.from({ length: AGENTS }), (_, n) =>
    enroll(servers[0], `agent-${n}`),
  )
  const submissions: Array<Submission> = []
  let isOver = false
  const flap = Effect.fnUntraced(function* (agent: Agent, check_id: string, first: number) {
    let next = first
    for (let turn = 0; !isOver || turn % 2 === 1; turn++) {
      const status = turn % 2 === 0 ? "critical" : "ok"
      const event = eventOf({ check_id, status })
      const attempts: Array<Attempt> = []
      submissions.push({ event_id: event.event_id, check: `${agent.agent_id}/${check_id}`, status, attempts })
      for (;;) {
        const server = next++ % servers.length
        const made = yield* attempt(servers[server] ?? servers[0], server, agent, event)
        attempts.push(made)
        if (isAcknowledged(made)) break
        yield* Effect.sleep(BEFORE_RETRY)
      }
      yield* Effect.sleep(PAUSE)
    }
  })
  const checks = agents.flatMap((agent) => CHECKS.map((check) => [agent, check] as const))
  const running = yield* Effect.forkScoped(
    Effect.forEach(checks, ([agent, check], n) => flap(agent, check, n), {
      concurrency: "unbounded",
      discard: true,
    }),
  )
  const acknowledgedBy = (wanted: ReadonlyArray<number>, moment: number) =>
    until(
      "every server acknowledges",
      Effect.sync(() => {
        const firsts = wanted.map((server) =>
          submissions
            .slice(-2 * checks.length * servers.length)
            .flatMap(({ attempts }) => attempts)
            .filter((one) => one.server === server && one.sentAt >= moment && isAcknowledged(one))
            .reduce((least, { answeredAt }) => Math.min(least, answeredAt), Infinity),
        )
        const last = Math.max(...firsts)
        return last === Infinity ? undefined : last
      }),
      "1 day",
    ).pipe(Effect.timeoutOrElse({ duration: PATIENCE, orElse: () => Effect.succeed(undefined) }))
  return {
    submissions,
    acknowledgedBy,
    finish: Effect.suspend(() => {
      isOver = true
      return Effect.asVoid(Effect.timeoutOption(Fiber.join(running), PATIENCE))
    }),
  }
})
