import { assert, describe, it } from "@effect/vitest"
import { IncidentKey } from "@tocsin/contract/formats/Identifiers"
import { SilenceId } from "@tocsin/contract/silences/Silences"
import * as Instant from "@tocsin/contract/formats/Instant"
import { type Matcher, MOST_TOGETHER } from "@tocsin/contract/labels/Matcher"
import { defaultRules } from "@tocsin/core/kernel/ports/RuleSettings"
import {
  createSilence,
  expireSilence,
  MAX_UNENDED_SILENCES,
} from "@tocsin/core/features/silences/silenceDecisions"
import { type SilenceRecord, silenceState } from "@tocsin/core/heart/model/SilenceRecord"
import { Effect, Result } from "effect"
import { TestClock } from "effect/testing"
import { search } from "./observe.ts"
import { after } from "./outboxItems.ts"
import { atOnce, race } from "./race.ts"
import { incidentIdOf, incidentRecord, write } from "./records.ts"
import { signedBy } from "./signedBy.ts"
import { openReplica, type Replica } from "./Replica.ts"
import { rowsOf } from "./rowsOf.ts"
import { START_MILLIS } from "./samples.ts"
import { uuidV7 } from "./SeededIds.ts"
import type { StorageUnderTest } from "./StorageUnderTest.ts"
import { transact } from "./transact.ts"

const idOf = (name: string) => SilenceId.make(uuidV7(BigInt(START_MILLIS), `silence ${name}`))

const silence = (name: string, from: number, until: number): SilenceRecord => ({
  id: idOf(name),
  matchers: [{ field: "check_id", op: "=", value: "disk" }],
  starts_at: after(from),
  ends_at: after(until),
  comment: "new disks",
  created_by: "eva",
  created_at: after(0),
})

const put = (replica: Replica, silences: ReadonlyArray<SilenceRecord>) =>
  write(replica, [{ rows: { silence: silences.map(({ id }) => id) } }], (unit) => {
    for (const one of silences) unit.of("silence").put(one)
  })

/** Silences. */
export const silenceSuite = <Place>(subject: StorageUnderTest<Place>): void => {
  describe("silences", () => {
    it.effect("are found while they are in force, listed by state and counted until they end", () =>
      Effect.gen(function* () {
        yield* TestClock.setTime(START_MILLIS)
        const replica = yield* openReplica(subject)
        const all = [
          silence("ended", -9, 0),
          silence("active", 0, 1),
          silence("long ago", -99, -50),
          silence("scheduled", 1, 2),
          silence("never begun", 3, 0),
        ]
        yield* put(replica, all)
        const inForce = (endingAfter: number, begunBy?: number) =>
          search(
            replica,
            "silencesInForce",
            {
              endingAfter: after(endingAfter),
              begunBy: begunBy === undefined ? undefined : after(begunBy),
            },
            (found) => found.silences.map(({ id }) => id).toSorted(),
          )
        assert.deepStrictEqual(yield* inForce(0), [idOf("active")])
        assert.deepStrictEqual(yield* inForce(-9), [idOf("active"), idOf("ended")].toSorted())
        assert.deepStrictEqual(yield* inForce(-60, -1), [idOf("ended"), idOf("long ago")].toSorted())
        const unended = search(replica, "unendedSilences", undefined, (found) =>
          found.map(({ id }) => id).toSorted(),
        )
        assert.deepStrictEqual(yield* unended, [idOf("active"), idOf("scheduled")].toSorted())
        const endingLater = search(replica, "silencesEndingAfter", after(0), (found) =>
          found.map(({ id }) => id).toSorted(),
        )
        assert.deepStrictEqual(yield* endingLater, [idOf("active"), idOf("scheduled")].toSorted())
        for (const state of ["scheduled", "active", "expired"] as const) {
          const listed = yield* rowsOf(replica, "silences", { state, at: after(0) })
          const wanted = all.filter((one) => silenceState(one, after(0)) === state)
          assert.deepStrictEqual(listed.map(({ id }) => id).toSorted(), wanted.map(({ id }) => id).toSorted())
        }
      }),
    )

    it.effect("openings of a key are counted in a span, the latest first", () =>
      Effect.gen(function* () {
        yield* TestClock.setTime(START_MILLIS)
        const replica = yield* openReplica(subject)
        const key = { incident_key: IncidentKey.make("flapping") }
        const ended = { state: "resolved", resolved_at: after(0), ...key } as const
        yield* write(replica, [], (unit) => {
          for (const seconds of [-100, -50, -40, -10])
            unit.incidents.put(incidentRecord(String(seconds), { ...ended, opened_at: after(seconds) }))
          unit.incidents.put(
            incidentRecord("automatic", { ...ended, kind: "automatic", opened_at: after(-20) }),
          )
          unit.incidents.put(incidentRecord("now", { ...key, opened_at: after(0) }))
        })
        const incident = { kind: "named", id: incidentIdOf("now"), ...key } as const
        const found = (limit: number) =>
          search(replica, "openings", [{ incident, since: after(-50), until: after(0), limit }], (found) =>
            found.get(incident.id),
          )
        assert.deepStrictEqual(yield* found(9), [after(0), after(-10), after(-40)])
        assert.deepStrictEqual(yield* found(2), [after(0), after(-10)])
      }),
    )

    race(subject, { name: "at most a thousand have not ended" }, (replica) =>
      Effect.gen(function* () {
        const now = yield* Instant.now
        const [starts_at, ends_at] = [now, Instant.fromMicros(now + 3_600_000_000n)]
        const lasting = (name: string) => ({ ...silence(name, 0, 0), starts_at, ends_at })
        const names = Array.from({ length: MAX_UNENDED_SILENCES - 3 }, (_, n) => `silence ${n}`)
        yield* put(replica(0), names.map(lasting))
        const create = (n: number) =>
          transact(replica(n).storage, createSilence(lasting(`more ${n}`), defaultRules, signedBy("eva")))
        const created = yield* Effect.forEach([0, 1, 2, 3, 4, 5, 6, 7], create, atOnce)
        assert.strictEqual(created.filter(Result.isSuccess).length, 3)
        assert.strictEqual(
          yield* transact(replica(1).storage, expireSilence(idOf("silence 0"), signedBy("eva"))),
          1,
        )
        assert.strictEqual(
          yield* transact(replica(0).storage, expireSilence(idOf("silence 0"), signedBy("eva"))),
          0,
        )
        assert.isTrue(Result.isSuccess(yield* create(8)))
      }),
    )

    race(subject, { name: "have at most 5,000 matchers together, 200 of them globs" }, (replica) =>
      Effect.gen(function* () {
        const now = yield* Instant.now
        const [starts_at, ends_at] = [now, Instant.fromMicros(now + 3_600_000_000n)]
        const named = (name: string, op: Matcher["op"], length: number): SilenceRecord => ({
          ...silence(name, 0, 0),
          starts_at,
          ends_at,
          matchers: Array.from({ length }, () => ({ field: "check_id", op, value: "disk" }) as const),
        })
        const create = (n: number, one: SilenceRecord) =>
          Effect.map(
            transact(replica(n).storage, createSilence(one, defaultRules, signedBy("eva"))),
            Result.match({ onSuccess: () => "created", onFailure: ({ message }) => message }),
          )
        const createAll = (op: Matcher["op"], kind: string) =>
          Effect.forEach([0, 1, 2, 3, 4, 5, 6, 7], (n) => create(n, named(`${kind} ${n}`, op, 5)), atOnce)
        const { globs, matchers } = MOST_TOGETHER
        const refused = `silences that have not ended have at most ${matchers} matchers together, ${globs} of them globs; delete some first, or use fewer matchers`
        const outcomes = (created: number) => [
          ...Array.from({ length: created }, () => "created"),
          ...Array.from({ length: 8 - created }, () => refused),
        ]
        const quarters = [0, 1, 2, 3].map((n) => `globs ${n}`)
        yield* put(replica(0), [
          // One that has ended counts no more.
          { ...named("ended", "glob", 20), starts_at: after(-9), ends_at: now },
          ...quarters.map((name) => named(name, "glob", (globs - 12) / 4)),
        ])
        assert.deepStrictEqual((yield* createAll("glob", "more globs")).toSorted(), outcomes(2))
        // One of 4 and one of 5 do not both fit.
        const lengths = Array.from({ length: 239 }, (_, n) => named(`equal ${n}`, "=", 20))
        yield* put(replica(0), lengths)
        assert.deepStrictEqual((yield* createAll("=", "more equals")).toSorted(), outcomes(4))
        assert.strictEqual(yield* create(1, named("last", "=", 3)), refused)
        assert.strictEqual(yield* create(1, named("last", "=", 2)), "created")
        assert.strictEqual(yield* create(1, named("one more", "=", 1)), refused)
        assert.strictEqual(
          yield* transact(replica(1).storage, expireSilence(idOf("equal 0"), signedBy("eva"))),
          1,
        )
        assert.strictEqual(yield* create(1, named("one more", "=", 20)), "created")
      }),
    )
  })
}
