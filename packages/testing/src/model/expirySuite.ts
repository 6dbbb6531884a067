import { describe, it } from "@effect/vitest"
import * as Instant from "@tocsin/contract/formats/Instant"
import { Duration, Effect } from "effect"
import { TestClock } from "effect/testing"
import { expireAll, purge } from "../expireAll.ts"
import { forAll, PROPERTY_TIMEOUT_MILLIS } from "../forAll.ts"
import { openReplica, type Replica } from "../Replica.ts"
import { START_MILLIS } from "../samples.ts"
import type { StorageUnderTest } from "../StorageUnderTest.ts"
import { assertAlike, memory, outcomeOf, rules } from "./comparison.ts"
import { commandOf, type Sent } from "./commandOf.ts"
import { type ModelAction, modelActions } from "./ModelAction.ts"
import { AGENTS, CHECKS } from "./ModelNames.ts"

const RUNS = 40
/** A piece small enough that a rule takes several. */
const PIECE = 3

/** Removes all that may go: everything that is older than this moment. */
const expireEverything = Effect.fnUntraced(function* ({ storage }: Replica) {
  while ((yield* purge(storage, PIECE)) > 0);
  const before = yield* Instant.now
  for (const rule of ["history", "outbox", "incidents"] as const)
    yield* expireAll(storage, { rule, before, limit: PIECE })
})

/**
 * The decisions of a scenario, with retention in place of reads. Leaves out references to rows that
 * may have expired: the replay of a dead letter, a repeated event ID, `reset-clock`, after which
 * late results count again, and repeats of alerts, which end with their incident.
 */
const decidedIn = (scenario: ReadonlyArray<ModelAction>): ReadonlyArray<ModelAction | "expire"> => [
  ...scenario.flatMap((action): ReadonlyArray<ModelAction | "expire"> => {
    switch (action.act) {
      case "replay":
      case "resetClock":
      case "resend":
        return []
      case "look":
      case "compare":
      case "expire":
      case "purge":
        return ["expire"]
      case "events":
        return [{ ...action, events: action.events.map((event) => ({ ...event, id: "new" as const })) }]
      default:
        return [action]
    }
  }),
  "expire",
  ...AGENTS.map((agent): ModelAction => ({
    act: "events",
    agent,
    key: "own",
    events: CHECKS.map((check) => ({
      check,
      status: "ok",
      exit: 0,
      observed: 0,
      output: undefined,
      incident_key: undefined,
      silent: false,
      id: "new",
    })),
  })),
  "expire",
  { act: "claim", receivers: ["debug", "alert_router"], isLost: false },
]

/** Tells a scenario to two storages, one of which loses all that may go, and compares their replies. */
const tell = Effect.fnUntraced(function* (
  scenario: ReadonlyArray<ModelAction>,
  expiring: Replica,
  keeping: Replica,
) {
  const sent: Sent = { events: [], batches: [] }
  yield* TestClock.setTime(START_MILLIS)
  for (const [index, action] of decidedIn(scenario).entries()) {
    if (action === "expire") yield* expireEverything(expiring)
    else if (action.act === "wait") yield* TestClock.adjust(Duration.seconds(action.seconds))
    else {
      const deed = commandOf(action, sent, yield* Instant.now)
      const name = `action ${index}, ${JSON.stringify(action)}`
      assertAlike(yield* outcomeOf(deed, expiring), yield* outcomeOf(deed, keeping), name)
    }
  }
})

/** Random scenarios: with any retention, a storage decides as if it had kept every row. */
export const expirySuite = <Place>(subject: StorageUnderTest<Place>): void => {
  describe("retention", () => {
    it.effect(
      "changes no later decision, whenever it runs",
      () =>
        forAll(modelActions, { runs: RUNS }, (scenario) =>
          Effect.gen(function* () {
            const expiring = yield* openReplica(subject, rules)
            const keeping = yield* openReplica(memory, rules)
            yield* tell(scenario, expiring, keeping)
          }).pipe(Effect.scoped, Effect.provide(TestClock.layer())),
        ),
      PROPERTY_TIMEOUT_MILLIS,
    )
  })
}
