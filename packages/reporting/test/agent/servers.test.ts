import { assert, describe, it } from "@effect/vitest"
import { propertyRuns } from "@tocsin/testing/propertyRuns"
import fc from "fast-check"
import type { OutgoingResult } from "../../src/agent/ResultQueue.ts"
import { Sender } from "../../src/agent/Sender.ts"
import type { HttpAnswer, OutgoingRequest } from "../../src/agent/Answer.ts"

const SECOND = 1_000
const MINUTE = 60 * SECOND
const SERVERS = ["http://one", "http://two"]
const RETRY_AFTER_SECONDS = 25

type Health = "well" | "throttling" | "faulty" | "silent"

const answerOf = (health: Health, kind: OutgoingRequest["kind"]): HttpAnswer => {
  if (health === "silent") throw new Error("connect ECONNREFUSED")
  if (health === "faulty") return { status: 500, body: '{"error":{"code":"internal"}}' }
  if (health === "throttling")
    return { status: 429, body: '{"error":{"code":"rate_limited"}}', retryAfter: String(RETRY_AFTER_SECONDS) }
  return kind === "declaration"
    ? { status: 200, body: '{"expected":0,"withdrawn":0}' }
    : { status: 202, body: kind === "heartbeat" ? '{"accepted":true}' : '{"accepted":1,"deduplicated":0}' }
}

const health = fc.constantFrom<Health>("well", "throttling", "faulty", "silent")
const span = fc.record({
  servers: fc.tuple(health, health),
  seconds: fc.integer({ min: 5, max: 400 }),
  results: fc.integer({ min: 0, max: 3 }),
  /** A reload at its end, where a request may be under way. */
  reload: fc.constantFrom("none", "between", "during"),
})
type Span = typeof span extends fc.Arbitrary<infer S> ? S : never

/** The second server takes over, and answers for longer than the first one waits for its turn. */
const secondThrottles: Array<Span> = Array.from({ length: 5 }, () => ({
  servers: ["silent", "throttling"],
  seconds: 400,
  results: 1,
  reload: "none",
}))

interface Made {
  readonly kind: OutgoingRequest["kind"]
  readonly server: string
  readonly at: number
  readonly health: Health
  /** When the last start or reload was. */
  readonly since: number
  /** The first after a start or a reload. */
  readonly isFirst: boolean
}

/** A sender between two servers, whose time passes by its own waits. */
class Story {
  #now = 0
  #health: readonly [Health, Health] = ["well", "well"]
  #waiting: Array<OutgoingResult> = []
  #isFirst = true
  #since = 0
  #onRequest = () => {}
  readonly made: Array<Made> = []
  readonly #sender: Sender

  constructor() {
    const statements = {
      agentId: "a",
      servers: SERVERS,
      heartbeat: { hostname: "a", features: { push: true, metrics: false } },
      expected: undefined,
    }
    this.#reload = () => {
      this.#sender.restate(statements)
      this.#isFirst = true
      this.#since = this.#now
    }
    this.#sender = new Sender(
      {
        queue: {
          size: () => this.#waiting.length,
          hasChange: () => this.#waiting.length > 0,
          take: (limit) => this.#waiting.slice(0, limit),
          acknowledge: (results) =>
            void (this.#waiting = this.#waiting.filter((one) => !results.includes(one))),
          reject: () => assert.fail("nothing is invalid"),
          putBack: () => {},
          setNote: () => {},
        },
        keys: {
          current: () => "key",
          next: () => undefined,
          promote: () => {},
          discard: () => {},
          fingerprintOf: () => "print",
        },
        clock: { wall: () => this.#now, steady: () => this.#now, sinceBoot: () => this.#now },
        boot: "boot",
        random: () => 0.5,
        log: () => {},
        transport: { send: (request) => this.#send(request) },
      },
      statements,
    )
  }

  readonly #reload: () => void

  async #send({ kind, server }: OutgoingRequest): Promise<HttpAnswer> {
    const health = this.#health[SERVERS.indexOf(server)] ?? "silent"
    this.made.push({ kind, server, at: this.#now, health, since: this.#since, isFirst: this.#isFirst })
    this.#isFirst = false
    const onRequest = this.#onRequest
    this.#onRequest = () => {}
    onRequest()
    await Promise.resolve()
    return answerOf(health, kind)
  }

  get now(): number {
    return this.#now
  }

  async live({ servers, seconds, results, reload }: Span): Promise<void> {
    this.#health = servers
    for (let n = 0; n < results; n++) this.#waiting.push({ id: String(n), checkId: "c", body: "{}" })
    const end = this.#now + seconds * SECOND
    while (this.#now < end) this.#now = Math.min(end, Math.max(this.#now, await this.#sender.step()))
    if (reload === "between") this.#reload()
    if (reload === "during") this.#onRequest = this.#reload
  }
}

const isFailure = ({ health }: Made): boolean => health !== "well"

describe("between two servers", () => {
  it("pauses are kept, the first server is asked again, and heartbeats keep their phase, also over reloads", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(span, { minLength: 2, maxLength: 20 }), async (spans) => {
        const scenario = new Story()
        for (const each of spans) await scenario.live(each)
        for (const [index, made] of scenario.made.entries()) {
          const before = scenario.made[index - 1]
          const shown = JSON.stringify(scenario.made.slice(Math.max(0, index - 3), index + 1))
          if (made.isFirst) {
            assert.strictEqual(made.server, SERVERS[0], `a reload begins with the first server: ${shown}`)
            continue
          }
          if (before?.health === "throttling")
            assert.isAtLeast(made.at - before.at, RETRY_AFTER_SECONDS * SECOND, `a pause is kept: ${shown}`)
          if (before !== undefined && !isFailure(before) && made.kind === "heartbeat")
            assert.isAtMost((made.at - made.since) % MINUTE, SECOND, `a heartbeat keeps its phase: ${shown}`)
        }
        const asked = scenario.made.filter(({ server }) => server === SERVERS[0]).map(({ at }) => at)
        for (const [index, at] of [...asked.slice(1), scenario.now].entries())
          assert.isAtMost(at - (asked[index] ?? 0), 11 * MINUTE, "the first server gets its turn")
      }),
      { numRuns: propertyRuns(200), examples: [[secondThrottles]] },
    )
  })
})
