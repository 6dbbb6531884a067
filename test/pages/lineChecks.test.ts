import { assert, describe, it } from "@effect/vitest"
import { AgentId } from "@tocsin/contract/formats/Identifiers"
import { readPolicy } from "@tocsin/core/lists/readPolicy"
import { listLines } from "@tocsin/core/features/publicPages/lineChecks"
import { Effect, Result } from "effect"
import { enroll, report } from "../service/agents.ts"
import { openTimeline } from "../service/Timeline.ts"

const listed = (lines: Readonly<Record<string, ReadonlyArray<string>>>) => {
  const page = {
    title: "Example",
    groups: [{ title: "a", lines: Object.entries(lines).map(([name, match]) => ({ name, match })) }],
  }
  return Result.getOrThrow(readPolicy({ pages: { p: page } }, []))
}

describe("the lines of a public page", () => {
  it.effect("have the checks that match, at most 200, and warn of none and of more", () =>
    Effect.gen(function* () {
      const { front } = yield* openTimeline()
      yield* enroll(front, AgentId.make("b"))
      const checks = Array.from({ length: 203 }, (_, n) => ({ check: `c${n}`, status: "ok" as const }))
      yield* report(front, [...checks.slice(0, 100), { check: "web", status: "critical" }])
      yield* report(front, checks.slice(100))
      yield* report(front, [{ check: "web", status: "ok" }], AgentId.make("b"))
      const lines = {
        web: ["check_id = web"],
        one: ["agent_id = b", "check_id glob w*"],
        none: ["check_id = other"],
        many: ["check_id glob c*"],
      }
      const sha256 = (text: string) => text
      const found = yield* listLines(front.storage, sha256, listed(lines))
      assert.deepStrictEqual(
        found.lines?.map(({ checks: of, line }) => [line, of.length]),
        [
          ["web", 2],
          ["one", 1],
          ["none", 0],
          ["many", 200],
        ],
      )
      assert.deepStrictEqual(
        found.warnings.map(({ message, path }) => `${path} ${message.split(",")[0]}`),
        [
          "pages.p.groups[0].lines[2] matches no check",
          "pages.p.groups[0].lines[3] matches more than 200 checks",
        ],
      )
      // Without another line, only the named agent's checks are read.
      const ofAgent = yield* listLines(front.storage, sha256, listed({ one: lines.one }))
      assert.deepStrictEqual(ofAgent.lines, [
        { page: "p", line: "one", checks: [{ agent_id: "b", check_id: "web" }] } as never,
      ])
      assert.deepStrictEqual(yield* listLines(front.storage, sha256, {}), { warnings: [] })
    }),
  )
})
