import { assert, describe, it, vi } from "@effect/vitest"
import { agentSuite } from "@tocsin/testing/agents/agentSuite"
import { join } from "node:path"
import { type AgentOptions, createAgent } from "@tocsin/client/createAgent"
import { TocsinClientError } from "@tocsin/client/TocsinClientError"
import { realTime } from "../../src/program/Platform.ts"
import { ReportingAgent } from "../../src/program/ReportingAgent.ts"

const memory = "its reports wait in memory, and end with the process"

describe("createAgent", () => {
  it.each<[option: string, given: Partial<AgentOptions>]>([
    ["labels", { labels: { auth: "ldap" } }],
    ["labels", { labels: { team: "half \ud83d" } }],
    ["labels", { labels: Object.fromEntries(Array.from({ length: 32 }, (_, n) => [`label-${n}`, ""])) }],
    ["hostname", { hostname: "two\nlines" }],
    ["hostname", { hostname: "half \ud83d" }],
  ])("refuses %s with which the server would refuse every heartbeat", (option, given) => {
    const make = () =>
      createAgent({ baseUrl: "http://127.0.0.1:9", agentId: "shop", agentKey: "k", log: false, ...given })
    assert.throws(make, TocsinClientError, `${option} must be`)
  })

  it("reports where no fingerprint can be made, as on a page without HTTPS", async () => {
    const kinds: Array<string> = []
    const surroundings = {
      ...realTime(),
      log: () => {},
      transport: {
        send: async ({ kind }: { readonly kind: string }) => {
          kinds.push(kind)
          return { status: 202, body: '{"accepted":true,"accepted_events":1}' }
        },
      },
    }
    const identity = {
      agentId: "shop",
      servers: ["http://server"],
      key: "key",
      fingerprint: Promise.reject(new TypeError("no crypto.subtle")),
      heartbeat: { hostname: "a", features: { push: true, metrics: false } },
    }
    const agent = new ReportingAgent(identity, surroundings, (message) => new Error(message))
    agent.report("orders", "ok")
    await vi.waitFor(() => assert.include(kinds, "events"), { timeout: 10_000 })
    await agent.close()
  })

  agentSuite({
    start: async ({ url, agentId, folder }) => {
      const agent = createAgent({ baseUrl: url, agentId, keyFile: join(folder, "key"), log: false })
      return {
        report: async (...result) => agent.report(...result),
        stop: async () => void (await agent.close()),
      }
    },
    without: {
      "keeps results until its key is accepted": `${memory}; it asks each minute while it runs`,
      "keeps its key and its results when it is restarted": memory,
    },
  })
})
