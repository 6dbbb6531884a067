import { setFlagsFromString } from "node:v8"
import { runInNewContext } from "node:vm"
import { AgentId, CheckId, RegistrationId } from "@tocsin/contract/formats/Identifiers"
import * as Instant from "@tocsin/contract/formats/Instant"
import type { CheckMetric } from "@tocsin/core/features/checkMetrics/checkMetrics"
import { assert, it } from "@effect/vitest"
import { Effect, Option, Stream } from "effect"
import {
  checkMetricsText,
  type CheckMetricsSource,
} from "../../../src/features/checkMetrics/checkMetricsText.ts"

setFlagsFromString("--expose-gc")
const collect = runInNewContext("gc") as () => void

const registrationOf = (n: number) =>
  RegistrationId.make(`01900000-0000-7000-8000-${String(n).padStart(12, "0")}`)

const START = Instant.fromMillis(0)

const metric = (check_id: string, given: Partial<CheckMetric> = {}): CheckMetric => ({
  ref: {
    agent_id: AgentId.make("web-1"),
    check_id: CheckId.make(check_id),
    registration_id: registrationOf(1),
  },
  title: "",
  labels: {},
  isLate: false,
  last: { status: "ok", received_at: Instant.fromMillis(1_500), measured_at: START },
  ...given,
})

const sourceOf = (checks: ReadonlyArray<CheckMetric>): CheckMetricsSource => ({
  checks: (after) => {
    const rest = checks.slice(checks.findIndex(({ ref }) => ref.check_id === after?.check_id) + 1)
    return Stream.rechunk(Stream.fromIterable(rest), 250).pipe(
      Stream.chunks,
      Stream.map((piece) => Array.from(piece)),
    )
  },
  numbersOf: ({ isLate, last }) =>
    isLate || last === undefined ? [] : [{ name: "a\nb", unit: "", value: 1e-7 }],
})

const textOf = (checks: ReadonlyArray<CheckMetric>, isOpenMetrics = false) =>
  Effect.map(
    Stream.runCollect(
      checkMetricsText(sourceOf(checks), { labels: ["env.name", "team"], isOpenMetrics }).pipe(
        Stream.decodeText(),
      ),
    ),
    (pieces) => Array.from(pieces).join(""),
  )

it.effect("each family stands once, and a late check has no more than is known of it", () =>
  Effect.gen(function* () {
    const text = yield* textOf([
      metric("disk", { title: 'the "disk"', labels: { "env.name": "prod", team: "" } }),
      metric("late", { isLate: true, last: { status: "unknown", received_at: START, measured_at: START } }),
      metric("never", { isLate: true, last: undefined }),
    ])
    const lines = text.trimEnd().split("\n")
    const families = lines.filter((line) => line.startsWith("# TYPE")).map((line) => line.split(" ")[2])
    assert.strictEqual(families.length, new Set(families).size)
    const of = (check: string) => `agent_id="web-1",check_id="${check}"`
    assert.deepStrictEqual(
      lines.filter((line) => !line.startsWith("#")),
      [
        `tocsin_check_info{${of("disk")},title="the \\"disk\\"",label_env_name="prod"} 1`,
        `tocsin_check_info{${of("late")}} 1`,
        `tocsin_check_info{${of("never")}} 1`,
        `tocsin_check_status{${of("disk")}} 0`,
        `tocsin_check_status{${of("late")}} 3`,
        `tocsin_check_late{${of("disk")}} 0`,
        `tocsin_check_late{${of("late")}} 1`,
        `tocsin_check_late{${of("never")}} 1`,
        `tocsin_check_last_result_timestamp_seconds{${of("disk")}} 1.5`,
        `tocsin_check_last_result_timestamp_seconds{${of("late")}} 0`,
        `tocsin_check_number{${of("disk")},name="a\\nb"} 1e-7`,
      ],
    )
    assert.isFalse(text.includes("# EOF"))
    assert.isTrue((yield* textOf([], true)).endsWith("# EOF\n"))
  }),
)

/** Bytes that the process holds, after a collection. */
const held = (): number => {
  collect()
  const { arrayBuffers, heapUsed } = process.memoryUsage()
  return heapUsed + arrayBuffers
}

it.live(
  "20,000 checks with the longest IDs take no more than 8 MiB at any piece, and each family has all",
  () =>
    Effect.gen(function* () {
      const before = held()
      /** Made as they are read. */
      const made = (n: number) => {
        const id = `${String(n).padStart(6, "0")}${"x".repeat(122)}`
        const check = metric(id)
        // The longest of IDs, and an agent for each check.
        const ref = { ...check.ref, agent_id: AgentId.make(id), registration_id: registrationOf(n) }
        return { ...check, ref }
      }
      const source: CheckMetricsSource = {
        checks: (after) =>
          Stream.paginate(after === undefined ? 0 : Number(after.check_id.slice(0, 6)) + 1, (first) =>
            Effect.sync(() => {
              const piece = Array.from({ length: Math.min(250, 20_000 - first) }, (_, n) => made(first + n))
              const next = first + piece.length
              return [[piece], next < 20_000 ? Option.some(next) : Option.none()] as const
            }),
          ),
        numbersOf: () => [{ name: "used", unit: "%", value: 42 }],
      }
      const more: Array<number> = []
      let pieces = 0
      const counts = new Map<string, number>()
      const decoder = new TextDecoder()
      yield* Stream.runForEach(
        Stream.rechunk(checkMetricsText(source, { labels: [], isOpenMetrics: false }), 1),
        (bytes) =>
          Effect.sync(() => {
            pieces += 1
            // A collection looks at the whole process, which has run other files.
            if (pieces % 100 === 0) more.push(held() - before)
            for (const [, name = ""] of decoder.decode(bytes).matchAll(/^(\w+)\{/gm))
              counts.set(name, (counts.get(name) ?? 0) + 1)
          }),
      )
      assert.deepStrictEqual(Array.from(new Set(counts.values())), [20_000])
      assert.strictEqual(counts.size, 5)
      // Garbage of earlier files may go meanwhile, so each may be below zero.
      assert.isAtLeast(more.length, 3)
      assert.isBelow(Math.max(...more), 8 * 1_048_576)
    }),
)
