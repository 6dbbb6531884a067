import { afterEach, assert, beforeEach, describe, it } from "@effect/vitest"
import type { Admission } from "@tocsin/reporting/agent/Submission"
import { EventEmitter, once } from "node:events"
import { createServer, type ServerResponse } from "node:http"
import { vi } from "vitest"
import { PlaceProber } from "../../src/watches/PlaceProber.ts"
import type { PlaceRules } from "../../src/watches/PlaceRules.ts"
import type { AskedWatches, AskingWatches } from "../../src/sending/httpTransport.ts"

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

const passes = (seconds: number) => vi.advanceTimersByTimeAsync(seconds * 1_000)

/** An answer with watches that the place refuses, so that they are reported at once and nothing is connected. */
const asked = (...names: ReadonlyArray<string>): AskedWatches => {
  const items = names.map((name) => ({ name, every: "10s", http: { url: "http://10.0.0.1/" } }))
  return { status: 200, body: JSON.stringify({ items }), tag: `"${names.join()}"` }
}

/** A place, what it asks, and whose results it has reported since the last look. */
const makePlace = (...servers: ReadonlyArray<string>) => {
  const asks: Array<Omit<AskingWatches, "key">> = []
  const reported = new Set<string>()
  const times: Array<number> = []
  const told: { admission: Admission; place: PlaceRules | undefined; answer: AskedWatches | undefined } = {
    admission: "accepted",
    place: { allow: ["public"], writes: false },
    answer: asked("a", "b"),
  }
  const prober = new PlaceProber({
    clock: { steady: () => performance.now(), wall: () => 0, sinceBoot: () => performance.now() },
    lastOf: () => undefined,
    ask: async (asking) => {
      asks.push(asking)
      if (told.answer === undefined) throw new Error("no server answers")
      return told.answer
    },
    agent: () => ({ ...told, agentId: "berlin", servers }),
    report: ({ checkId, status }) => {
      times.push(performance.now())
      reported.add(`${checkId} ${status}`)
    },
  })
  prober.start()
  const reports = async (seconds = 11) => {
    reported.clear()
    await passes(seconds)
    return [...reported].toSorted()
  }
  return { asks, prober, reports, times, told }
}

const BOTH = ["watch:a unknown", "watch:b unknown"]

describe("a place", () => {
  it.each([
    ["https://monitor.example", true],
    ["HTTPS://monitor.example:8443/base", true],
    ["http://localhost:8080", true],
    ["http://127.0.0.1:8080", true],
    ["http://[::1]", true],
    ["http://monitor.example", false],
    ["http://localhost.monitor.example", false],
    ["http://127.0.0.1.monitor.example", false],
    ["http://10.0.0.1", false],
  ])("asks %s for secrets: %s", async (server, secrets) => {
    const { asks } = makePlace(server)
    await passes(1)
    assert.deepStrictEqual(asks, [{ server, agentId: "berlin", secrets, tag: undefined }])
  })

  it("asks once it is accepted, and then every 30 s, and stops what the next answer lacks", async () => {
    const { asks, reports, told } = makePlace("https://monitor.example")
    told.admission = "pending"
    await passes(31)
    asks.length = 0
    assert.deepStrictEqual(await reports(60), [])
    told.admission = "accepted"
    assert.deepStrictEqual(await reports(), BOTH)
    assert.deepStrictEqual(
      asks.map(({ tag }) => tag),
      [undefined],
    )
    told.answer = { status: 304, body: "" }
    assert.deepStrictEqual(await reports(60), BOTH)
    assert.deepStrictEqual(
      asks.slice(1).map(({ tag }) => tag),
      ['"a,b"', '"a,b"'],
    )
    told.answer = asked("b")
    await passes(30)
    assert.deepStrictEqual(await reports(), ["watch:b unknown"])
  })

  it.each([401, 403, 404])("forgets all at %i", async (status) => {
    const { reports, told } = makePlace("https://monitor.example")
    assert.deepStrictEqual(await reports(), BOTH)
    told.answer = { status, body: "{}" }
    await passes(30)
    assert.deepStrictEqual(await reports(60), [])
  })

  it.each([
    ["no server answers", undefined],
    ["all fail", { status: 503, body: "" }],
    ["another program answers", { status: 200, body: "<html>" }],
  ])("goes on for an hour after the last answer while %s", async (_, answer) => {
    const { asks, reports, told } = makePlace("https://one.example", "https://two.example")
    assert.deepStrictEqual(await reports(), BOTH)
    told.answer = answer
    await passes(3_570)
    assert.deepStrictEqual(asks.at(-1)?.server, "https://two.example")
    assert.deepStrictEqual(await reports(), BOTH)
    await passes(60)
    assert.deepStrictEqual(await reports(60), [])
    told.answer = asked("a")
    await passes(30)
    assert.deepStrictEqual(await reports(), ["watch:a unknown"])
  })

  it("is none once its configuration says so, or its key is blocked", async () => {
    const { prober, reports, told } = makePlace("https://monitor.example")
    assert.deepStrictEqual(await reports(), BOTH)
    const place = told.place
    told.place = undefined
    prober.reconfigure()
    assert.deepStrictEqual(await reports(60), [])
    told.place = place
    await passes(30)
    assert.deepStrictEqual(await reports(), BOTH)
    told.admission = "blocked"
    await passes(31)
    assert.deepStrictEqual(await reports(60), [])
  })

  it.each([
    ["it", ["10s"]],
    ["its period", ["10s", "11s", "13s", "1m", "17s", "12s"]],
  ])("probes a watch at most every 10 s, however often the server changes %s", async (_, periods) => {
    const { times, told } = makePlace("https://monitor.example")
    told.answer = asked()
    await passes(31)
    times.length = 0
    for (let n = 0; n < 40; n += 1) {
      const http = { url: `http://10.0.0.1/${n}` }
      const item = { name: "a", every: periods[n % periods.length], http }
      told.answer = { status: 200, body: JSON.stringify({ items: [item] }), tag: `"${n}"` }
      await passes(15)
    }
    assert.isAtLeast(times.length, 30)
    for (const [n, at] of times.slice(1).entries()) assert.isAtLeast(at - (times[n] ?? 0), 9_990)
  })

  it("probes at most 16 watches at a time", async () => {
    const held: Array<ServerResponse> = []
    const arrived = new EventEmitter()
    const page = createServer((_, response) => {
      held.push(response)
      arrived.emit(`${held.length}`)
    })
    page.listen(0, "127.0.0.1")
    await once(page, "listening")
    const bound = page.address()
    const url = `http://127.0.0.1:${typeof bound === "object" ? bound?.port : 0}/`
    const { prober, told } = makePlace("https://monitor.example")
    told.place = { allow: ["127.0.0.1"], writes: false }
    const items = Array.from({ length: 40 }, (_, n) => ({
      name: `w${n}`,
      every: "1d",
      http: { url, timeout: "30s" },
    }))
    told.answer = { status: 200, body: JSON.stringify({ items }), tag: '"40"' }
    const all = [once(arrived, "16"), once(arrived, "32"), once(arrived, "40")]
    try {
      // It asks again after 30 s, and begins within 10 s.
      await passes(41)
      const before: Array<number> = []
      for (const [n, reached] of all.entries()) {
        await reached
        before.push(held.length)
        for (const response of held.slice(16 * n)) response.end()
      }
      assert.deepStrictEqual(before, [16, 32, 40])
    } finally {
      await prober.stop()
      page.close()
    }
  })
})
