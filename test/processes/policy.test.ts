import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { AuditEntry } from "@tocsin/contract/audit/Audit"
import { Effect, Redacted, Schema } from "effect"
import { AT_LENGTH } from "../properties/atLength.ts"
import { enroll, report } from "./Agent.ts"
import { OPERATOR_TOKEN, operate } from "./api.ts"
import { scratchFolder, scratchPostgres } from "./scratch.ts"
import { launch, startServer } from "./ServerProcess.ts"
import { until } from "./until.ts"
import { startReceiver, type WebhookReceiver } from "./WebhookReceiver.ts"

const decodeAudit = Schema.decodeUnknownSync(
  Schema.fromJsonString(Schema.Struct({ items: Schema.Array(AuditEntry) })),
)

/** A server's folder with a policy file, whose receivers are paths of one local receiver. */
const siteOf = Effect.fnUntraced(function* (receiver: WebhookReceiver) {
  const cwd = yield* scratchFolder
  const write = (name: string, text: string) => writeFileSync(join(cwd, name), text)
  const secretsOf = (path: string) => {
    const { SERVICE_WEBHOOK_SECRET: secret = "", SERVICE_WEBHOOK_URL: url = "" } = receiver.settings(path)
    write(`${path}-url`, url)
    write(`${path}-secret`, secret)
    return `{ kind: webhook, url_file: ${path}-url, secret_file: ${path}-secret }`
  }
  const environment = {
    SERVICE_AUTH_TOKEN: OPERATOR_TOKEN,
    SERVICE_POLICY_FILE: "policy.yaml",
  }
  return { cwd, environment, receiver, secretsOf, writePolicy: (text: string) => write("policy.yaml", text) }
})

const site = Effect.flatMap(
  startReceiver(() => ({ status: 204 })),
  siteOf,
)

/** Of how many incidents a message has arrived. */
const notifiedOf = ({ arrivals }: Effect.Success<ReturnType<typeof startReceiver>>): number =>
  new Set(arrivals.map(({ message }) => message.data.incident.id)).size

describe("a policy file", () => {
  it.live("that is invalid stops the start, with every problem by line and path", () =>
    Effect.gen(function* () {
      const { cwd, environment, writePolicy } = yield* site
      const refusal = Effect.fnUntraced(function* (text: string) {
        writePolicy(text)
        const server = yield* launch({ cwd, environment })
        assert.deepStrictEqual(yield* server.ended, { code: 1, signal: null }, server.output.stderr)
        return server.output.stderr.split("\n").filter((line) => line !== "" && !line.startsWith("{"))
      })
      assert.deepStrictEqual(yield* refusal("routes:\n  - to: [chat]\n  - to: [debug]\n    afte: 5m\n"), [
        "Tocsin cannot start: the policy file is not valid (see docs/policy.md):",
        "  policy.yaml:2: routes[0].to[0] names no receiver; the receivers are debug; set SERVICE_EXTENSIONS if a module gives it",
        "  policy.yaml:4: routes[1].afte is not a known field",
      ])
      writeFileSync(join(cwd, "url"), "ftp://example.org/")
      assert.deepStrictEqual(
        yield* refusal(
          [
            "receivers:",
            "  pager: { kind: webhook, url_file: url, secret_env: NO_SUCH_VARIABLE }",
            "  chat:",
            "    kind: messenger",
            "    url_file: no-such-file",
            "  am: { kind: alert_router, url_file: url }",
            "  bad: { kind: webhook, url_file: no-such-file, colour: red }",
            "routes:",
            "  - { to: [nobody], afte: 5m }",
          ].join("\n"),
        ),
        [
          "Tocsin cannot start: the policy file is not valid (see docs/policy.md):",
          "  policy.yaml:2: receivers.pager.secret_env names a variable that is not set",
          "  policy.yaml:5: receivers.chat.url_file names a file that cannot be read: check its path and owner",
          "  policy.yaml:6: receivers.am.url_file names a value that must be a URL that begins with http:// or https://",
          "  policy.yaml:7: receivers.bad.colour is not a known field",
          "  policy.yaml:9: routes[0].afte is not a known field",
          "  policy.yaml:9: routes[0].to[0] names no receiver; the receivers are am, bad, chat, pager; set SERVICE_EXTENSIONS if a module gives it",
        ],
      )
    }),
  )

  it.live("that is read again under load loses no notification and doubles none", () =>
    Effect.gen(function* () {
      const { cwd, environment, receiver, secretsOf, writePolicy } = yield* site
      const [a, b, c] = [secretsOf("a"), secretsOf("b"), secretsOf("c")]
      const policies = [
        `receivers: { one: ${a}, two: ${b} }\nroutes: [ { to: [one] } ]\n`,
        `receivers: { one: ${c}, two: ${b} }\nroutes: [ { to: [two] } ]\n`,
        `receivers: { one: ${a}, two: ${c}, three: ${b} }\nroutes: [ { to: [one] } ]\n`,
      ]
      writePolicy(policies[0] ?? "")
      const server = yield* startServer({ cwd, environment })
      const agent = yield* enroll(server, "a")
      const readAgain = () => server.output.stderr.split("the policy was read again").length - 1
      // Each policy comes into force while another's messages are under way.
      const rounds = AT_LENGTH ? 6 : policies.length
      for (let round = 1; round <= rounds; round++) {
        yield* Effect.all(
          Array.from({ length: 10 }, (_, part) =>
            report(
              server,
              agent,
              ...Array.from(
                { length: 20 },
                (__, n) => ({ check_id: `check-${round}-${part}-${n}`, status: "critical" }) as const,
              ),
            ),
          ),
          { concurrency: 4 },
        )
        writePolicy(policies[round % policies.length] ?? "")
        yield* server.signal("SIGHUP")
        yield* until(
          "the policy is read again",
          Effect.sync(() => readAgain() >= round),
        )
      }
      const incidents = rounds * 200
      yield* until(
        "every firing has arrived",
        Effect.sync(() => notifiedOf(receiver) >= incidents),
      )
      yield* Effect.sleep("1 second")
      const { arrivals } = receiver
      // A receiver that a new policy names is notified of the open incidents.
      assert.strictEqual(notifiedOf(receiver), incidents)
      assert.strictEqual(new Set(arrivals.map(({ message }) => message.data.id)).size, arrivals.length)
      assert.deepStrictEqual(
        arrivals.filter(({ fault }) => fault !== undefined),
        [],
      )
      assert.deepStrictEqual(Array.from(new Set(arrivals.map(({ sender }) => sender))).toSorted(), [
        "a",
        "b",
        "c",
      ])
    }),
  )

  it.live("that one of two replicas reads again loses no notification and doubles none", () =>
    Effect.gen(function* () {
      const receiver = yield* startReceiver(() => ({ status: 204 }))
      const { url } = yield* scratchPostgres
      const sites = [yield* siteOf(receiver), yield* siteOf(receiver)] as const
      const policies = ({ secretsOf }: (typeof sites)[0]) =>
        [
          `receivers: { one: ${secretsOf("a")}, two: ${secretsOf("b")} }\nroutes: [ { to: [one] } ]\n`,
          `receivers: { two: ${secretsOf("b")}, three: ${secretsOf("c")} }\nroutes: [ { to: [three] } ]\n`,
        ] as const
      const open = ({ cwd, environment }: (typeof sites)[0]) =>
        startServer({ cwd, environment: { ...environment, DATABASE_URL: Redacted.value(url) } })
      for (const each of sites) each.writePolicy(policies(each)[0])
      const servers = [yield* open(sites[0]), yield* open(sites[1])] as const
      const agents = yield* Effect.forEach(servers, (server, n) => enroll(server, `agent-${n}`))
      const differ = Effect.map(operate(servers[1], "GET", "/ops/v1/policy"), ({ text }) => {
        const { replicas, replicas_differ } = Object(JSON.parse(text))
        return [replicas.length, replicas_differ]
      })
      let sent = 0
      const storm = Effect.fnUntraced(function* (round: string) {
        for (const [n, server] of servers.entries()) {
          const agent = agents[n] ?? assert.fail("no agent")
          const results = Array.from({ length: 100 }, (_, check) => ({
            check_id: `${round}-${check}`,
            status: "critical" as const,
          }))
          yield* report(server, agent, ...results)
          sent += results.length
        }
      })
      const allArrive = Effect.suspend(() =>
        until(
          `${sent} firings have arrived`,
          Effect.sync(() => notifiedOf(receiver) >= sent),
        ),
      )
      const reloads = Effect.fnUntraced(function* (n: 0 | 1) {
        sites[n].writePolicy(policies(sites[n])[1])
        yield* servers[n].signal("SIGHUP")
        yield* until(
          "the policy is read again",
          Effect.sync(() => servers[n].output.stderr.includes("the policy was read again")),
        )
      })
      yield* until(
        "both have reported one policy",
        Effect.map(differ, ([count, isDifferent]) => count === 2 && isDifferent === false),
      )
      yield* storm("before")
      yield* reloads(0)
      yield* storm("while")
      yield* until(
        "their difference shows",
        Effect.map(differ, ([, isDifferent]) => isDifferent === true),
      )
      yield* allArrive
      yield* reloads(1)
      yield* storm("after")
      yield* allArrive
      yield* until(
        "no difference shows",
        Effect.map(differ, ([, isDifferent]) => isDifferent === false),
      )
      yield* Effect.sleep("1 second")
      const { arrivals } = receiver
      assert.strictEqual(notifiedOf(receiver), sent)
      assert.strictEqual(new Set(arrivals.map(({ message }) => message.data.id)).size, arrivals.length)
      assert.deepStrictEqual(Array.from(new Set(arrivals.map(({ sender }) => sender))).toSorted(), ["a", "c"])
    }),
  )

  it.live("that is refused on SIGHUP leaves the policy in force", () =>
    Effect.gen(function* () {
      const { cwd, environment, receiver, secretsOf, writePolicy } = yield* site
      const [a, b] = [secretsOf("a"), secretsOf("b")]
      const receivers = `receivers: { one: ${a}, two: ${b} }\n`
      writePolicy(`${receivers}routes: [ { to: [one] } ]\n`)
      const server = yield* startServer({ cwd, environment })
      const agent = yield* enroll(server, "a")
      writePolicy(`${receivers}routes: [ { to: [three] } ]\n`)
      yield* server.signal("SIGHUP")
      yield* until(
        "the refusal is logged",
        Effect.sync(() =>
          server.output.stderr.includes(
            '"cannot reload the policy because its file is not valid; keeping the current one","problem":"policy.yaml:2: routes[0].to[0] names no receiver; the receivers are one, two; set SERVICE_EXTENSIONS if a module gives it"',
          ),
        ),
      )
      yield* report(server, agent, { check_id: "disk", status: "critical" })
      yield* until(
        "the firing arrives",
        Effect.sync(() => receiver.arrivals.length > 0),
      )
      assert.deepStrictEqual(
        receiver.arrivals.map(({ sender }) => sender),
        ["a"],
      )
      writePolicy(`${receivers}routes: [ { to: [two] } ]\n`)
      const audited = Effect.map(
        operate(server, "GET", "/ops/v1/audit?action=policy.replaced"),
        ({ text }) => decodeAudit(text).items,
      )
      yield* server.signal("SIGHUP")
      yield* until(
        "the audit has the next policy",
        Effect.map(audited, (rows) => rows.length === 2),
      )
      const [next, first] = yield* audited
      assert.deepStrictEqual([first?.actor, next?.actor, next?.via], ["system", "system", "system"])
      assert.strictEqual(next?.parameters?.["former"], first?.subjects[0]?.id)
    }),
  )
})
