import { assert, describe, it } from "@effect/vitest"
import type { SilenceRequest } from "@tocsin/contract/silences/Silences"
import { evaluationPass } from "@tocsin/core/heart/evaluation/evaluationPass"
import * as Instant from "@tocsin/contract/formats/Instant"
import { Ids } from "@tocsin/core/kernel/ports/Ids"
import type { Signature } from "@tocsin/core/heart/audit/recordAudit"
import type { Command } from "@tocsin/core/kernel/unitOfWork/Decision"
import { defaultRules } from "@tocsin/core/kernel/ports/RuleSettings"
import { acknowledging } from "@tocsin/core/heart/usecases/Incidents"
import { heldLists } from "@tocsin/core/heart/usecases/heldLists"
import { silenceOperations } from "@tocsin/core/features/silences/Silences"
import { Duration, Effect } from "effect"
import { TestClock } from "effect/testing"
import { after, claimable, ids, openWith } from "./outboxItems.ts"
import { incidentIdOf, memberRecord, write } from "./records.ts"
import type { Replica } from "./Replica.ts"
import { rowsOf } from "./rowsOf.ts"
import * as SeededIds from "./SeededIds.ts"
import { signedBy } from "./signedBy.ts"
import type { StorageUnderTest } from "./StorageUnderTest.ts"
import { claimItems } from "./claimItems.ts"

const INCIDENT = incidentIdOf("a")

/** Decisions of eva; each transaction starts so long after its request. */
const signedOn =
  ({ commits }: Replica, waits: Duration.Input = 0) =>
  <A>(decide: (by: Signature) => Command<A>) =>
    Effect.andThen(TestClock.adjust(waits), commits.transact(decide(signedBy("eva"))))

/** Operators' actions on incidents. */
const acknowledgingOn = (replica: Replica, waits?: Duration.Input) =>
  acknowledging({ rules: defaultRules, signed: signedOn(replica, waits) })

/** Operators' actions on silences. */
const silencingOn = (replica: Replica, waits?: Duration.Input) =>
  Effect.gen(function* () {
    const { commits, storage } = replica
    return silenceOperations({
      commits,
      storage,
      ids: yield* Ids,
      rules: defaultRules,
      sha256: (text) => text,
      signed: signedOn(replica, waits),
    })
  }).pipe(Effect.provide(SeededIds.layer("silences")))

const silence = ({
  for: length = Duration.hours(1),
  ends_at,
  ...more
}: Partial<SilenceRequest>): SilenceRequest => ({
  matchers: [{ field: "check_id", op: "=", value: "disk" }],
  comment: "new disks",
  ...(ends_at === undefined ? { for: length } : { ends_at }),
  ...more,
})

/** The open incidents of a list with this filter, and whether each is shown as acknowledged. */
const listed = ({ commits, incidents, storage }: Replica, acknowledged?: boolean) =>
  Effect.map(
    heldLists({
      storage,
      commits,
      receivers: { current: () => new Map() },
      sha256: (text) => text,
      options: incidents,
    }).incidents({
      sort: "status",
      direction: "desc",
      limit: 10,
      acknowledged,
    }),
    ({ items }) => items.map(({ acknowledgement, id }) => [id, acknowledgement !== null]),
  )

/** Acts of people count to the moment. */
export const actSuite = <Place>(subject: StorageUnderTest<Place>): void => {
  describe("acts of people", () => {
    it.effect(
      "an acknowledgement is listed, filtered and withdrawn until its end, and not from then on",
      () =>
        Effect.gen(function* () {
          const replica = yield* openWith(subject, [["item", "a", {}]])
          const { acknowledge, withdraw } = acknowledgingOn(replica)
          const filtered = Effect.all([listed(replica), listed(replica, true), listed(replica, false)])
          const [shown, hidden] = [[[INCIDENT, true]], [[INCIDENT, false]]]
          const { until } = yield* acknowledge(INCIDENT, { for: Duration.minutes(5) })
          const at = (moment: Instant.Instant) => TestClock.setTime(Number(moment / 1_000n))
          yield* at(Instant.minus(until, Duration.millis(1)))
          assert.deepStrictEqual(yield* filtered, [shown, shown, []])
          yield* at(until)
          // No timer runs here.
          assert.deepStrictEqual(yield* filtered, [hidden, [], hidden])
          assert.deepStrictEqual(yield* withdraw(INCIDENT), { count: 0 })
          yield* acknowledge(INCIDENT, { for: Duration.minutes(5) })
          assert.deepStrictEqual(yield* filtered, [shown, shown, []])
          assert.deepStrictEqual(yield* withdraw(INCIDENT), { count: 1 })
          assert.deepStrictEqual(yield* withdraw(INCIDENT), { count: 0 })
          assert.deepStrictEqual(yield* filtered, [hidden, [], hidden])
        }),
    )

    it.effect("an acknowledgement ends exactly its length after its transaction began", () =>
      Effect.gen(function* () {
        const replica = yield* openWith(subject, [["item", "a", {}]])
        const { acknowledge } = acknowledgingOn(replica, "3 seconds")
        const { at, until } = yield* acknowledge(INCIDENT, { for: Duration.seconds(1) })
        assert.deepStrictEqual([at, until], [after(3), after(4)])
      }),
    )

    it.effect(
      "an acknowledgement whose end comes before its transaction is refused, and changes nothing",
      () =>
        Effect.gen(function* () {
          const replica = yield* openWith(subject, [["item", "a", {}]])
          const { acknowledge } = acknowledgingOn(replica, "3 seconds")
          const refused = yield* Effect.flip(acknowledge(INCIDENT, { until: after(3) }))
          assert.deepInclude(refused, { _tag: "ValidationError", message: "until must be in the future" })
          assert.deepStrictEqual(yield* listed(replica, true), [])
          assert.strictEqual((yield* acknowledge(INCIDENT, { until: after(7) })).until, after(7))
        }),
    )

    it.effect("a silence that starts up to a minute ago starts now, and an earlier start is refused", () =>
      Effect.gen(function* () {
        const replica = yield* openWith(subject, [["item", "a", {}]])
        const { silence: create } = yield* silencingOn(replica)
        assert.strictEqual((yield* create(silence({ starts_at: after(-60) }))).starts_at, after(0))
        assert.strictEqual((yield* create(silence({ starts_at: after(60) }))).starts_at, after(60))
        const refused = yield* Effect.flip(create(silence({ starts_at: after(-61) })))
        assert.strictEqual(refused._tag, "ValidationError")
        assert.include(refused.message, "starts_at")
      }),
    )

    it.effect("a silence starts when its transaction begins, and lasts exactly its length from then", () =>
      Effect.gen(function* () {
        const replica = yield* openWith(subject, [["item", "a", {}]])
        const { silence: create } = yield* silencingOn(replica, "3 seconds")
        const { ends_at, starts_at } = yield* create(silence({ for: Duration.seconds(1) }))
        assert.deepStrictEqual([starts_at, ends_at], [after(3), after(4)])
      }),
    )

    it.effect("a silence whose end comes before its transaction is refused, and is not stored", () =>
      Effect.gen(function* () {
        const replica = yield* openWith(subject, [["item", "a", {}]])
        const { silence: create } = yield* silencingOn(replica, "3 seconds")
        const refused = yield* Effect.flip(create(silence({ ends_at: after(3) })))
        assert.deepInclude(refused, {
          _tag: "ValidationError",
          message: "ends_at must be in the future, and after starts_at",
        })
        assert.deepStrictEqual(yield* rowsOf(replica, "silences"), [])
        assert.strictEqual((yield* create(silence({ ends_at: after(7) }))).ends_at, after(7))
      }),
    )

    it.effect("a silence that is ended by hand frees what it held at the next look", () =>
      Effect.gen(function* () {
        const replica = yield* openWith(subject, [["item", "a", {}]])
        yield* write(replica, [{ incidents: [INCIDENT] }], (unit) =>
          unit.members.put(memberRecord({ incident: "a", agent: "db", check: "disk" })),
        )
        const { expireSilence, silence: create } = yield* silencingOn(replica)
        const { id } = yield* create(silence({}))
        const input = { receivers: ["debug"], limit: 10, lease: Duration.minutes(1) }
        const claim = claimItems(replica.commits, input)
        assert.deepStrictEqual(yield* claim, [])
        const pass = evaluationPass(replica.storage, replica.commits, {
          incidents: replica.incidents,
          parentChanges: () => 0,
          labels: Effect.succeed(""),
          limit: 10,
        })
        while (yield* pass);
        yield* TestClock.adjust("5 seconds")
        assert.deepStrictEqual((yield* claimable(replica, 10)).due, [])
        assert.deepStrictEqual(yield* expireSilence(id), { count: 1 })
        assert.deepStrictEqual(yield* expireSilence(id), { count: 0 })
        while (yield* pass);
        assert.deepStrictEqual(
          (yield* claimable(replica, 10)).due.map(({ row }) => row.id),
          ids("item"),
        )
      }),
    )
  })
}
