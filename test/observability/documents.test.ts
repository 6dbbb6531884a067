import { assert, describe, it } from "@effect/vitest"
import { readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import type { MetricDefinition } from "@tocsin/core/kernel/engine/metrics/Counters"
import { Schema } from "effect"
import { metricDefinitions as definitions } from "./metricSubjects.ts"
import { metricsPage, valuesOf } from "./metricsPage.ts"
import { promtool, withoutPromtool } from "./promtool.ts"
import { skippedFor } from "@tocsin/testing/StorageUnderTest"

const ROOT = fileURLToPath(new URL("../../", import.meta.url))
const PROMETHEUS = `${ROOT}deploy/prometheus`
const read = (path: string) => readFileSync(`${ROOT}${path}`, "utf8")

/** All names that a scrape can have: those of histograms are three. */
const SERIES: ReadonlyMap<string, MetricDefinition> = new Map(
  definitions.flatMap((definition) =>
    definition.type === "histogram"
      ? ["_bucket", "_sum", "_count"].map((suffix) => [`${definition.name}${suffix}`, definition] as const)
      : [[definition.name, definition] as const],
  ),
)

const Dashboard = Schema.fromJsonString(
  Schema.Struct({
    uid: Schema.String,
    title: Schema.String,
    templating: Schema.Struct({
      list: Schema.Array(
        Schema.Struct({
          name: Schema.String,
          type: Schema.String,
          definition: Schema.optional(Schema.String),
        }),
      ),
    }),
    panels: Schema.Array(
      Schema.Struct({
        id: Schema.Int,
        title: Schema.String,
        type: Schema.String,
        gridPos: Schema.Struct({ x: Schema.Int, y: Schema.Int, w: Schema.Int, h: Schema.Int }),
        datasource: Schema.optional(Schema.Struct({ type: Schema.String, uid: Schema.String })),
        targets: Schema.optional(
          Schema.Array(
            Schema.Struct({ expr: Schema.String, datasource: Schema.Struct({ uid: Schema.String }) }),
          ),
        ),
      }),
    ),
  }),
)

const dashboard = Schema.decodeUnknownSync(Dashboard)(read("deploy/grafana/tocsin.json"))
const queries = dashboard.panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr))

const RULES = read("deploy/prometheus/tocsin.rules.yml")

const METRIC = /\b(?:tocsin|process|nodejs)_[a-z0-9_]+\b/g
const SELECTOR = /\b((?:tocsin|process|nodejs)_[a-z0-9_]+)\{([^}]*)\}/g
const GROUPING = /\b(?:by|on|group_left) \(([^)]*)\)/g

/** Labels that Prometheus adds itself, or that the names of rules bring. */
const ADDED = new Set(["instance", "job", "namespace", "le"])

/** The errors for an unknown metric or label. */
const faultsOf = (expression: string): ReadonlyArray<string> => {
  const names = expression.match(METRIC) ?? []
  const unknown = names.filter((name) => !SERIES.has(name))
  const labelsThere = new Set([...names.flatMap((name) => SERIES.get(name)?.labels ?? []), ...ADDED])
  const grouped = Array.from(expression.matchAll(GROUPING), ([, list = ""]) =>
    list.split(",").map((label) => label.trim()),
  ).flat()
  const selected = Array.from(expression.matchAll(SELECTOR), ([, name = "", selector = ""]) => {
    const labels = Array.from(selector.matchAll(/([a-z_]+)(?:=~|!~|!=|=)/g), ([, label = ""]) => label)
    const known = new Set([...(SERIES.get(name)?.labels ?? []), ...ADDED])
    return labels.filter((label) => !known.has(label)).map((label) => `${name}{${label}}`)
  }).flat()
  return [...unknown, ...selected, ...grouped.filter((label) => label !== "" && !labelsThere.has(label))]
}

describe("docs/metrics.md", () => {
  it("is generated from the definitions (renew it with `node scripts/renderMetrics.ts`)", () => {
    assert.strictEqual(read("docs/metrics.md"), metricsPage())
  })

  it("pages name only existing metrics", () => {
    for (const page of [
      "docs/metrics.md",
      "docs/operations.md",
      "docs/alerts.md",
      "docs/traces-and-logs.md",
    ]) {
      const names = read(page).match(METRIC) ?? []
      const unknown = names.filter(
        (name) => !SERIES.has(name) && !definitions.some((definition) => definition.name === name),
      )
      assert.deepStrictEqual(unknown, [], page)
    }
  })
})

describe("metric definitions", () => {
  it("follow Prometheus' conventions", () => {
    const names = definitions.map(({ name }) => name)
    assert.strictEqual(new Set(names).size, names.length)
    for (const { name, type, help, labels, buckets } of definitions) {
      assert.match(name, /^(tocsin|process|nodejs)_[a-z][a-z0-9_]*$/)
      assert.strictEqual(name.endsWith("_total"), type === "counter", name)
      assert.notMatch(name, /_(millis|ms|minutes|kib|mib|percent)(_|$)/)
      assert.match(help, /^[A-Z].*[^.]$/, name)
      assert.notInclude(labels, "le")
      assert.strictEqual(buckets.length > 0, type === "histogram", name)
      assert.deepStrictEqual(
        buckets,
        buckets.toSorted((a, b) => a - b),
        name,
      )
    }
  })
})

describe("expressions", () => {
  it("are refused with an unknown metric or label", () => {
    assert.deepStrictEqual(faultsOf('sum by (status) (tocsin_agents{status="dead"})'), [])
    assert.deepStrictEqual(faultsOf("rate(tocsin_heartbeat_total[5m])"), ["tocsin_heartbeat_total"])
    assert.deepStrictEqual(faultsOf('tocsin_agents{state="dead"}'), ["tocsin_agents{state}"])
    assert.deepStrictEqual(faultsOf("sum by (notifier) (tocsin_agents)"), ["notifier"])
    assert.deepStrictEqual(faultsOf("tocsin_commit_duration_seconds"), ["tocsin_commit_duration_seconds"])
  })
})

describe("the dashboard", () => {
  it("uses existing metrics and labels", () => {
    assert.isAbove(queries.length, 20)
    assert.deepStrictEqual(queries.flatMap(faultsOf), [])
  })

  it("lets its reader choose the data source, and has no overlapping panels", () => {
    assert.deepStrictEqual(
      dashboard.templating.list.map(({ name, type }) => [name, type]),
      [
        ["datasource", "datasource"],
        ["instance", "query"],
      ],
    )
    assert.deepStrictEqual(
      dashboard.templating.list.flatMap(({ definition = "" }) => faultsOf(definition)),
      [],
    )
    const shown = dashboard.panels.filter(({ type }) => type !== "row")
    for (const { datasource, targets = [], title } of shown) {
      assert.strictEqual(datasource?.uid, "${datasource}", title)
      for (const target of targets) assert.strictEqual(target.datasource.uid, "${datasource}", title)
    }
    const ids = dashboard.panels.map(({ id }) => id)
    assert.strictEqual(new Set(ids).size, ids.length)
    const cells = dashboard.panels.flatMap(({ gridPos: { x, y, w, h } }) =>
      Array.from({ length: w * h }, (_, n) => `${x + (n % w)}/${y + Math.floor(n / w)}`),
    )
    assert.strictEqual(new Set(cells).size, cells.length)
    assert.isTrue(dashboard.panels.every(({ gridPos: { x, w } }) => x + w <= 24))
  })
})

const alerts = RULES.split(/^ *- alert: /m)
  .slice(1)
  .map((text) => ({ name: text.slice(0, text.indexOf("\n")), text }))

describe("the alert rules", () => {
  it("use existing metrics and labels", () => {
    assert.isAbove(alerts.length, 10)
    assert.deepStrictEqual(
      alerts.flatMap(({ name, text }) => faultsOf(text).map((fault) => `${name}: ${fault}`)),
      [],
    )
  })

  it("each have a summary, a severity and a link to their section", () => {
    const runbooks = read("docs/alerts.md")
    for (const { name, text } of alerts) {
      assert.match(text, /severity: (critical|warning|info)\n/, name)
      assert.match(text, /summary: \S/, name)
      assert.match(text, /description: \S/, name)
      assert.include(text, `runbook_url: docs/alerts.md#${name.toLowerCase()}\n`)
      assert.match(runbooks, new RegExp(`^#{2,4} ${name}$`, "m"), name)
    }
  })

  it("have runbooks that explain the values of labels by which they fire, and no others", () => {
    const runbooks = read("docs/alerts.md")
    const tables = alerts.flatMap(({ name, text }) => {
      const [, section = ""] = runbooks.split(`### ${name}\n`)
      const [, label, rows] =
        /^\| `([a-z_]+)` \|.*\n\|---.*\n((?:\|.*\n)+)/m.exec(section.split("\n##")[0] ?? "") ?? []
      return label === undefined || rows === undefined ? [] : [{ name, text, label, rows }]
    })
    assert.deepStrictEqual(
      tables.map(({ name }) => name),
      // The reasons of TocsinStorageErrors are on the page of errors, which test/errors compares.
      ["TocsinClientThrottled", "TocsinHeartbeatsRefused"],
    )
    for (const { name, text, label, rows } of tables) {
      const [metric = ""] = text.match(METRIC) ?? []
      const [, excluded = ""] = new RegExp(`${label}!~"([^"]*)"`).exec(text) ?? []
      const explained = Array.from(rows.matchAll(/^\| `([a-z_]+)` \|/gm), ([, value]) => value)
      const fires = valuesOf(metric).filter((value) => !excluded.split("|").includes(value))
      assert.sameMembers(explained, fires, name)
    }
  })

  it("each fire in a unit test", () => {
    const tests = read("deploy/prometheus/tocsin.rules.test.yml")
    for (const { name } of alerts) assert.include(tests, name)
  })

  const why = skippedFor(withoutPromtool)
  it.skipIf(withoutPromtool !== undefined)(`pass Prometheus' own checks and their unit tests${why}`, () => {
    for (const args of [
      ["check", "rules", "tocsin.rules.yml"],
      ["check", "config", "--syntax-only", "prometheus.yml"],
      ["test", "rules", "tocsin.rules.test.yml"],
    ]) {
      const { status, output } = promtool(args, { cwd: PROMETHEUS })
      assert.strictEqual(status, 0, output)
    }
  })
})
