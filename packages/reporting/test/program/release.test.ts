import { getEventListeners, once } from "node:events"
import { releases } from "@tocsin/test/release/releases"
import { assert, it, vi } from "vitest"
import { ReportingAgent, runCheck } from "../../src/program/ReportingAgent.ts"
import { realTime, within } from "../../src/program/Platform.ts"

const LONG_MILLIS = 600_000
const IDENTITY = {
  agentId: "a",
  servers: ["http://server"],
  key: "key",
  fingerprint: Promise.resolve("print"),
  heartbeat: { hostname: "a", features: { push: true, metrics: false } },
}

const listening = (signal: AbortSignal): number => getEventListeners(signal, "abort").length

it("the waits of an agent inside a program leave neither a timer nor a listener", () =>
  releases(async () => {
    const { clock, sleep } = realTime()
    const ending = new AbortController()
    const uses = {
      "a sleep": () => sleep(1, ending.signal),
      "a sleep that is ended": async () => {
        const one = new AbortController()
        const sleeping = sleep(LONG_MILLIS, one.signal)
        one.abort()
        await sleeping
        assert.strictEqual(listening(one.signal), 0)
      },
      "a promise in time": () => within(LONG_MILLIS, Promise.resolve()),
      "a promise that fails": () => within(LONG_MILLIS, Promise.reject(new Error("no"))).catch(() => {}),
      "a check that ends": async () => {
        const one = new AbortController()
        let [runs, waits] = [0, 0]
        const running = runCheck(
          {
            everyMillis: 1,
            timeoutMillis: LONG_MILLIS,
            run: async () => void (runs += 1),
            report: () => {
              assert.isAtMost(waits, 2, "the limits of earlier runs wait no more")
              if (runs > 4) one.abort()
            },
          },
          {
            clock,
            sleep: (millis, signal) => {
              waits += 1
              return sleep(millis, signal).finally(() => void (waits -= 1))
            },
          },
          one.signal,
        )
        await running
        assert.strictEqual(listening(one.signal), 0)
      },
      "a check that is ended within a run": async () => {
        let isEnded = false
        let ending = () => {}
        const surroundings = {
          ...realTime(),
          log: () => {},
          transport: { send: async () => ({ status: 202, body: '{"accepted":true}' }) },
        }
        const agent = new ReportingAgent(IDENTITY, surroundings, (message) => new Error(message))
        await new Promise<void>((started) => {
          const end = agent.check("disk", { every: 1_000 }, async (signal) => {
            signal.addEventListener("abort", () => (isEnded = true))
            started()
            await once(signal, "abort")
          })
          ending = end
        })
        ending()
        await vi.waitFor(() => assert.isTrue(isEnded), { timeout: 60_000 })
        await agent.close()
      },
    }
    const counts = () => ({ "abort listener": listening(ending.signal) })
    return { open: async () => ({ uses, counts, close: async () => {} }) }
  }))
