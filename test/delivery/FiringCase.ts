import { assert } from "@effect/vitest"
import type { Severity } from "@tocsin/contract/formats/Status"
import { compilePolicy } from "@tocsin/core/heart/policy/compilePolicy"
import { readPolicy } from "@tocsin/core/lists/readPolicy"
import { START_MILLIS } from "@tocsin/testing/samples"
import { Duration, Effect, Random, Result } from "effect"
import { AGENT, enroll, report, type Result as Reported } from "../service/agents.ts"
import { openService, type Process, type ProcessOptions } from "../service/Service.ts"
import { settled } from "../service/settled.ts"

/** The receivers of every case. */
const NAMES = ["chat", "mail", "pager"]

export const documentOf = (document: object) => Result.getOrThrow(readPolicy(document, NAMES))

/** Retries follow the schedule exactly. */
const noJitter = Random.Random.of({ nextIntUnsafe: () => 0, nextDoubleUnsafe: () => 0.5 })

/** Opens a service under a policy, with the words of a case about one incident of the key `shared`. */
export const openFiringCase = Effect.fnUntraced(
  function* (document: object, options: ProcessOptions = {}) {
    const service = yield* openService({ notifiers: NAMES, deadAfter: Duration.days(365) })
    let opened = 0
    const open = Effect.fnUntraced(function* (under: object) {
      const name = `process ${(opened += 1)}`
      const rules = { policy: documentOf(under) }
      const process = yield* service.open(name, { keepsHouse: true, rules, ...options })
      yield* settled
      return process
    })
    let running: Process = yield* open(document)
    yield* enroll(running, AGENT)

    const after = (duration: Duration.Input) => Effect.andThen(service.passes(duration), settled)
    const reports = (...results: ReadonlyArray<Reported>) =>
      Effect.suspend(() =>
        report(
          running,
          results.map((result) => ({ key: "shared", ...result })),
        ),
      ).pipe(Effect.orDie, Effect.andThen(settled))
    const incident = () => Array.from(service.rows().incidents.values()).at(-1) ?? assert.fail("no incident")
    /** Arrivals as `minute: receiver cause severity`, ordered by time, then by name. */
    const messages = () =>
      service.receivers.arrivals
        .map(({ at, notification: { cause, event_type, receiver, severity } }) => {
          const minutes = Math.floor((Number(at) / 1_000 - START_MILLIS) / 60_000)
          return { minutes, text: `${minutes} min: ${receiver} ${cause ?? event_type} ${severity}` }
        })
        .toSorted((a, b) => a.minutes - b.minutes || (a.text < b.text ? -1 : 1))
        .map(({ text }) => text)

    return {
      service,
      after,
      reports,
      incident,
      messages,
      /** One result of the check `disk`, unless another one is named. */
      turns: (status: Reported["status"], more: Partial<Reported> = {}) =>
        reports({ check: "disk", status, ...more }),
      acknowledges: (minutes: number, severity?: Severity) =>
        Effect.suspend(() =>
          running.operations.acknowledge(incident().id, {
            for: Duration.minutes(minutes),
            ...(severity !== undefined && { severity }),
          }),
        ).pipe(Effect.orDie, Effect.andThen(settled)),
      silences: (check: string, minutes: number) =>
        Effect.suspend(() =>
          running.operations.silence({
            matchers: [{ field: "check_id", op: "=", value: check }],
            for: Duration.minutes(minutes),
            comment: "a new disk",
          }),
        ).pipe(Effect.orDie, Effect.andThen(settled)),
      follows: (other: object) =>
        Effect.suspend(() => running.policy.replace(compilePolicy(documentOf(other), NAMES))).pipe(
          Effect.andThen(settled),
        ),
      /** Shuts the service down for that long. */
      isDownFor: Effect.fnUntraced(function* (duration: Duration.Input) {
        yield* running.close
        yield* after(duration)
        running = yield* open(document)
      }),
      firings: (receiver: string) =>
        Array.from(service.rows().outbox.values()).filter(
          (item) => item.receiver === receiver && item.event_type === "firing",
        ),
    }
  },
  Effect.provideService(Random.Random, noJitter),
)
