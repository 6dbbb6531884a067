import { describe } from "@effect/vitest"
import { agentSuite } from "@tocsin/testing/agents/agentSuite"
import { join } from "node:path"
import { createAgent } from "../../src/createAgent.ts"

const memory = "its reports wait in memory, and end with the process"

describe("createAgent", () => {
  agentSuite({
    start: async ({ url, agentId, folder }) => {
      const agent = createAgent({ baseUrl: url, agentId, keyFile: join(folder, "key"), log: false })
      return { report: async (...result) => agent.report(...result), stop: agent.close }
    },
    without: {
      "keeps results until its key is accepted": `${memory}; it asks each minute while it runs`,
      "keeps its key and its results when it is restarted": memory,
    },
  })
})
