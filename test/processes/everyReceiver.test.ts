import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Queue } from "effect"
import { partsOf, startMailServer } from "../../packages/adapter-notify/test/email/MailServer.ts"
import { type Received, startReceiver } from "../../packages/adapter-notify/test/Receiver.ts"
import { fakes } from "../../packages/adapter-notify/test/services/fakes.ts"
import { tocsin } from "../cli/tocsin.ts"
import { enroll, report } from "./Agent.ts"
import { type Base, call, OPERATOR_TOKEN, operate, outboxOf } from "./api.ts"
import { scratchFolder } from "./scratch.ts"
import { startServer } from "./ServerProcess.ts"
import { until } from "./until.ts"

const PUBLIC_URL = "https://tocsin.example"

/** A fake of each service, which answers as the real one does, and the lines of its receiver in a policy. */
const startFakes = Effect.fnUntraced(function* (cwd: string) {
  const secret = (name: string, value: string) => {
    writeFileSync(join(cwd, name), value)
    return name
  }
  return yield* Effect.forEach(
    Object.entries(fakes),
    Effect.fnUntraced(function* ([type, fake]) {
      const statuses: Array<number> = []
      const { origin, requests } = yield* startReceiver((response, request) => {
        statuses.push(fake.judge(request))
        response.writeHead(fake.judge(request)).end("{}")
      })
      const secrets = Object.entries({ ...fake.secrets, url: `${origin}${fake.path}` })
      const files = secrets.map(([name, value]) => [`${name}_file`, secret(`${type}-${name}`, value)])
      const line = `  ${type}: ${JSON.stringify({ ...fake.definition, ...Object.fromEntries(files) })}`
      return { type, fake, line, requests, statuses }
    }),
  )
})

type RunningFake = Effect.Success<ReturnType<typeof startFakes>>[number]

const isPaging = ({ fake }: RunningFake): boolean => fake.definition.kind === "alert_router"

/** The next request of a fake, which it has accepted. */
const accepted = Effect.fnUntraced(function* ({ requests, statuses, type }: RunningFake) {
  const request: Received = yield* Queue.take(requests)
  assert.isBelow(statuses.shift() ?? 0, 300, `${type}: ${request.body}`)
  return request
})

const incidentAt = (base: Base, id: string) =>
  Effect.map(operate(base, "GET", `/ops/v1/incidents/${id}`), ({ text }) => JSON.parse(text))

describe("an incident", () => {
  it.live("reaches every type of receiver, is acknowledged from its mail, silenced and resolved", () =>
    Effect.gen(function* () {
      const cwd = yield* scratchFolder
      const { mails, port } = yield* startMailServer()
      const running = yield* startFakes(cwd)
      writeFileSync(join(cwd, "smtp"), `smtp://127.0.0.1:${port}`)
      const mail =
        "{ kind: messenger, type: email, url_file: smtp, from: tocsin@example.org, to: [ops@example.org], tls: off, acknowledge: 1h }"
      const names = ["mail", ...running.map(({ type }) => type)]
      writeFileSync(
        join(cwd, "policy.yaml"),
        `receivers:\n  mail: ${mail}\n${running.map(({ line }) => line).join("\n")}\nroutes:\n  - { to: [${names.join(", ")}] }\n`,
      )
      const environment = {
        SERVICE_AUTH_TOKEN: OPERATOR_TOKEN,
        SERVICE_POLICY_FILE: "policy.yaml",
        SERVICE_PUBLIC_URL: PUBLIC_URL,
      }
      const server = yield* startServer({ cwd, environment })
      const agent = yield* enroll(server, "web-1")
      yield* report(server, agent, { check_id: "disk", status: "critical" })

      const firing = (yield* Queue.take(mails)).raw
      const requests = yield* Effect.forEach(running, accepted)
      for (const [index, { fake, type }] of running.entries())
        assert.include(
          fake.textOf(requests[index] ?? assert.fail(type)).replaceAll(/[\\\u200b]/g, ""),
          "disk is critical",
          type,
        )
      assert.include(firing, "Subject: CRITICAL: web-1/disk")

      const [text = "", html = ""] = partsOf(firing).slice(-3, -1)
      const link = /https:\/\/tocsin\.example(\/a\/[0-9a-f]{96})/.exec(text)?.[1] ?? assert.fail(firing)
      assert.include(html, link)
      const id = /#\/incidents\/([0-9a-f-]{36})/.exec(text)?.[1] ?? assert.fail(text)
      const open = (method: string) => Effect.orDie(call(server, method, link, { token: "" }))
      const page = yield* open("GET")
      assert.strictEqual(page.status, 200)
      assert.include(page.text, "Acknowledge for 1h")
      assert.isNull((yield* incidentAt(server, id)).acknowledgement)
      assert.strictEqual((yield* open("POST")).status, 200)
      assert.deepInclude((yield* incidentAt(server, id)).acknowledgement, {
        by: "link:mail",
        severity: "critical",
      })

      yield* operate(server, "POST", "/ops/v1/silences", {
        json: { matchers: [{ field: "agent_id", op: "=", value: "web-1" }], for: "1h", comment: "new disk" },
      })
      yield* report(server, agent, { check_id: "disk", status: "ok" })
      const resolution = (yield* Queue.take(mails)).raw
      assert.include(resolution, "Subject: RESOLVED: web-1/disk: ok again after ")
      assert.include(resolution, `References: <${id}@example.org>`)
      // A phone rings for resolutions only where the policy asks for it.
      const hearers = running.filter(({ type }) => type !== "call")
      const ends = yield* Effect.forEach(hearers, accepted)
      for (const [index, one] of hearers.entries()) {
        const { body = "", path = "" } = ends[index] ?? {}
        if (isPaging(one)) assert.match(`${path}${body}`, /"event_action":"resolve"|\/close\?/)
        else assert.match(one.fake.textOf(ends[index] ?? assert.fail(one.type)), /RESOLVED/, one.type)
        assert.strictEqual(yield* Queue.size(one.requests), 0, one.type)
      }

      const outbox = yield* until(
        "every notification is sent",
        Effect.map(outboxOf(server), (items) => items.every(({ state }) => state === "sent") && items),
      )
      assert.strictEqual(outbox.length, 2 * names.length - 1)
      const { incident, log } = yield* incidentAt(server, id)
      assert.strictEqual(incident.state, "resolved")
      assert.include(JSON.stringify(log), "link:mail")
      const { stdout } = yield* tocsin({ cwd, environment }, "doctor", "--send-test", "--json")
      for (const name of names) assert.include(stdout, name)
      assert.include((yield* Queue.take(mails)).raw, "Subject: TEST: Tocsin reaches you here.")
      yield* Effect.forEach(running, accepted)
      assert.notInclude(server.output.stderr, '"level":"ERROR"')
    }),
  )
})
