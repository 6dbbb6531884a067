import * as MemoryStorage from "@tocsin/adapter-memory/MemoryStorage"
import type { CheckRecord } from "@tocsin/core/heart/model/CheckRecord"
import type { CheckResultEvent } from "@tocsin/contract/v1/Requests"
import { CheckId } from "@tocsin/contract/formats/Identifiers"
import * as Instant from "@tocsin/contract/formats/Instant"
import { CheckStatus } from "@tocsin/contract/formats/Status"
import type { RowRequest } from "@tocsin/core/kernel/unitOfWork/RowRequest"
import { Storage } from "@tocsin/core/kernel/ports/Storage"
import { assert, describe, it } from "@effect/vitest"
import { Context, Effect, Layer, Redacted } from "effect"
import { eventId } from "@tocsin/testing/samples"
import { propertyRuns } from "@tocsin/testing/propertyRuns"
import type { EventsAction } from "./Action.ts"
import { askingStorage } from "./askingStorage.ts"
import { AGENTS, enrollment, KEYS, life, SIZE, type Step } from "./Scenario.ts"
import { driveService } from "./DrivenService.ts"

const arbitrary = { runs: propertyRuns(60), size: SIZE, maxShrinks: 1_000 }

const driveAskingService = Effect.gen(function* () {
  const memory = Context.get(yield* Layer.build(Layer.fresh(MemoryStorage.layer)), Storage)
  const { storage, takeAsked } = askingStorage(memory)
  return { driven: yield* driveService({ storage }), takeAsked }
})

/** An event with a new ID that repeats a check's present result. */
const sameAs = (check: CheckRecord, number: number): CheckResultEvent => ({
  event_id: eventId(9_000_000 + number),
  check_id: check.check_id,
  // In order: at the same moment, or a microsecond later.
  observed_at: Instant.fromMicros(check.last_observed_at + BigInt(number % 2)),
  status: check.status,
  exit_code: check.exit_code,
  duration_ms: 1,
  output_truncated: false,
  notifications_enabled: true,
  ...(check.summary !== undefined && { output: check.summary }),
})

/** A late event that would change the status. */
const lateFor = (check: CheckRecord, number: number): CheckResultEvent => ({
  ...sameAs(check, number),
  observed_at: Instant.fromMicros(check.last_observed_at - 1n),
  status: check.status === "ok" ? "critical" : "ok",
})

/** An event that changes the status of its check, or its exit code, or only its headline. */
const changeOf = (check: CheckRecord, number: number): CheckResultEvent => {
  const same = sameAs(check, number)
  const statuses = CheckStatus.literals.filter((status) => status !== check.status)
  const status = statuses[number % statuses.length] ?? check.status
  return number % 4 === 3
    ? { ...same, output: `line ${number}`, exit_code: (check.exit_code + (number % 2)) % 256 }
    : { ...same, status, output: `line ${number}` }
}

interface Judged {
  /** The requests after the one that recognises the agent. */
  readonly asked: ReadonlyArray<RowRequest>
  readonly reply: unknown
  readonly count: number
}
type Judge = (judged: Judged) => void

describe("a batch requests", () => {
  /**
   * Plays steps, lets every accepted agent make contact, and sends one batch for all checks of
   * each.
   */
  const sendForAll = Effect.fnUntraced(function* (
    steps: ReadonlyArray<Step>,
    eventFor: (check: CheckRecord, number: number) => CheckResultEvent,
    judge: Judge,
  ) {
    const { driven, takeAsked } = yield* driveAskingService
    yield* driven.play([...enrollment, ...steps])
    const hashes = new Map(KEYS.map((key) => [driven.hashing.identify(Redacted.make(key)).key_hash, key]))
    for (const agent_id of AGENTS) {
      const agent = Array.from(driven.rows().agents.values()).find((row) => row.agent_id === agent_id)
      const key = agent?.accepted_key_hash && hashes.get(agent.accepted_key_hash)
      const checks = Array.from(driven.rows().checks.values()).filter((row) => row.agent_id === agent_id)
      if (agent === undefined || key === undefined || checks.length === 0) continue
      yield* driven.play([{ step: "heartbeat", agent_id, key, lagSeconds: 0, hostname: "h1" }])
      const request = { agent_id: agent.agent_id, events: checks.map(eventFor) }
      takeAsked()
      const { reply } = yield* driven.perform<EventsAction>({ action: "events", key, request })
      const check_ids = checks.map((check) => check.check_id)
      const [recognised, ...asked] = takeAsked()
      assert.deepStrictEqual(recognised, {
        agents: [agent.agent_id],
        checks: { agent_id: agent.agent_id, check_ids },
      })
      judge({ asked, reply, count: checks.length })
    }
  })

  const nothingElse: Judge = ({ asked, count, reply }) => {
    assert.deepStrictEqual(reply, { accepted: 0, deduplicated: count })
    assert.deepStrictEqual(asked, [])
  }

  it.effect.prop(
    "only its agent and checks, once, when its results are identical",
    { steps: life },
    ({ steps }) => sendForAll(steps, sameAs, nothingElse),
    { arbitrary },
  )

  it.effect.prop(
    "no more when its results are late",
    { steps: life },
    ({ steps }) => sendForAll(steps, lateFor, nothingElse),
    { arbitrary },
  )

  // `likelyNeeded` repeats conditions of `applyEvent` and what it calls: this holds both together.
  it.effect.prop(
    "all that its changes need at once, but the worst members of an incident that gets milder",
    { steps: life },
    ({ steps }) =>
      sendForAll(steps, changeOf, ({ asked: [, ...later] }) => {
        assert.deepStrictEqual(
          later.filter((request) => Object.keys(request).some((part) => part !== "worstMembers")),
          [],
        )
      }),
    { arbitrary },
  )

  it.effect("the history only for events that would change a check, in one request", () =>
    Effect.gen(function* () {
      const { driven, takeAsked } = yield* driveAskingService
      yield* driven.play(enrollment)
      const [agent] = Array.from(driven.rows().agents.values())
      assert.isDefined(agent)
      const send = Effect.fnUntraced(function* (events: ReadonlyArray<CheckResultEvent>) {
        takeAsked()
        const request = { agent_id: agent.agent_id, events }
        const key = KEYS[AGENTS.findIndex((agentId) => agentId === agent.agent_id)] ?? KEYS[0]
        yield* driven.perform<EventsAction>({ action: "events", key, request })
        return takeAsked().flatMap(({ history }) => (history === undefined ? [] : [history.event_ids]))
      })
      const ok = (check_id: string, number: number): CheckResultEvent => ({
        event_id: eventId(number),
        check_id: CheckId.make(check_id),
        observed_at: Instant.fromMillis(1_769_848_200_000 + number),
        status: "ok",
        exit_code: 0,
        duration_ms: 1,
        output_truncated: false,
        notifications_enabled: true,
      })
      const first = ["a", "b", "c"].map((name, at) => ok(name, at + 1))
      assert.deepStrictEqual(yield* send(first), [[eventId(1), eventId(2), eventId(3)]])
      const second = [
        ok("a", 4),
        { ...ok("b", 5), exit_code: 1 },
        { ...ok("c", 6), status: "warning" as const },
      ]
      assert.deepStrictEqual(yield* send(second), [[eventId(5), eventId(6)]])
    }),
  )
})
