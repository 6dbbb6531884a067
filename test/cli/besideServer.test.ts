import { assert, describe, it } from "@effect/vitest"
import { EXIT_CODES } from "@tocsin/server/CommandFailure"
import { Effect } from "effect"
import { enroll, heartbeat, report } from "../processes/Agent.ts"
import { addIntegration, call, incidentsOf, operate, outboxOf } from "../processes/api.ts"
import { inTurn } from "../properties/atLength.ts"
import { scratchFolder } from "../processes/scratch.ts"
import { secretOf } from "../processes/secrecy.ts"
import { type ServerProcess, startServer } from "../processes/ServerProcess.ts"
import { until } from "../processes/until.ts"
import { startReceiver } from "../processes/WebhookReceiver.ts"
import { CLIENT, type HostileIssuer, openHostileIssuer } from "../signIn/HostileIssuer.ts"
import { jsonOf, type Place, places, serverAt, tocsin } from "./tocsin.ts"

const register = (server: ServerProcess, agent_id: string) =>
  Effect.orDie(heartbeat(server, { agent_id, key: secretOf(agent_id) }))

const answerOf = (server: ServerProcess, path: string) =>
  Effect.map(operate(server, "GET", path), ({ text }): unknown => JSON.parse(text))

const agentIdsOf = Effect.fnUntraced(function* (server: ServerProcess) {
  const { items } = (yield* answerOf(server, "/api/v1/agents")) as { items: Array<{ agent_id: string }> }
  return items.map(({ agent_id }) => agent_id)
})

const PUBLIC_URL = "http://localhost:1"

const signInBy = (issuer: HostileIssuer) => ({
  SERVICE_PUBLIC_URL: PUBLIC_URL,
  SERVICE_OIDC_ISSUER: issuer.url,
  SERVICE_OIDC_CLIENT_ID: CLIENT.id,
  SERVICE_OIDC_CLIENT_SECRET: CLIENT.secret,
  SERVICE_OIDC_RESPOND: "ops",
})

/** The token of a person who signs in. */
const signIn = (server: ServerProcess, issuer: HostileIssuer) =>
  Effect.promise(async () => {
    const page = { nonce: "a nonce", verifier: "v".repeat(43) }
    const answer = await fetch(`${server.baseUrl}/ops/v1/session`, {
      method: "POST",
      headers: { "content-type": "application/json", origin: PUBLIC_URL },
      body: JSON.stringify({ code: issuer.grant(page), ...page }),
    })
    // The answer of the API.
    return ((await answer.json()) as { readonly token: string }).token
  })

/** Few of them depend on the storage, which other tests compare: a run has those on PostgreSQL. */
const sample = inTurn(places, 1)

describe.concurrent.each(sample)("commands beside a running server on $name", ({ make }) => {
  it.live("list agents and sessions like the API, accept or block agents, and end a session", () =>
    Effect.gen(function* () {
      const place = yield* make
      const issuer = yield* openHostileIssuer
      const { cwd, environment } = serverAt(place)
      const server = yield* startServer({ cwd, environment: { ...environment, ...signInBy(issuer) } })
      for (const id of ["web-1", "web-2", "web-3", "db-1"]) yield* register(server, id)

      const listed = yield* jsonOf(place, "agents", "list")
      const { items } = (yield* answerOf(server, "/ops/v1/agents")) as { items: unknown }
      assert.deepStrictEqual(listed, { items, has_more: false })
      const table = yield* tocsin(place, "agents", "list", "--prefix", "web-", "--limit", "2")
      assert.match(table.stdout, /^AGENT +STATUS +ADMISSION +SEEN.*\nweb-1 +alive +pending .*\nweb-2 .*\n$/)
      assert.strictEqual(table.stderr, "2 agents shown; for more, use --all or --limit\n")

      const accepted = yield* tocsin(place, "agents", "accept", "web-1", "web", "db-1")
      assert.deepStrictEqual(accepted, {
        code: EXIT_CODES.not_found.code,
        stdout: "web-1: accepted\ndb-1: accepted\n",
        stderr: "tocsin: there is no agent web; IDs that start with it: web-1, web-2, web-3\n",
      })
      assert.deepStrictEqual(yield* jsonOf(place, "agents", "accept", "web-1"), {
        items: [{ agent_id: "web-1", count: 0, error: null }],
      })

      const unasked = yield* tocsin(place, "agents", "block", "web-2")
      assert.deepStrictEqual([unasked.code, unasked.stdout], [EXIT_CODES.refused.code, ""])
      assert.include(unasked.stderr, "--yes")
      assert.include(yield* agentIdsOf(server), "web-2")
      assert.strictEqual((yield* tocsin(place, "agents", "block", "web-2", "--yes")).code, 0)
      assert.strictEqual((yield* tocsin(place, "agents", "remove", "web-1", "--yes")).code, 0)
      assert.deepStrictEqual(yield* agentIdsOf(server), ["db-1", "web-3"])
      assert.deepStrictEqual(yield* jsonOf(place, "agents", "remove", "--all", "--yes"), { count: 1 })
      assert.deepStrictEqual(yield* agentIdsOf(server), ["db-1"])

      const signedIn = yield* signIn(server, issuer)
      const sessions = yield* jsonOf(place, "sessions", "list")
      const { items: people } = (yield* answerOf(server, "/ops/v1/sessions")) as {
        readonly items: ReadonlyArray<{ readonly id: string; readonly name: string }>
      }
      assert.deepStrictEqual(sessions, { items: people, has_more: false })
      const [ann] = people
      assert(ann !== undefined)
      assert.strictEqual(ann.name, "oidc:ann")
      assert.match(
        (yield* tocsin(place, "sessions", "list")).stdout,
        /^SESSION +NAME +ROLE .*\n\w+ +oidc:ann +respond /,
      )
      assert.deepStrictEqual(yield* jsonOf(place, "sessions", "end", ann.id), { count: 1 })
      assert.strictEqual((yield* call(server, "GET", "/ops/v1/me", { token: signedIn })).status, 401)
      const twice = yield* tocsin(place, "sessions", "end", ann.id)
      assert.strictEqual(twice.code, EXIT_CODES.not_found.code)
      assert.include(twice.stderr, `there is no session ${ann.id}`)
      const browsers = [yield* signIn(server, issuer), yield* signIn(server, issuer)]
      assert.deepStrictEqual(yield* jsonOf(place, "sessions", "end", "oidc:ann"), { count: 2 })
      for (const token of browsers)
        assert.strictEqual((yield* call(server, "GET", "/ops/v1/me", { token })).status, 401)
    }),
  )
})

describe("commands beside a running server", () => {
  it.live("try and create watches by its settings, or say that no server answers", () =>
    Effect.gen(function* () {
      const cwd = yield* scratchFolder
      const line = ["watches", "try", "tcp://127.0.0.1:1"]
      const server = yield* startServer({ cwd, environment: { SERVICE_WATCH_LOOPBACK: "true" } })
      const shell: Place = { cwd, environment: { SERVICE_PORT: String(server.port) } }
      const tried = yield* tocsin(shell, ...line)
      assert.include(tried.stdout, "TCP CRITICAL", tried.stderr)
      assert.strictEqual(tried.stderr, "tocsin: the probe of tcp://127.0.0.1:1 is critical\n")
      const shortly = yield* tocsin(shell, "watch", "tcp://127.0.0.1:1", "--every", "30s", "--try")
      assert.include(shortly.stdout, "TCP CRITICAL")
      assert.strictEqual(shortly.code, EXIT_CODES.failed.code)
      assert.strictEqual(shortly.stderr, tried.stderr)
      const early = yield* tocsin(shell, "watch", "tcp://127.0.0.1:1", "--every", "1s", "--try")
      assert.strictEqual(early.code, EXIT_CODES.usage.code)
      assert.include(early.stderr, "every")
      const created = yield* tocsin(shell, "watch", "tcp://127.0.0.1:1", "--name", "closed")
      assert.deepStrictEqual(created, { code: 0, stdout: "closed: probed every 1m\n", stderr: "" })

      yield* server.stop
      const alone = yield* tocsin(shell, ...line)
      assert.strictEqual(alone.code, EXIT_CODES.usage.code)
      assert.include(
        alone.stderr,
        `no server answers at http://127.0.0.1:${server.port}, which SERVICE_HOST and SERVICE_PORT name: this shell's settings decide\n`,
      )
      assert.include(alone.stderr, "start the server with SERVICE_WATCH_LOOPBACK=true to allow it")
    }),
  )

  it.live(
    "show incidents and notifications, resolve checks of integrations, and replay failed notifications",
    () =>
      Effect.gen(function* () {
        const cwd = yield* scratchFolder
        let isRefusing = true
        const receiver = yield* startReceiver(() => ({ status: isRefusing ? 400 : 200 }))
        const notifying: Place = {
          cwd,
          environment: {
            ...receiver.settings("hooks"),
            SERVICE_NOTIFIERS: "webhook",
          },
        }
        const server = yield* startServer(serverAt(notifying))
        const agent = yield* enroll(server, "web-1")
        yield* report(server, agent, { check_id: "disk", status: "critical" })
        const failed = yield* until(
          "the notification has failed",
          Effect.map(outboxOf(server), (items) => items.find(({ state }) => state === "failed")),
        )
        const [incident] = yield* incidentsOf(server)

        assert.deepStrictEqual(yield* jsonOf(notifying, "incidents", "--state", "open", "--all"), {
          items: ((yield* answerOf(server, "/ops/v1/incidents")) as { items: unknown }).items,
          has_more: false,
        })
        assert.deepStrictEqual(
          yield* jsonOf(notifying, "incidents", "show", incident?.id ?? ""),
          yield* answerOf(server, `/ops/v1/incidents/${incident?.id}`),
        )
        const scenario = yield* tocsin(notifying, "incidents", "show", incident?.id ?? "")
        assert.match(scenario.stdout, /\nAGENT +CHECK .*\nweb-1 +disk +critical .*disk is critical\n/)

        assert.deepStrictEqual(yield* jsonOf(notifying, "outbox", "--state", "failed"), {
          items: ((yield* answerOf(server, "/ops/v1/outbox")) as { items: unknown }).items,
          has_more: false,
        })
        const examined = yield* tocsin(notifying, "doctor")
        assert.match(examined.stdout, /\ndelivery +attention +a notification for webhook failed \d+s ago: /)
        isRefusing = false
        assert.deepStrictEqual(yield* jsonOf(notifying, "outbox", "replay", failed.id), {
          items: [{ id: failed.id, count: 1, error: null }],
        })
        yield* until(
          "it is sent",
          Effect.map(outboxOf(server), (items) => items.every(({ state }) => state === "sent")),
        )
        const again = yield* tocsin(notifying, "outbox", "replay", failed.id)
        assert.deepStrictEqual([again.code, again.stdout], [EXIT_CODES.refused.code, ""])
        assert.match(again.stderr, /this outbox item has not failed/)

        isRefusing = true
        yield* report(server, agent, { check_id: "cpu", status: "critical" })
        yield* until(
          "its notification has failed",
          Effect.map(outboxOf(server), (items) => items.some(({ state }) => state === "failed")),
        )
        yield* report(server, agent, { check_id: "cpu", status: "ok" })
        const all = yield* tocsin(notifying, "outbox", "replay", "--all", "--yes")
        assert.deepStrictEqual(
          [all.code, all.stdout],
          [0, "0 will be sent again; left out 1: replayed already, or the incident is over\n"],
        )

        const summary = (yield* jsonOf(notifying, "summary")) as Record<string, unknown>
        const told = (yield* answerOf(server, "/api/v1/system-summary")) as Record<string, unknown>
        const counts = { ...told, integration_agents: 0, generated_at: "" }
        assert.deepStrictEqual<unknown>({ ...summary, generated_at: "" }, counts)
        assert.strictEqual(summary["checks_critical"], 1)

        const key = yield* addIntegration(server, { name: "jobs", kind: "ping" })
        yield* operate(server, "GET", `/in/ping/${key}/backup/fail`)
        const resolve = tocsin(notifying, "checks", "resolve", "jobs/backup")
        assert.deepStrictEqual(yield* resolve, { code: 0, stdout: "jobs/backup: is now ok\n", stderr: "" })
        const found = yield* incidentsOf(server)
        assert.strictEqual(found.find(({ incident_key: key }) => key === "jobs/backup")?.state, "resolved")
        assert.deepStrictEqual(yield* jsonOf(notifying, "checks", "resolve", "jobs/backup"), { count: 0 })
        const foreign = yield* tocsin(notifying, "checks", "resolve", "web-1/disk")
        assert.deepStrictEqual([foreign.code, foreign.stdout], [EXIT_CODES.refused.code, ""])

        const flapping = Array.from({ length: 100 }, (_, n) => ({
          check_id: "disk",
          status: n % 2 === 0 ? ("warning" as const) : ("critical" as const),
        }))
        for (let batch = 0; batch < 11; batch++) yield* report(server, agent, ...flapping)
        const long = yield* tocsin(notifying, "incidents", "show", incident?.id ?? "")
        assert.match(
          long.stdout,
          /\n101 changes are not kept: an incident keeps its first 100 and its last 900\n/,
        )
      }),
  )
})
