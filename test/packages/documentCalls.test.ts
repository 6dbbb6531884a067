import { callTable, mapCalls } from "@tocsin/client/calls/callTable"
import { assert, it } from "@effect/vitest"
import { documentCalls } from "../../scripts/build/documentCalls.ts"

it("the build documents each call with the text of its endpoint, and nothing else", () => {
  const group = "\t/** Agents, by agent_id. */\n\tagents: {\n"
  const call = '\t\treadonly get: import("./call.js").Call<"getAgent", [agentId: string], R.Agent>;\n'
  const walk = '\t\tall: import("./call.js").Walk<"listAgents", [], R.Agent>;\n'
  const text = "Shows one agent; its status is computed from when it was last seen."
  assert.strictEqual(
    documentCalls(group + call + walk),
    `${group}\t\t/**\n\t\t * ${text}\n\t\t */\n${call}${walk}`,
  )
})

it("the OpenAPI documents have a text for each endpoint that a program calls", () => {
  mapCalls(({ endpoint }) => {
    const documented = documentCalls(`  call: import("./call.js").Call<"${endpoint}", [], void>;`)
    assert.match(documented, /^ {2}\/\*\*\n {3}\* [A-Z].{10}/, endpoint)
  })
  assert.isAbove(Object.keys(callTable).length, 20)
})

it("the build fails for a call whose endpoint has no text", () => {
  assert.throws(
    () => documentCalls('  lost: import("./call.js").Call<"lostEndpoint", [], void>;'),
    "the OpenAPI documents say nothing about lostEndpoint",
  )
})
