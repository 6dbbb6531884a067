import { AgentId, CheckId, RegistrationId } from "@tocsin/contract/formats/Identifiers"
import * as Instant from "@tocsin/contract/formats/Instant"
import type { CheckMetric } from "@tocsin/core/features/checkMetrics/checkMetrics"
import { assert, it } from "@effect/vitest"
import { Effect, Stream } from "effect"
import { checkMetricsText } from "../../../src/features/checkMetrics/checkMetricsText.ts"

const START = Instant.fromMillis(0)

const metric = (check_id: string, given: Partial<CheckMetric> = {}): CheckMetric => ({
  ref: {
    agent_id: AgentId.make("web-1"),
    check_id: CheckId.make(check_id),
    registration_id: RegistrationId.make("01900000-0000-7000-8000-000000000001"),
  },
  title: "",
  labels: {},
  isLate: false,
  last: { status: "ok", received_at: Instant.fromMillis(1_500), measured_at: START },
  ...given,
})

const textOf = (checks: ReadonlyArray<CheckMetric>, isOpenMetrics = false) =>
  Effect.map(
    Stream.runCollect(
      checkMetricsText(
        Stream.fromIterable(checks.map((check) => [check])),
        ({ isLate, last }) => (isLate || last === undefined ? [] : [{ name: "a\nb", unit: "", value: 1e-7 }]),
        { labels: ["env.name", "team"], isOpenMetrics },
      ).pipe(Stream.decodeText()),
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
