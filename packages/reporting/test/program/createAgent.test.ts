import { assert, describe, it } from "@effect/vitest"
import { agentSuite } from "@tocsin/testing/agents/agentSuite"
import { join } from "node:path"
import { type AgentOptions, createAgent } from "@tocsin/client/createAgent"
import { TocsinClientError } from "@tocsin/client/TocsinClientError"

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
