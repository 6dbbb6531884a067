import { type Arrival, RecentNames, UnknownSenders, type Visit } from "@tocsin/core/heart/usecases/BodyBudget"
import { keyOf, heartbeatOf, start } from "@tocsin/testing/samples"
import { propertyRuns } from "@tocsin/testing/propertyRuns"
import { assert, describe, it } from "@effect/vitest"
import * as Instant from "@tocsin/contract/formats/Instant"
import { Arbitrary, Duration, Effect, Result } from "effect"
import { AGENT, enroll } from "../service/agents.ts"
import { openService, type Process } from "../service/Service.ts"
import { integer, oneOf } from "../properties/arbitraries.ts"

const MIB = 1_048_576
const ADDRESS = "192.0.2.1"
const free = { perMinute: 0, burst: 0 }

const arrival = (key: string, bytes = MIB): Arrival => ({ key: keyOf(key), address: ADDRESS, bytes })

const enter = ({ ingest }: Process, of: Arrival) => Effect.result(ingest.bodies.enterHeartbeat(of))

/** Lets bodies of unknown keys enter up to the limit. Returns their visits. */
const fill = Effect.fnUntraced(function* (process: Process) {
  const visits: Array<Visit> = []
  for (let at = 0; ; at++) {
    const entered = yield* enter(process, arrival(`invented-${at}`))
    if (Result.isFailure(entered)) return visits
    visits.push(entered.success)
  }
})

const open = openService({ registrationRate: free })

describe("bodies of keys that are not accepted", () => {
  it.effect("are limited for each address, at any moment and over time", () =>
    Effect.gen(function* () {
      const process = yield* (yield* open).open("first", { delivers: false })
      let entered = 0
      for (let full = yield* fill(process); full.length > 0; full = yield* fill(process)) {
        assert.isAtMost(full.length, 3)
        entered += full.length
        assert.isTrue(Result.isFailure(yield* enter(process, arrival("another"))))
        assert.isTrue(
          Result.isSuccess(yield* enter(process, { ...arrival("another"), address: "192.0.2.2" })),
        )
        assert.isTrue(Result.isSuccess(yield* enter(process, { ...arrival("another"), address: undefined })))
        // Leaving twice must not make room twice.
        for (const { leave } of [...full, ...full]) leave()
        if (entered > 6) break
      }
      assert.isAbove(entered, 6)
    }),
  )

  it.effect("do not keep accepted agents behind the same address out, even after a restart", () =>
    Effect.gen(function* () {
      const service = yield* open
      const first = yield* service.open("first", { delivers: false })
      yield* enroll(first, AGENT)
      yield* fill(first)
      assert.isTrue(Result.isSuccess(yield* enter(first, arrival(AGENT))))
      const restarted = yield* service.open("restarted", { delivers: false })
      yield* fill(restarted)
      const now = () => start
      assert.isUndefined(restarted.ingest.bodies.tryEnter(arrival(AGENT), now))
      assert.isTrue(Result.isSuccess(yield* enter(restarted, arrival(AGENT))))
      assert.isDefined(restarted.ingest.bodies.tryEnter(arrival(AGENT), now))
      yield* first.admission.block(AGENT)
      yield* Effect.flip(restarted.ingest.heartbeat(keyOf(AGENT), heartbeatOf(AGENT)))
      assert.isUndefined(restarted.ingest.bodies.tryEnter(arrival(AGENT), now))
    }),
  )
})

const step = Arbitrary.all({
  address: oneOf("a", "b"),
  bytes: oneOf(0, 100, 1_000_000, MIB),
  leaves: integer(0, 3),
})

describe("a body without a length", () => {
  it("counts as what was read of it", () => {
    const senders = new UnknownSenders({ perMinute: 60 * MIB, burst: 16 * MIB })
    const small = () => senders.take("a", undefined, start).allowed
    for (let sent = 0; sent < 500; sent++) {
      assert.isTrue(small(), `request ${sent}`)
      senders.release("a", undefined, 300, start)
    }
    // Many at a time, but they leave room for other addresses.
    let inside = 0
    while (small()) inside += 1
    assert.strictEqual(inside, 15)
    for (let left = 0; left < inside; left++) senders.release("a", undefined, MIB, start)
    const refused = senders.take("a", undefined, start)
    assert.isFalse(refused.allowed)
    assert.isTrue(senders.take("b", undefined, start).allowed)
    assert.isTrue(senders.take("a", undefined, Instant.plus(start, Duration.seconds(4))).allowed)
  })
})

describe("unknown senders", () => {
  it.prop(
    "count the bytes in flight of each address, and none after every answer",
    { steps: Arbitrary.array(step, { maxLength: 60 }) },
    ({ steps }) => {
      const senders = new UnknownSenders({ perMinute: 60_000 * MIB, burst: 60_000 * MIB })
      const inside: Array<{ readonly address: string; readonly bytes: number }> = []
      const heldBy = (name: string) =>
        inside.reduce((sum, { address, bytes }) => sum + (address === name ? bytes + 4_096 : 0), 0)
      for (const { address, bytes, leaves } of steps) {
        const { allowed } = senders.take(address, bytes, start)
        assert.strictEqual(allowed, heldBy(address) + bytes + 4_096 <= 4 * MIB)
        if (allowed) inside.push({ address, bytes })
        for (const left of inside.splice(0, leaves - 1)) senders.release(left.address, left.bytes, 0, start)
        assert.strictEqual(senders.addressesUnderWay, new Set(inside.map(({ address: name }) => name)).size)
      }
      for (const { address, bytes } of inside) senders.release(address, bytes, 0, start)
      assert.strictEqual(senders.addressesUnderWay, 0)
    },
    { arbitrary: { runs: propertyRuns(100) } },
  )
})

describe("recent names", () => {
  it.prop(
    "keep at least the latest half of their capacity, and never exceed it",
    { names: Arbitrary.array(integer(0, 30), { maxLength: 200 }) },
    ({ names }) => {
      const recent = new RecentNames(10)
      const used: Array<number> = []
      for (const name of names) {
        recent.add(String(name))
        used.push(name)
        const last = new Set<number>()
        for (let at = used.length - 1; at >= 0 && last.size < 5; at--) last.add(used[at] ?? 0)
        for (const kept of last) assert.isTrue(recent.has(String(kept)), `${kept} of ${used.join()}`)
        // Looking them up is a use, too.
        used.push(...last)
        assert.isAtMost(recent.size, 10)
      }
      for (const name of names) recent.delete(String(name))
      for (const name of names) assert.isFalse(recent.has(String(name)))
    },
    { arbitrary: { runs: propertyRuns(100) } },
  )
})
