import { assert, describe, it } from "@effect/vitest"
import { enrolling, type HttpAnswer, type OutgoingRequest, targetOf } from "@tocsin/reporting/agent/Answer"
import { Sender } from "@tocsin/reporting/agent/Sender"
import type { JsonSchema, OpenApi } from "@tocsin/test/openapi/OpenApi"
import { Schemas } from "@tocsin/test/openapi/Schemas"
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createMonitor, memory } from "tocsin"
import { systemClock } from "../../src/clock/Clock.ts"
import { readConfig } from "../../src/config/readConfig.ts"
import { statementsOf } from "../../src/daemon/statementsOf.ts"
import { KeyFile } from "../../src/key/KeyFile.ts"
import { Spool } from "../../src/spool/Spool.ts"

const documentOf = (name: string) =>
  // Its own suite holds the document to its format.
  new Schemas(JSON.parse(readFileSync(`packages/adapter-http/${name}`, "utf8")) as OpenApi)
const SCHEMAS = { v1: documentOf("openapi.json"), ops: documentOf("openapi.ops.json") }
const refOf = (name: string) => ({ $ref: `#/components/schemas/${name}` }) as unknown as JsonSchema
const KINDS = {
  heartbeat: [SCHEMAS.v1, refOf("HeartbeatRequest")],
  events: [SCHEMAS.v1, refOf("EventBatchRequest")],
  declaration: [SCHEMAS.ops, refOf("ExpectationsRequest")],
  enrolment: [SCHEMAS.ops, refOf("EnrolRequest")],
} as const

const labels = Array.from(
  { length: 31 },
  (_, at) => `  ${"l".repeat(62)}${at + 10}: "${"v".repeat(256)}"\n`,
).join("")
const longest = "c".repeat(128)

/** Everything at the limits that the contract sets. */
const CONFIG = `server: http://tocsin
agent_id: ${"a".repeat(128)}
hostname: ${"h".repeat(253)}
labels:
${labels}checks:
  ${longest}: { shell: "true", every: 1s, severity: critical, grace: 1s }
  monthly: { report_only: true, every: 31d, notifications_enabled: false }
  nightly: { report_only: true, cron: "0 3 * * *", tz: Europe/Berlin, grace: 2h }
  steady: { shell: "true", every: 10s, confirm: { bad: 3, good: 2, every: 5s } }
`

const OUTPUTS = ["", "\0\u0001\ud800 lone", '"\\\n\t', "é漢🙂".repeat(5_000), "\ufeffmark", "x".repeat(8_192)]

describe("the requests of the agent", () => {
  it("meets the documents of the API, and the real server takes every byte of it", async () => {
    const folder = mkdtempSync(join(tmpdir(), "tocsin-agent-"))
    await using monitor = await createMonitor({ storage: memory(), log: false })
    const file = join(folder, "config.yaml")
    writeFileSync(file, CONFIG)
    const { config, problems } = readConfig(file)
    if (config === undefined) throw new Error(JSON.stringify(problems))
    const sent: Array<OutgoingRequest & { readonly answer: HttpAnswer }> = []
    const send = async (request: OutgoingRequest): Promise<HttpAnswer> => {
      const { method, url } = targetOf(request)
      const headers = { authorization: `Bearer ${request.key}`, "content-type": "application/json" }
      const response = await monitor.fetch(new Request(url, { method, headers, body: request.body }))
      const answer = { status: response.status, body: await response.text() }
      sent.push({ ...request, answer })
      return answer
    }
    const spool = Spool.open({ path: join(folder, "spool.db"), now: systemClock.wall, warn: assert.fail })
    for (let number = 0; number < 500; number++) {
      spool.record({
        checkId: number % 7 === 0 ? longest : `check-${number}`,
        status: (["ok", "warning", "critical", "unknown"] as const)[number % 4] ?? "ok",
        exitCode: [0, 255, 2 ** 31, -1][number % 4] ?? 0,
        durationMillis: number / 3,
        output: OUTPUTS[number % OUTPUTS.length] ?? "",
        notificationsEnabled: number % 2 === 0,
        incidentKey: number % 5 === 0 ? "漢".repeat(256) : undefined,
      })
      if (number % 100 === 0) spool.flush()
    }
    spool.flush()
    // The pauses between batches have passed whenever it looks.
    let steady = 0
    const clock = { ...systemClock, steady: () => (steady += 60_000) }
    const around = { clock, boot: "one", random: () => 0, log: () => {} }
    const { token } = await monitor.enrolments.create({})
    const transport = enrolling({ transport: { send }, token: () => token, log: () => {}, now: clock.wall })
    const sender = new Sender(
      { queue: spool, keys: new KeyFile(folder), transport, ...around },
      statementsOf(config, new Set()),
    )
    for (let step = 0; step < 40 && (spool.size() > 0 || step < 10); step++) await sender.step()
    assert.strictEqual(spool.size(), 0)
    spool.close()
    rmSync(folder, { recursive: true })
    assert.sameMembers([...new Set(sent.map(({ kind }) => kind))], Object.keys(KINDS))
    for (const { kind, body, answer } of sent) {
      const [schemas, schema] = KINDS[kind]
      assert.deepStrictEqual(schemas.problemsOf(schema, JSON.parse(body)), [], kind)
      assert.isAtMost(Buffer.byteLength(body), 1_048_576)
      assert.strictEqual(answer.status, kind === "heartbeat" || kind === "events" ? 202 : 200, answer.body)
    }
    assert.strictEqual((await monitor.summary()).agents_online, 1)
  })
})
