import { assert, describe, it } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { spawnSync } from "node:child_process"
import { once } from "node:events"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { join } from "node:path"
import process from "node:process"
import { lacking } from "../../scripts/programs.mjs"
import { startMailReceiver } from "../faults/mailReceiver.ts"
import { call, operate, OPERATOR_TOKEN } from "../processes/api.ts"
import { scratchPostgres, scratchSite } from "../processes/scratch.ts"
import { type ServerProcess, startServer } from "../processes/ServerProcess.ts"
import { until } from "../processes/until.ts"
import { agentHost } from "./AgentProcess.ts"

const NETWORK = `tocsin-${process.pid}`
/** Names of links have 15 characters at most. */
const LINK = `veth${process.pid}`
/** Of addresses for trials alone (RFC 2544), so that two runs at once seldom share one. */
const SUBNET = `198.18.${process.pid % 256}`
const HERE = `${SUBNET}.1`

const run = (line: string): string => {
  const [program = "", ...args] = line.split(" ")
  const { status, stderr } = spawnSync(program, args, { encoding: "utf8" })
  return status === 0 ? "" : `${line}: ${stderr}`
}

/** Why no network can be made here, besides programs. */
const obstacle = (): string | undefined => {
  if (process.geteuid?.() !== 0) return "only root makes networks"
  const failed = run(`ip netns add ${NETWORK}`)
  run(`ip netns del ${NETWORK}`)
  return failed === "" ? undefined : "networks cannot be made here"
}
const skipped = lacking("ip", "nft") ?? obstacle()

/** A network of one host beside this one, with a firewall that drops what the rules say. */
const network = Effect.acquireRelease(
  Effect.void,
  // The pair of links goes with it.
  () => Effect.sync(() => run(`ip netns del ${NETWORK}`)),
).pipe(
  Effect.map(() => {
    const within = `ip netns exec ${NETWORK}`
    const made = [
      `ip netns add ${NETWORK}`,
      `ip link add ${LINK} type veth peer name eth0 netns ${NETWORK}`,
      `ip addr add ${HERE}/30 dev ${LINK}`,
      `ip link set ${LINK} up`,
      `${within} ip addr add ${SUBNET}.2/30 dev eth0`,
      `${within} ip link set eth0 up`,
      `${within} nft add table inet wall`,
      `${within} nft add chain inet wall out { type filter hook output priority 0 ; }`,
    ]
    assert.deepStrictEqual(
      made.map(run).filter((failed) => failed !== ""),
      [],
    )
    const rule = (words: string) => Effect.sync(() => assert.strictEqual(run(`${within} nft ${words}`), ""))
    return {
      through: within.split(" "),
      drop: (match: string) => rule(`add rule inet wall out ${match} drop`),
      open: rule("flush chain inet wall out"),
    }
  }),
)

const startPage = Effect.acquireRelease(
  Effect.promise(async () => {
    const page = { status: 200 }
    const server = createServer((_, response) => response.writeHead(page.status).end("well"))
    server.listen(0, HERE)
    await once(server, "listening")
    // A server of TCP has an address of this form.
    const { port } = server.address() as AddressInfo
    return { page, server, port }
  }),
  ({ server }) =>
    Effect.sync(() => {
      server.close()
      server.closeAllConnections()
    }),
)

const POLICY = `
receivers: { ops: { kind: messenger, type: email, to: [ops@example.org] } }
pages:
  shop: { title: Shop, groups: [{ title: All, lines: [{ name: Shop, match: ["agent_id = watches", "check_id = shop"] }] }] }
`

/** An agent that is accepted, once it has registered. */
const admit = Effect.fnUntraced(function* (server: ServerProcess, id: string) {
  const isThere = Effect.map(
    Effect.orDie(call(server, "GET", `/api/v1/agents/${id}`)),
    ({ status }) => status === 200,
  )
  yield* until(`${id} registers`, isThere, "2 minutes")
  yield* operate(server, "POST", `/api/v1/agents/${id}/accept`)
})

/** Two agents and the server watch a page; packets of one agent are dropped, first to the page, then all. */
const tellsTheTruth = Effect.fnUntraced(function* (database?: string) {
  const { drop, open, through } = yield* network
  const { page, port } = yield* startPage
  const mails = yield* startMailReceiver(() => ({ status: 200 }))
  const cwd = yield* scratchSite({ "policy.yaml": POLICY })
  const server = yield* startServer({
    cwd,
    environment: {
      SERVICE_AUTH_TOKEN: OPERATOR_TOKEN,
      SERVICE_HOST: HERE,
      SERVICE_POLICY_FILE: "policy.yaml",
      SERVICE_SMTP_URL: `${mails.url}?tls=off`,
      SERVICE_EMAIL_FROM: "tocsin@example.org",
      ...(database === undefined ? { SERVICE_DATA_DIR: join(cwd, "data") } : { DATABASE_URL: database }),
    },
  })
  for (const [id, program] of [
    ["berlin", []],
    ["helsinki", through],
  ] as const) {
    const host = agentHost(join(cwd, id), program)
    host.configure(`server: ${server.baseUrl}\nagent_id: ${id}\nplace: { allow: [${HERE}] }\nchecks: {}\n`)
    yield* host.start
    yield* admit(server, id)
  }
  const terms = { every: "10s", confirm: { bad: 1 }, from: ["here", "berlin", "helsinki"] }
  const http = { url: `http://${HERE}:${port}/`, timeout: "2s" }
  yield* operate(server, "POST", "/ops/v1/watches", { json: { name: "shop", title: "Shop", ...terms, http } })
  /** The first line of the output, once it is as wanted. */
  const says = (wanted: RegExp) =>
    until(
      `the output is ${wanted}`,
      Effect.map(operate(server, "GET", "/ops/v1/watches/shop"), ({ text }) =>
        wanted.test(JSON.parse(text).last?.output.split("\n")[0] ?? ""),
      ),
      "3 minutes",
    )
  const lineIs = (state: string) =>
    until(
      `the public page says ${state}`,
      Effect.map(operate(server, "GET", "/status/shop.json"), ({ text }) =>
        text.includes(`"state":"${state}"`),
      ),
    )
  const subjects = () => mails.arrivals.map(({ message }) => message.data.summary)

  yield* says(/^ok from 3 of 3 places: berlin ok; helsinki ok; here ok$/)
  yield* lineIs("operational")

  // One place alone fails: nobody hears of it.
  yield* drop(`tcp dport ${port}`)
  yield* says(/^ok from 2 of 3 places: helsinki http:\S+: no answer within 2 s; berlin ok; here ok$/)
  yield* lineIs("operational")
  assert.deepStrictEqual(subjects(), [])

  // All fail: it is the page.
  page.status = 503
  const failing =
    /^critical from 3 of 3 places: .*berlin 503 .*helsinki http:\S+: no answer within 2 s.*here 503/
  yield* says(failing)
  yield* lineIs("down")
  yield* until(
    "a mail came",
    Effect.sync(() => subjects().length === 1),
  )
  assert.match(String(subjects()[0]), /^CRITICAL: Shop: critical from [23] of 3 places: /)

  // Of a place that no server hears, the last status no longer counts.
  yield* drop(`ip daddr ${HERE}`)
  page.status = 200
  yield* says(/^ok from 2 of 2 places: berlin ok; here ok; helsinki late$/)
  yield* lineIs("operational")
  yield* until(
    "the end was mailed",
    Effect.sync(() => subjects().length === 2),
  )
  assert.match(String(subjects()[1]), /^RESOLVED: Shop/)

  // The place is back, with what it saw meanwhile.
  yield* open
  yield* says(/^ok from 3 of 3 places: berlin ok; helsinki ok; here ok$/)
  assert.lengthOf(subjects(), 2)
})

describe.skipIf(skipped !== undefined)(
  `a place behind a firewall that drops its packets${skipped === undefined ? "" : ` (skipped: ${skipped})`}`,
  { timeout: 600_000 },
  () => {
    it.live("makes neither page nor mail nor API say what is not so, on SQLite", () => tellsTheTruth())

    it.live("makes neither page nor mail nor API say what is not so, on PostgreSQL", () =>
      Effect.flatMap(scratchPostgres, ({ url }) => tellsTheTruth(Redacted.value(url))),
    )
  },
)
