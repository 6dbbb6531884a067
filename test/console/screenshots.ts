import { mkdirSync, rmSync } from "node:fs"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { Effect } from "effect"
import { freePort } from "../../bench/src/processes/freePort.ts"
import { OPERATOR_TOKEN } from "../processes/api.ts"
import { scratchFolder } from "../processes/scratch.ts"
import { startServer } from "../processes/ServerProcess.ts"
import { openContext, openConsole, signIn } from "./Console.ts"
import { DemoClient, fillDemo } from "./demo.ts"

/** The address of each page that is pictured. */
const PAGES: Readonly<Record<string, string>> = {
  overview: "overview",
  incidents: "incidents",
  agents: "agents",
  agent: "agents/db-1",
  admission: "admission",
  checks: "checks",
  grid: "checks?view=grid",
  check: "checks/db-1/disk",
  "on-call": "on-call",
  silences: "silences",
  policy: "policy",
  receivers: "receivers",
  pages: "pages",
  watches: "watches",
  outbox: "outbox",
  audit: "audit",
  integrations: "integrations",
  operators: "operators",
  system: "system",
  wall: "wall",
}

/** Pages that are pictured in the dark too: one of each kind. */
const DARK = ["overview", "incidents", "checks", "check"]

/** Routes that hold some notifications, and a window, so that these pages have something to show. */
const POLICY = `receivers:
  ann: { kind: debug }
  bob: { kind: debug }
  chat: { kind: debug }
rotas:
  primary: { tz: Europe/Berlin, order: [ann, bob], every: 7d, from: "2026-11-02T09:00" }
routes:
  - match: [ "label:team = data" ]
    after: 10m
    to: [primary]
  - steps: [{ to: [primary] }, { after: 15m, to: [chat] }]
windows:
  - name: weekly-backup
    cron: "0 2 * * 0"
    tz: Europe/Berlin
    for: 4h
    match: [ "check_id glob nightly*" ]
    comment: The weekly full backup slows disks down
pages:
  shop:
    title: The shop
    groups:
      - title: Services
        lines:
          - { name: Checkout, match: [ "check_id = http" ] }
          - { name: Search, match: [ "agent_id glob api-*" ] }
freshness:
  - { match: [ "label:env = prod" ], every: 5m }
`

const fill = async (demo: DemoClient) => {
  await fetch(`${demo.baseUrl}/ops/v1/policy?confirm=true`, {
    method: "PUT",
    headers: { authorization: `Bearer ${OPERATOR_TOKEN}`, "content-type": "application/yaml" },
    body: POLICY,
  })
  await fillDemo(demo)
}

/** How many minutes ago the open incidents began: a morning has no five faults of one second. */
const MINUTES_AGO = {
  "shop-checkout": 23,
  "db-1/replication": 47,
  "db-1/disk": 71,
  "mail-1/queue": 168,
  "backup-1/nightly": 312,
} as const

/** Databases keep microseconds. */
const MICROS_OF_MINUTE = 60_000_000
const TABLES_OF_INCIDENTS = ["outbox", "incident_log", "incident_change", "incident_member", "incident"]

/** Sets the times of the incidents in a closed database back, of all that happened to each of them. */
const setBack = (file: string): void => {
  const database = new DatabaseSync(file)
  for (const table of TABLES_OF_INCIDENTS) {
    const columns = database.prepare(`PRAGMA table_info(${table})`).all()
    const times = columns.map(({ name }) => String(name)).filter((name) => /^(?:.*_)?at$/.test(name))
    const set = times.map((name) => `${name} = ${name} - ago.micros`).join(", ")
    const id = table === "incident" ? "id" : "incident_id"
    const ages = Object.entries(MINUTES_AGO).map(
      ([key, minutes]) => `('${key}', ${minutes * MICROS_OF_MINUTE})`,
    )
    database.exec(`
      WITH age (incident_key, micros) AS (VALUES ${ages.join(", ")})
      UPDATE ${table} SET ${set}
      FROM (SELECT incident.id AS incident, micros FROM age JOIN incident USING (incident_key)
        WHERE incident.state = 'open') AS ago
      WHERE ago.incident = ${table}.${id}`)
  }
  database.close()
}

/** Writes a picture of each page of the console, light and dark, into a folder. */
export const takeScreenshots = Effect.fnUntraced(function* (folder: string) {
  const cwd = yield* scratchFolder
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  const port = yield* Effect.promise(freePort)
  const environment = {
    SERVICE_AUTH_TOKEN: OPERATOR_TOKEN,
    SERVICE_LOG_LEVEL: "info",
    SERVICE_PORT: String(port),
    SERVICE_WATCH_LOOPBACK: "true",
  }
  const filled = yield* startServer({ cwd, environment })
  const { baseUrl } = filled
  const demo = new DemoClient(baseUrl)
  yield* Effect.promise(() => fill(demo))
  yield* filled.stop
  setBack(join(cwd, "data", "tocsin.db"))
  yield* startServer({ cwd, environment })
  const context = yield* openContext
  yield* Effect.promise(async () => {
    const { items } = (await demo.call("GET", "ops/v1/incidents?state=open")) as {
      readonly items: ReadonlyArray<{ readonly id: string; readonly incident_key: string }>
    }
    const incident = items.find(({ incident_key }) => incident_key === "shop-checkout")
    const { page } = await openConsole(context, baseUrl)
    // Colours that fade would be caught half-way.
    await page.emulateMedia({ reducedMotion: "reduce" })
    await signIn(page)
    // No row is pointed at.
    await page.mouse.move(0, 0)
    for (const [name, address] of Object.entries({ ...PAGES, incident: `incidents/${incident?.id ?? ""}` })) {
      // Its chart is below the strip of its states.
      await page.setViewportSize({ width: 1240, height: name === "check" ? 690 : 640 })
      await page.goto(`${baseUrl}/#/${address}`)
      await page.locator(".loading").first().waitFor({ state: "detached" })
      await page.waitForTimeout(1_500)
      for (const colorScheme of DARK.includes(name) ? (["light", "dark"] as const) : (["light"] as const)) {
        await page.emulateMedia({ colorScheme })
        await page.screenshot({ path: join(folder, `${name}-${colorScheme}.png`) })
      }
    }
  })
})
