import * as HmacLinkSigner from "@tocsin/adapter-crypto/HmacLinkSigner"
import * as NodeHashing from "@tocsin/adapter-crypto/NodeHashing"
import * as MemoryStorage from "@tocsin/adapter-memory/MemoryStorage"
import { MemoryTables } from "@tocsin/adapter-memory/MemoryTables"
import { assert, it } from "@effect/vitest"
import { OverrideId } from "@tocsin/contract/onCall/Rotas"
import * as Instant from "@tocsin/contract/formats/Instant"
import type { PolicyDocument } from "@tocsin/contract/policy/PolicyDocument"
import { NotifierName } from "@tocsin/contract/formats/Status"
import { Commits } from "@tocsin/core/kernel/engine/commits/Commits"
import { createOverride, endOverride } from "@tocsin/core/features/onCall/overrideDecisions"
import { applyPolicy, policyHash } from "@tocsin/core/heart/policy/applyPolicy"
import { compileGiven } from "@tocsin/core/heart/policy/compilePolicy"
import { PolicyInForce } from "@tocsin/core/heart/policy/PolicyInForce"
import { Receivers } from "@tocsin/core/heart/notifications/Receivers"
import { Hashing, LinkSigner } from "@tocsin/core/kernel/ports/Hashing"
import { Notifiers } from "@tocsin/core/heart/notifications/Notifiers"
import { PolicySource } from "@tocsin/core/heart/usecases/PolicySource"
import { defaultRules, RuleSettings } from "@tocsin/core/kernel/ports/RuleSettings"
import { Storage } from "@tocsin/core/kernel/ports/Storage"
import { OnCall } from "@tocsin/core/features/onCall/OnCall"
import { OutboxSignal } from "@tocsin/core/heart/notifications/OutboxSignal"
import { forAll, PROPERTY_TIMEOUT_MILLIS } from "@tocsin/testing/forAll"
import { START_MILLIS } from "@tocsin/testing/samples"
import * as SeededIds from "@tocsin/testing/SeededIds"
import { uuidV7 } from "@tocsin/testing/SeededIds"
import { signedBy } from "@tocsin/testing/signedBy"
import { transact } from "@tocsin/testing/transact"
import { Duration, Effect, Layer, Redacted } from "effect"
import { TestClock } from "effect/testing"
import * as fc from "fast-check"
import ICAL from "ical.js"
import { storedPolicySource } from "../http/service/storedPolicySource.ts"

const PRIMARY = NotifierName.make("primary")
const ANN = NotifierName.make("ann")
const PEOPLE = [ANN, ...["bob", "cyd"].map((name) => NotifierName.make(name))]
const receiver = { kind: "messenger", url_env: "URL" } as const

const documentOf = ([first = ANN, ...others]: ReadonlyArray<NotifierName>): PolicyDocument => ({
  receivers: Object.fromEntries(PEOPLE.map((name) => [name, receiver])),
  rotas: { primary: { order: [first, ...others], every: Duration.days(7), from: "2026-01-05T09:00" } },
  routes: [{ to: [PRIMARY] }],
})

/** One server: its calendar, and how it follows a version of the policy. */
const serverOn = (storage: Storage["Service"]) =>
  Effect.gen(function* () {
    const { calendar } = yield* OnCall
    const policy = yield* PolicyInForce
    const token = (yield* LinkSigner)?.calendarTokenOf(PRIMARY) ?? assert.fail("no tokens")
    return {
      calendar: Effect.orDie(calendar(token)),
      follow: (document: PolicyDocument, version: number) =>
        policy.replace({ ...compileGiven(document, policy.given()), version }),
    }
  }).pipe(
    Effect.provide(
      Layer.fresh(
        OnCall.layer.pipe(
          Layer.provideMerge(OutboxSignal.layer),
          Layer.provideMerge(Commits.layer),
          Layer.provideMerge(PolicyInForce.layer),
          Layer.provideMerge(Receivers.layer),
          Layer.provideMerge(
            Layer.mergeAll(
              Layer.succeed(Storage, storage),
              Layer.succeed(Notifiers, new Map()),
              Layer.succeed(RuleSettings, defaultRules),
              NodeHashing.layer(),
              SeededIds.layer("calendars"),
              Layer.succeed(PolicySource, storedPolicySource(new Map())),
              HmacLinkSigner.layer(Redacted.make("5a".repeat(32))),
            ),
          ),
        ),
      ),
    ),
  )

interface SeenEvent {
  readonly shown: string
  readonly stamp: string
  readonly sequence: number
}

/** The events of a calendar by their UIDs: the text, with the revision apart. */
const eventsOf = (text: string) =>
  new Map(
    new ICAL.Component(ICAL.parse(text)).getAllSubcomponents("vevent").map((component) => {
      const event = new ICAL.Event(component)
      const stamp = String(component.getFirstPropertyValue("dtstamp"))
      assert.strictEqual(String(component.getFirstPropertyValue("last-modified")), stamp)
      return [
        event.uid,
        { shown: `${event.startDate} ${event.endDate} ${event.summary}`, stamp, sequence: event.sequence },
      ] as const
    }),
  )

const step = fc.record({
  kind: fc.constantFrom("apply", "create", "end", "follow", "pass"),
  pick: fc.nat(1_000),
  pause: fc.constantFrom("0 millis", "300 millis", "1 second", "5 hours", "1 day", "30 days"),
})

it.effect(
  "an event of a calendar that differs has another revision, which never falls, and servers agree on every byte",
  () =>
    Effect.gen(function* () {
      yield* forAll(fc.array(step, { maxLength: 40 }), { runs: 40 }, (steps) =>
        Effect.gen(function* () {
          yield* TestClock.setTime(START_MILLIS)
          const storage = MemoryStorage.make(new MemoryTables())
          const [one, other] = [yield* serverOn(storage), yield* serverOn(storage)]
          const hashing = yield* Hashing.pipe(Effect.provide(NodeHashing.layer()))
          const servers = { 0: one, 1: other }
          const seen = { 0: new Map<string, SeenEvent>(), 1: new Map<string, SeenEvent>() }
          const texts: Array<string> = []
          const versions: Array<PolicyDocument> = []
          const ids: Array<OverrideId> = []
          const look = Effect.fnUntraced(function* (server: 0 | 1) {
            const text = yield* servers[server].calendar
            texts[server] = text
            for (const [uid, event] of eventsOf(text)) {
              const before = seen[server].get(uid)
              seen[server].set(uid, event)
              if (before === undefined) continue
              const isMoved = event.stamp > before.stamp && event.sequence > before.sequence
              const isSame = event.stamp === before.stamp && event.sequence === before.sequence
              assert.isTrue(
                isMoved || (isSame && event.shown === before.shown),
                `${uid}: ${JSON.stringify([before, event])}`,
              )
            }
          })
          const follow = Effect.fnUntraced(function* (server: 0 | 1) {
            const document = versions.at(-1)
            if (document === undefined) return
            yield* servers[server].follow(document, versions.length)
          })
          const apply = Effect.fnUntraced(function* (pick: number) {
            const order = [...PEOPLE.slice(pick % 3), ...PEOPLE.slice(0, pick % 3)].slice(0, 2 + (pick % 2))
            const document = documentOf(order)
            const encoded = {
              ...document,
              rotas: { primary: { ...document.rotas?.["primary"], every: "7d" } },
            }
            const text = `${JSON.stringify(encoded)} # ${versions.length}`
            const given = { hash: policyHash(document, hashing), text, replaces: undefined }
            yield* transact(storage, applyPolicy(given, "none", signedBy("eva")))
            versions.push(document)
          })
          yield* apply(0)
          yield* follow(0)
          yield* follow(1)
          for (const { kind, pause, pick } of steps) {
            yield* TestClock.adjust(pause)
            const now = yield* Instant.now
            const by = signedBy("eva")
            if (kind === "apply") yield* apply(pick)
            if (kind === "create") {
              const id = OverrideId.make(uuidV7(BigInt(ids.length), "override"))
              const from = Instant.plus(now, Duration.hours(pick % 50))
              const to = Instant.plus(from, Duration.hours(1 + (pick % 400)))
              const receivers = [PEOPLE[pick % 3] ?? assert.fail("nobody")]
              yield* transact(
                storage,
                createOverride({ id, rota: PRIMARY, receivers, note: undefined, from, to }, by),
              )
              ids.push(id)
            }
            const id = ids[pick % (ids.length || 1)]
            if (kind === "end" && id !== undefined) yield* transact(storage, endOverride(PRIMARY, id, by))
            if (kind === "follow") yield* follow(pick % 2 === 0 ? 0 : 1)
            yield* look(0)
            yield* look(1)
            yield* look(0)
            assert.strictEqual(texts[0], texts[1])
          }
        }),
      )
    }),
  PROPERTY_TIMEOUT_MILLIS,
)

it.effect("a calendar begins with the first turn of its rota, and covers 93 days from any hour on", () =>
  Effect.gen(function* () {
    yield* TestClock.setTime(Date.parse("2026-01-31T00:00:00Z"))
    const server = yield* serverOn(MemoryStorage.make(new MemoryTables()))
    yield* server.follow(documentOf(PEOPLE), 1)
    // A turn begins on the 93rd day after January 31, and the rota began 4 weeks before February 2.
    for (const now of [
      "2026-01-31T00:00:00Z",
      "2026-01-31T23:59:59Z",
      "2026-02-02T09:00:00Z",
      "2026-02-03T00:00:00Z",
    ]) {
      yield* TestClock.setTime(Date.parse(now))
      const events = new ICAL.Component(ICAL.parse(yield* server.calendar))
        .getAllSubcomponents("vevent")
        .map((component) => new ICAL.Event(component))
      assert.strictEqual(events[0]?.startDate.toJSDate().toISOString(), "2026-01-05T09:00:00.000Z", now)
      const covered = (events.at(-1)?.endDate.toJSDate().getTime() ?? 0) - Date.parse(now)
      assert.isAtLeast(covered, 93 * 86_400_000, now)
    }
  }),
)
