import { createHash } from "node:crypto"
import { assert, describe, it } from "@effect/vitest"
import { AgentId } from "@tocsin/contract/formats/Identifiers"
import * as Instant from "@tocsin/contract/formats/Instant"
import { Duration, Result } from "effect"
import { expectedTerms } from "../../../src/features/integrations/expected.ts"
import { icinga } from "../../../src/features/integrations/icinga.ts"
import { readingsOf } from "../../../src/features/numbers/readings.ts"

const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex")
const NOW = Instant.fromMillis(1_772_539_200_000)
const context = { name: AgentId.make("icinga"), options: {}, now: NOW, sha256 }
const PATH = ["v1", "actions", "process-check-result"]

const translate = (body: object, query: ReadonlyArray<readonly [string, string]> = [], path = PATH) =>
  icinga.translate({ method: "POST", path, query, body: JSON.stringify(body) }, context)

const only = (...given: Parameters<typeof translate>) => {
  const reading = translate(...given)
  if ("refused" in reading) return reading.message
  const [report] = reading.reports
  return report?.signal === "result" ? report : assert.fail("no result")
}

/** A result as `ID status`, or why it is refused. */
const read = (...given: Parameters<typeof translate>) => {
  const report = only(...given)
  return typeof report === "string" ? report : `${report.check_id} ${report.status}`
}

const DOWN = { exit_status: 1, plugin_output: "down" }
const NONE = "not found"

describe("results by Icinga's API", () => {
  it("are of the host or service that the parameters or a filter of equalities name", () => {
    for (const [given, query, expected] of [
      [{ service: "web1!disk" }, [], "web1:disk warning"],
      [{}, [["service", "web1!disk!1"]], "web1:disk_1. warning"],
      [{ host: "web1" }, [["type", "host"]], "web1:host critical"],
      [{ type: "Host", filter: 'host.name=="web1"' }, [], "web1:host critical"],
      [
        { type: "Service", filter: ' service.name == "disk" && host.name=="a\\"b" ' },
        [],
        "a_b:disk. warning",
      ],
      [
        { type: "Service", filter: "host.name==h && service.name==s", filter_vars: { h: "web1", s: "disk" } },
        [],
        "web1:disk warning",
      ],
      [{}, [], NONE],
      [{ service: "web1" }, [], NONE],
      [{ type: "Service", filter: 'service.name=="disk"' }, [], NONE],
      [{ type: "Service", filter: 'host.name=="web1"' }, [], NONE],
      [{ type: "Host", filter: 'host.name=="web1" || host.name=="web2"' }, [], NONE],
      [{ type: "Host", filter: 'host.name=="a" && host.name=="b"' }, [], NONE],
      [{ type: "Host", filter: "host.name==toString", filter_vars: {} }, [], NONE],
      [{ type: "Host", filter: 'match("*",host.name)' }, [], NONE],
    ] as const)
      assert.strictEqual(read({ ...DOWN, ...given }, query).replace(/\.[0-9a-f]{12} /u, ". "), expected)
    assert.strictEqual(read(DOWN, [["host", "a"]], ["v1", "actions", "reschedule-check"]), NONE)
  })

  it("have Icinga's states, and are refused without one or an output", () => {
    const service = (exit_status: unknown) => read({ service: "a!b", exit_status, plugin_output: "" })
    assert.deepStrictEqual(
      [0, 1, 2, 3, 4, -1, "2"].map(service),
      ["ok", "warning", "critical", "unknown", "unknown", "unknown", "critical"].map(
        (status) => `a:b ${status}`,
      ),
    )
    const host = (exit_status: unknown) => read({ host: "a", exit_status, plugin_output: "" })
    const must = "exit_status must be the number of a state: 0 or 1 for a host"
    assert.deepStrictEqual(["0", 1, 2, null].map(host), ["a:host ok", "a:host critical", must, must])
    assert.deepStrictEqual(["x", "", " "].map(service), [must, must, must])
    assert.strictEqual(read({ host: "a", exit_status: 0 }), "plugin_output must be a text")
    assert.strictEqual(read([]), "the request body must be a JSON object")
  })

  it("have their numbers behind the first line, as plugins write them", () => {
    const output = (given: object) => {
      const report = only({ ...DOWN, service: "a!b", ...given })
      return typeof report === "string" ? report : (report.output ?? "")
    }
    const performance_data = ["rta=5ms;3;5;0", "disk usage=80%;80;90", "'a b'=1", 7, "c\n=2"]
    const text = output({ plugin_output: "slow\nmore | x=1", performance_data })
    assert.strictEqual(text, "slow|rta=5ms;3;5;0 'disk usage'=80%;80;90 'a b'=1 'c '=2\nmore | x=1")
    const numbers = readingsOf({ duration_ms: 0, output: text, output_truncated: false })
    assert.deepStrictEqual(
      numbers.map(({ name }) => name),
      ["rta", "disk usage", "a b", "c ", "x"],
    )
    assert.strictEqual(output({ plugin_output: "a|b=1", performance_data: "c=2" }), "a|b=1 c=2")
    assert.strictEqual(output({ execution_end: 1_772_535_600.5 }), "down\nchecked 2026-03-03 11:00:00 UTC")
    assert.strictEqual(output({ execution_end: 1_772_539_195 }), "down")
  })

  it("are expected again within their ttl, and no sooner than any check is overdue", () => {
    const afterOf = (ttl: unknown) => {
      const report = only({ ...DOWN, host: "a", ttl })
      if (typeof report === "string") return report
      return Result.getOrThrow(expectedTerms(report, { kind: "icinga", staleAfter: Duration.seconds(120) }))
        ?.after_millis
    }
    assert.deepStrictEqual([3_600, "3600", 1, 1e12, 0, -1, "soon", undefined].map(afterOf), [
      3_600_000,
      3_600_000,
      150_000,
      2_678_400_000,
      undefined,
      undefined,
      undefined,
      undefined,
    ])
  })
})
