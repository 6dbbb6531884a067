import { assert } from "@effect/vitest"
import { type RequestKindName, requestKindNames } from "@tocsin/contract/integrations/integrationKinds"
import { type Storage, StorageError, type StorageFailure } from "@tocsin/core/kernel/ports/Storage"
import { Effect } from "effect"
import { operate } from "../client/call.ts"
import { alerts, created, isRetried, isSuccess, send, SENDERS } from "../client/senders.ts"
import { type HttpSubject, onStorage } from "../onStorage.ts"

/** The number of the checks of an integration that are not ok. */
const stored = (kind: RequestKindName) =>
  Effect.map(operate("GET", `/ops/v1/checks?agent_id=${kind}&status=critical&limit=500`), ({ body }) => {
    // The list of the API.
    const { items } = body as { readonly items: ReadonlyArray<{ readonly check_id: string }> }
    return items.map(({ check_id }) => check_id)
  })

/** The sources of alerts that an integration has heard. */
const heard = (kind: RequestKindName) =>
  Effect.map(operate("GET", `/ops/v1/integrations/${kind}`), ({ body }) => {
    // An integration of the API.
    const { sources } = body as { readonly sources: ReadonlyArray<unknown> }
    return sources.length
  })

const failing = (reason: StorageFailure): Effect.Effect<never, StorageError> =>
  Effect.fail(new StorageError({ reason, message: "the storage is down" }))

const unsettled = Effect.fail(
  new StorageError({ reason: "unavailable", isUnknown: true, message: "the storage is down" }),
)

const FAULTS: Readonly<Record<string, Effect.Effect<never, StorageError>>> = {
  "is unavailable": failing("unavailable"),
  "is full": failing("full"),
  "has a defect": Effect.die(new Error("no such table")),
  "never answers": Effect.never,
}

/** A storage of which each transaction may end in another way than by its commit. */
const steered = () => {
  let fault: Effect.Effect<never, StorageError> | undefined
  let sound = Number.POSITIVE_INFINITY
  return {
    /** From now on, as many transactions succeed, and the others end so. */
    endsIn: (given: typeof fault, after = 0) => {
      fault = given
      sound = after
    },
    spoil: (storage: Storage["Service"]): Storage["Service"] => ({
      ...storage,
      transact: (command) =>
        Effect.suspend(() => {
          sound -= 1
          return fault === undefined || sound >= 0 ? storage.transact(command) : fault
        }),
    }),
  }
}

/** The promises to senders of every kind while the storage fails (docs/rules.md#integrations). */
export const senderFailureSuite = <Place>(subject: HttpSubject<Place>): void => {
  const { scenario } = onStorage(subject)
  const rules = { integrationCheckRate: { perMinute: 0, burst: 0 } }

  for (const [name, fault] of Object.entries(FAULTS)) {
    const { endsIn, spoil } = steered()
    scenario(
      `while a storage ${name}, no report is acknowledged, and each succeeds when it is sent again`,
      () =>
        Effect.gen(function* () {
          const kinds = requestKindNames
          const keys = yield* Effect.forEach(kinds, (kind) => created(kind))
          const sendAll = (round: string) =>
            Effect.forEach(
              kinds.flatMap((kind, n) =>
                SENDERS[kind].reports(keys[n] ?? "", round).map((report) => ({ kind, report })),
              ),
              ({ kind, report }) =>
                Effect.map(send(kind, report), ({ status, text }) => ({ kind, report, status, text })),
              { concurrency: "unbounded" },
            )
          const known = () => Effect.map(Effect.forEach(kinds, stored), (each) => each.flat().length)
          // No key is known before the first round.
          for (const round of ["first", "second"]) {
            const before = yield* known()
            endsIn(fault)
            for (const { kind, report, status, text } of yield* sendAll(round)) {
              assert.deepStrictEqual([status, isRetried(status)], [500, true], `${kind} ${report[1]}`)
              assert.isFalse(isSuccess(kind, { status: 200, text }))
            }
            endsIn(undefined)
            assert.strictEqual(yield* known(), before)
            const taken = yield* sendAll(round)
            for (const { kind, report, status, text } of taken)
              assert.isTrue(isSuccess(kind, { status, text }), `${kind} ${report[1]}: ${status} ${text}`)
            assert.strictEqual(yield* known(), before + taken.length)
          }
        }),
      { spoil, rules, ...(fault === Effect.never && { storageTimeout: "4 seconds" }) },
    )
  }

  const lost = steered()
  scenario(
    "a report whose commit had no reply is decided again",
    () =>
      Effect.gen(function* () {
        for (const kind of requestKindNames) {
          const { reports } = SENDERS[kind]
          const key = yield* created(kind)
          for (const report of reports(key, "a")) {
            yield* send(kind, report)
            lost.endsIn(
              Effect.suspend(() => {
                lost.endsIn(undefined)
                return unsettled
              }),
            )
            const taken = yield* send(kind, report)
            assert.isTrue(isSuccess(kind, taken), `${report[1]}: ${taken.status} ${taken.text}`)
          }
        }
      }),
    { spoil: lost.spoil, rules },
  )

  const parts = steered()
  scenario(
    "of alerts that take several transactions, none is acknowledged before the last",
    () =>
      Effect.gen(function* () {
        const names = Array.from({ length: 450 }, (_, n) => `A${n}`)
        const bodies = { alertmanager: alerts(...names), webhook: { version: "4", alerts: alerts(...names) } }
        for (const kind of ["alertmanager", "webhook"] as const) {
          const key = yield* created(kind, {})
          const path = kind === "webhook" ? `/${key}` : `/${key}/api/v2/alerts`
          const post = send(kind, ["POST", path, { json: bodies[kind] }])
          yield* send(kind, ["POST", path, { json: kind === "webhook" ? { version: "4", alerts: [] } : [] }])
          for (const [taken, after] of [
            [200, 1],
            [400, 2],
          ] as const) {
            parts.endsIn(failing("full"), after)
            assert.strictEqual((yield* post).status, 500)
            parts.endsIn(undefined)
            assert.strictEqual((yield* stored(kind)).length, taken)
            // Alerts that are not stored would lapse if their source counted as heard.
            assert.strictEqual(yield* heard(kind), 0)
          }
          assert.strictEqual((yield* post).status, 200)
          assert.strictEqual((yield* stored(kind)).length, 450)
          assert.strictEqual(yield* heard(kind), 1)
        }
      }),
    { spoil: parts.spoil, rules },
  )
}
