import { assert, describe, it } from "@effect/vitest"
import { segment } from "../../packages/console/src/api/request.ts"
import { linkTo, parseRoute } from "../../packages/console/src/state/Route.ts"
import { AgentPathParameters } from "@tocsin/contract/v1/Parameters"
import { targetOf } from "@tocsin/reporting/agent/Answer"
import { Schema } from "effect"
import fc from "fast-check"
import { anyCharacter } from "@tocsin/testing/anyCharacter"

const BASE = "http://server/below"

/** IDs as the contract allows them; the rare ones are those that programs in between resolve. */
const id = fc.oneof(
  fc.constantFrom(".", "..", "...", "a:b", ".a", "-", "__proto__"),
  fc.stringMatching(/^[A-Za-z0-9._:-]{1,8}$/u),
)
/** Names of operators and receivers, and anything that is typed into an address. */
const text = fc.oneof(
  fc.constantFrom("/", "?", "%", "#", "%2F", "a%2e", "a/b", "a b", "a+b", "&=", ";", "\\", "é", "\u{1F600}"),
  fc.string({ minLength: 1, unit: anyCharacter }),
)

/** IDs alone are read in every form of these. */
const isNoDots = (name: string): boolean => !/^(?:\.|%2e){1,2}$/iu.test(name)

/** The segments of a path as a server reads them. */
const segmentsOf = (address: string): ReadonlyArray<string> =>
  new URL(address).pathname.split("/").slice(2).map(decodeURIComponent)

const isDecodable = (text: string): boolean => {
  try {
    decodeURIComponent(text)
    return true
  } catch {
    return false
  }
}

const agentIn = (segment: string | undefined): string =>
  Schema.decodeUnknownSync(AgentPathParameters)({ agent_id: segment }).agent_id

/** By whom a path with the ID of an agent is built, and which segment of it has the ID. */
const builders: Readonly<Record<string, (id: string) => readonly [address: string, at: number]>> = {
  "the agent": (agentId) => [
    targetOf({ kind: "declaration", server: `${BASE}/`, agentId, key: "", body: "" }).url,
    3,
  ],
  "the console": (agentId) => [`${BASE}/ops/v1/agents/${segment(agentId)}/checks`, 3],
  "the client": (agentId) => {
    const params = Schema.encodeSync(AgentPathParameters)(
      Schema.decodeUnknownSync(AgentPathParameters)({ agent_id: agentId }),
    )
    return [`${BASE}/ops/v1/agents/${encodeURIComponent(params.agent_id)}/checks`, 3]
  },
}

describe("a path", () => {
  it.each(Object.entries(builders))("that %s builds leads to the agent, whatever its ID", (_, build) => {
    fc.assert(
      fc.property(id, (agentId) => {
        const [address, at] = build(agentId)
        const segments = segmentsOf(address)
        assert.strictEqual(agentIn(segments[at]), agentId, address)
        assert.lengthOf(segments, at + 2, address)
      }),
    )
  })

  it("of the console leads to what has this name, with any characters", () => {
    fc.assert(
      fc.property(text.filter(isNoDots), (name) => {
        const segments = segmentsOf(`${BASE}/ops/v1/operators/${segment(name)}`)
        assert.strictEqual(segments.at(-1), name)
        assert.lengthOf(segments, 4)
      }),
    )
  })

  it("that a person types into the console is read, also where its percent signs encode nothing", () => {
    const typed = fc.stringMatching(/^[A-Za-z0-9]{0,4}%(?:[g-z]|%|[0-9a-f]?$|ff|c3)[A-Za-z0-9]{0,4}$/u)
    fc.assert(
      fc.property(typed, (text) => {
        fc.pre(!isDecodable(text))
        assert.deepStrictEqual(parseRoute(`#/checks/${text}/a%2Fb`).subject, [text, "a/b"])
      }),
    )
  })

  it("in an address of the console keeps every character, also after a browser has read it", () => {
    fc.assert(
      fc.property(text, text, text, (first, second, value) => {
        const address = new URL(linkTo("checks", [first, second], { q: value }), `${BASE}/`)
        assert.deepStrictEqual(parseRoute(address.hash), {
          page: "checks",
          subject: [first, second],
          parameters: { q: value },
        })
      }),
    )
  })
})
