import { assert } from "@effect/vitest"
import type { StorageUnderTest } from "@tocsin/testing/StorageUnderTest"
import { Effect } from "effect"
import { call, operate } from "../client/call.ts"
import { expectError } from "../client/expectError.ts"
import { acceptedAgent, event, heartbeat, push } from "../client/TestAgent.ts"
import { onStorage } from "../onStorage.ts"

type Found = Readonly<Record<string, unknown>>

interface Items {
  readonly items: ReadonlyArray<Found>
}

const OPS = "/ops/v1"
const TCP = { tcp: { host: "home.example", port: 443 } }

const listed = (path: string) =>
  Effect.map(operate("GET", `${OPS}/${path}`), ({ body }) => (body as Items).items)

/** The titles of a list by a field. */
const titles = (path: string, field: string) =>
  Effect.map(listed(path), (items) => items.map((each) => [each[field], each["title"]]))

const patched = Effect.fnUntraced(function* (path: string, json: object) {
  const { body, status, text } = yield* operate("PATCH", `${OPS}/${path}`, { json })
  assert.strictEqual(status, 200, text)
  return body
})

const created = Effect.fnUntraced(function* (path: string, json: object) {
  const { body, status, text } = yield* operate("POST", `${OPS}/${path}`, { json })
  assert.strictEqual(status, 201, text)
  return body as { readonly name: string; readonly key: string; readonly title: string | null }
})

/** Titles of agents, checks, watches and integrations (docs/rules.md#titles). */
export const titleSuite = <Place>(subject: StorageUnderTest<Place>): void => {
  const { scenario } = onStorage(subject)

  scenario("an agent's title is an operator's, or else its label, and every list but v1 has it", () =>
    Effect.gen(function* () {
      const agent = yield* acceptedAgent("web-1")
      const labels = { title: " Web of the shop ", team: "web" }
      yield* heartbeat(agent, { labels, observed_at: "2026-03-01T12:00:01Z" })
      assert.deepStrictEqual(yield* titles("agents", "agent_id"), [["web-1", "Web of the shop"]])
      assert.deepStrictEqual(yield* patched("agents/web-1", { title: "Front of the shop" }), { count: 1 })
      assert.deepStrictEqual(yield* patched("agents/web-1", { title: "Front of the shop" }), { count: 0 })
      yield* heartbeat(agent, { labels, observed_at: "2026-03-01T12:00:02Z" })
      const [shown] = yield* listed("agents?search=front")
      assert.deepInclude(shown, { agent_id: "web-1", title: "Front of the shop", labels })
      assert.deepStrictEqual(yield* listed("agents?search=back"), [])
      const { body } = yield* operate("GET", "/api/v1/agents/web-1")
      assert.notProperty(body, "title")
      assert.deepInclude(body as Found, { labels })
      yield* heartbeat(agent, { observed_at: "2026-03-01T12:00:03Z" })
      const bare = (yield* operate("GET", "/api/v1/agents/web-1")).body
      assert.notProperty(bare, "labels")
      assert.deepStrictEqual(yield* titles("agents", "agent_id"), [["web-1", "Front of the shop"]])
      assert.deepStrictEqual(yield* patched("agents/web-1", { title: null }), { count: 1 })
      assert.deepStrictEqual(yield* titles("agents", "agent_id"), [["web-1", null]])
      const audit = yield* listed("audit?action=agent.titled")
      assert.deepStrictEqual(
        audit.map(({ parameters, subjects }) => [parameters, subjects]),
        [
          [{ title: null }, [{ kind: "agent", id: "web-1" }]],
          [{ title: "Front of the shop" }, [{ kind: "agent", id: "web-1" }]],
        ],
      )
      const path = `${OPS}/agents/web-1`
      for (const title of ["", " a", "a\nb", "x".repeat(101), 1])
        expectError(yield* operate("PATCH", path, { json: { title } }), 400, "validation")
      expectError(yield* operate("PATCH", `${OPS}/agents/web-2`, { json: { title: "x" } }), 404, "not_found")
    }),
  )

  scenario("incidents, their members and searches have the title of the worst check", () =>
    Effect.gen(function* () {
      const agent = yield* acceptedAgent("web-1")
      const shared = { incident_key: "site" }
      yield* push(
        agent,
        event({ check_id: "load", status: "warning", exit_code: 1, ...shared }),
        event({ check_id: "disk", status: "critical", exit_code: 2, ...shared }),
        event({ check_id: "fine" }),
      )
      yield* patched("checks/web-1/load", { title: "Load of the shop" })
      yield* patched("checks/web-1/disk", { title: "Disk of the Shop" })
      assert.deepStrictEqual(yield* titles("incidents", "incident_key"), [["site", "Disk of the Shop"]])
      assert.deepStrictEqual((yield* titles("outbox", "incident_key"))[0], ["site", "Disk of the Shop"])
      const subjects = (query: string) =>
        Effect.map(listed(`audit?action=check.titled${query}`), ([newest]) => newest?.["subjects"])
      const disk = { kind: "check", id: "web-1/disk" }
      assert.deepStrictEqual(yield* subjects(""), [disk])
      assert.deepStrictEqual(yield* subjects("&with_titles=true"), [{ ...disk, title: "Disk of the Shop" }])
      for (const words of ["shop", "disk+of", "site"])
        assert.lengthOf(yield* listed(`incidents?search=${words}`), 1, words)
      assert.lengthOf(yield* listed("incidents?search=nowhere"), 0)
      assert.deepStrictEqual(yield* titles("checks?search=of+the+shop", "check_id"), [
        ["disk", "Disk of the Shop"],
        ["load", "Load of the shop"],
      ])
      assert.deepStrictEqual(yield* titles("checks?search=web-1/fine", "check_id"), [["fine", null]])
      const [{ id } = {}] = yield* listed("incidents")
      const { body } = yield* operate("GET", `${OPS}/incidents/${String(id)}`)
      assert.containSubset(body, {
        incident: { title: "Disk of the Shop" },
        members: [
          { check_id: "disk", title: "Disk of the Shop" },
          { check_id: "load", title: "Load of the shop" },
        ],
      })
      assert.notInclude((yield* operate("GET", "/api/v1/incidents")).text, "Shop")
    }),
  )

  scenario("a watch and its check are called by its title, of which its name is made", () =>
    Effect.gen(function* () {
      const first = yield* created("watches", { title: "Straße & Café", ...TCP })
      const second = yield* created("watches", { title: "Straße & Café", ...TCP })
      const third = yield* created("watches", { title: "!!!", ...TCP })
      assert.deepStrictEqual(
        [first, second, third].map(({ name, title }) => [name, title]),
        [
          ["strasse-cafe", "Straße & Café"],
          ["strasse-cafe-2", "Straße & Café"],
          ["watch", "!!!"],
        ],
      )
      const long = yield* created("watches", { title: "x".repeat(100), ...TCP })
      const next = yield* created("watches", { title: "x".repeat(100), ...TCP })
      assert.deepStrictEqual([long.name, next.name], ["x".repeat(64), `${"x".repeat(62)}-2`])
      const both = { name: "home", title: "Home", ...TCP }
      assert.strictEqual((yield* created("watches", both)).name, "home")
      expectError(yield* operate("POST", `${OPS}/watches`, { json: both }), 409, "conflict")
      expectError(yield* operate("POST", `${OPS}/watches`, { json: TCP }), 400, "validation")
      const atOnce = yield* Effect.all(
        Array.from({ length: 4 }, () => created("watches", { title: "At once", ...TCP })),
        { concurrency: "unbounded" },
      )
      assert.deepStrictEqual(atOnce.map(({ name }) => name).toSorted(), [
        "at-once",
        "at-once-2",
        "at-once-3",
        "at-once-4",
      ])
      const { places: _, ...before } = (yield* operate("GET", `${OPS}/watches/home`)).body as Found
      const changed = yield* patched("watches/home", { title: "Our home" })
      assert.deepStrictEqual(changed, { ...before, title: "Our home" })
      assert.containSubset(yield* patched("watches/home", { title: null }), { title: null })
    }),
  )

  scenario("an integration, its agent and the check that its option names are called by its title", () =>
    Effect.gen(function* () {
      const options = { check: "nightly" }
      const given = { title: "Nightly backup", kind: "ping", options }
      const { key, name, title } = yield* created("integrations", given)
      assert.deepStrictEqual([name, title], ["nightly-backup", "Nightly backup"])
      assert.strictEqual((yield* created("integrations", given)).name, "nightly-backup-2")
      assert.strictEqual((yield* created("integrations", { title: "?", kind: "push" })).name, "push")
      yield* acceptedAgent("shop")
      assert.strictEqual((yield* created("integrations", { title: "Shop", kind: "push" })).name, "shop-2")
      expectError(
        yield* operate("POST", `${OPS}/integrations`, { json: { kind: "push" } }),
        400,
        "validation",
      )
      yield* call("GET", `/in/ping/${key}`)
      const shown = titles("checks?agent_id=nightly-backup", "check_id")
      assert.deepStrictEqual(yield* shown, [["nightly", "Nightly backup"]])
      const [agent] = yield* listed("agents?search=nightly-backup")
      assert.deepInclude(agent, { title: "Nightly backup", labels: { integration: "ping" } })
      yield* patched("checks/nightly-backup/nightly", { title: "By night" })
      assert.containSubset(yield* patched("integrations/nightly-backup", { title: "Backup" }), { options })
      assert.deepStrictEqual(yield* shown, [["nightly", "By night"]])
      yield* patched("checks/nightly-backup/nightly", { title: null })
      assert.deepStrictEqual(yield* shown, [["nightly", "Backup"]])
      yield* operate("DELETE", `${OPS}/agents/nightly-backup/checks/nightly`)
      yield* call("GET", `/in/ping/${key}`)
      assert.deepStrictEqual(yield* shown, [["nightly", "Backup"]])
      yield* patched("integrations/nightly-backup", { options: {} })
      assert.deepStrictEqual(yield* shown, [["nightly", null]])
      yield* patched("integrations/nightly-backup", { options, title: null })
      assert.deepStrictEqual(yield* shown, [["nightly", null]])
      assert.deepInclude((yield* listed("agents?search=nightly-backup"))[0], { title: null })
      expectError(
        yield* operate("PATCH", `${OPS}/integrations/nightly-backup`, { json: {} }),
        400,
        "validation",
      )
    }),
  )

  scenario("an alert is called by its labels alertname and instance, unless it has a label title", () =>
    Effect.gen(function* () {
      const { key } = yield* created("integrations", { name: "prom", kind: "alertmanager" })
      const alert = (labels: object) => ({ labels, annotations: {}, startsAt: "2026-03-01T12:00:00Z" })
      const sent = yield* call("POST", `/in/alertmanager/${key}/api/v2/alerts`, {
        json: [
          alert({ alertname: "DiskFull", instance: "db-1:9100", severity: "critical" }),
          alert({ alertname: "Quiet", severity: "warning" }),
          alert({ alertname: "Named", instance: "db-2:9100", title: "The database" }),
        ],
      })
      assert.strictEqual(sent.status, 200, sent.text)
      const shown = yield* listed("checks?agent_id=prom")
      assert.deepStrictEqual(shown.map(({ title }) => title).toSorted(), [
        "DiskFull db-1:9100",
        "Quiet",
        "The database",
      ])
      assert.notInclude(JSON.stringify(shown.map(({ labels }) => labels)), "DiskFull db-1")
    }),
  )
}
