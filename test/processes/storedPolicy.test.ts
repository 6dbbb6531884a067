import { symlinkSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Redacted } from "effect"
import { EXIT_CODES } from "@tocsin/server/CommandFailure"
import { AT_LENGTH, unlessAtLength } from "../properties/atLength.ts"
import { jsonOf, tocsin } from "../cli/tocsin.ts"
import { enroll, report } from "./Agent.ts"
import { type Base, OPERATOR_TOKEN, operate } from "./api.ts"
import { scratchFolder, scratchPostgres } from "./scratch.ts"
import { launch, startServer } from "./ServerProcess.ts"
import { until } from "./until.ts"
import { startReceiver, type WebhookReceiver } from "./WebhookReceiver.ts"

/** A server's folder, with a folder of secrets for receivers at paths of one local receiver. */
const siteOf = Effect.fnUntraced(function* (receiver: WebhookReceiver, names: ReadonlyArray<string>) {
  const cwd = yield* scratchFolder
  const addSecrets = (name: string) => {
    const { SERVICE_WEBHOOK_SECRET: secret = "", SERVICE_WEBHOOK_URL: url = "" } = receiver.settings(name)
    writeFileSync(join(cwd, `${name}-url`), url)
    writeFileSync(join(cwd, `${name}-secret`), secret)
  }
  for (const name of names) addSecrets(name)
  const environment = { SERVICE_AUTH_TOKEN: OPERATOR_TOKEN, SERVICE_SECRETS_DIR: cwd }
  return { cwd, environment, addSecrets }
})

const receiverOf = (name: string) => `{ kind: webhook, url_file: ${name}-url, secret_file: ${name}-secret }`

/** A policy by which one receiver is notified of everything. */
const policyOf = (name: string) =>
  `# All to ${name}.\nreceivers: { ${name}: ${receiverOf(name)} }\nroutes: [ { to: [${name}] } ]\n`

const put = (base: Base, text: string, hash?: string) => send(base, "PUT", "", text, hash)

const confirmed = (base: Base, text: string, hash?: string) => send(base, "PUT", "?confirm=true", text, hash)

/** Sends the text of a policy. */
const send = (base: Base, method: string, below: string, text: string, hash?: string) =>
  Effect.promise(async () => {
    const response = await fetch(`${base.baseUrl}/ops/v1/policy${below}`, {
      method,
      headers: {
        authorization: `Bearer ${OPERATOR_TOKEN}`,
        ...(hash !== undefined && { "if-match": hash }),
      },
      body: text,
    })
    const body = Object(await response.json())
    return { status: response.status, body, message: String(body.error?.message) }
  })

const policyAt = (base: Base) =>
  Effect.map(operate(base, "GET", "/ops/v1/policy"), ({ text }) => Object(JSON.parse(text)))

const isInForce = (base: Base, hash: string) =>
  until(
    "the policy is in force",
    Effect.map(policyAt(base), (policy) => policy.hash === hash),
  )

const sendersOf = ({ arrivals }: WebhookReceiver) => arrivals.map(({ sender }) => sender)

const arrive = (receiver: WebhookReceiver, count: number) =>
  until(
    `${count} messages have arrived`,
    Effect.sync(() => receiver.arrivals.length >= count),
  )

const versionsAt = (base: Base) =>
  Effect.map(operate(base, "GET", "/ops/v1/policy/versions"), ({ text }) =>
    JSON.parse(text).items.map(({ text: stored, version }: Record<string, unknown>) => [version, stored]),
  )

describe("a stored policy", () => {
  it.live("is in force on every server, leaves receivers to those with its secrets, and is rolled back", () =>
    Effect.gen(function* () {
      const receiver = yield* startReceiver(() => ({ status: 204 }))
      const scratch = yield* scratchPostgres
      const sites = [yield* siteOf(receiver, []), yield* siteOf(receiver, ["a", "b"])] as const
      const optionsOf = ({ cwd, environment }: (typeof sites)[0]) => ({
        cwd,
        environment: { ...environment, DATABASE_URL: Redacted.value(scratch.url) },
      })
      const [blind, seeing] = yield* Effect.all(
        [startServer(optionsOf(sites[0])), startServer(optionsOf(sites[1]))],
        { concurrency: 2 },
      )
      const before = yield* policyAt(blind)
      // No running server lists the receiver as usable yet.
      const refused = yield* put(blind, policyOf("a"), before.hash)
      assert.strictEqual(refused.status, 409)
      assert.include(
        refused.message,
        "no server could use 1 of the receivers (a), as receivers.a.url_file names",
      )
      const first = yield* confirmed(blind, policyOf("a"), before.hash)
      assert.deepInclude(first.body, { version: 1, text: policyOf("a") })
      // The server that answers has it in force, though it cannot read the secrets.
      const inBlind = yield* policyAt(blind)
      assert.strictEqual(inBlind.hash, first.body.hash)
      assert.deepStrictEqual(inBlind.receivers, [{ name: "a", notifier: "webhook", unavailable: true }])
      const reasons = ["url", "secret"].map(
        (secret) => `receivers.a.${secret}_file names a file that cannot be read: check its path and owner`,
      )
      for (const reason of reasons) assert.include(blind.output.stderr, reason)
      const unavailable = [{ receiver: "a", reason: reasons.join("; ") }]
      assert.deepStrictEqual(first.body.unavailable, unavailable)
      yield* until(
        "each server has reported what it can use",
        Effect.map(
          policyAt(seeing),
          // Either server may have started first.
          ({ replicas }) =>
            replicas
              .map((one: Record<string, unknown>) => JSON.stringify(one["unavailable"]))
              .toSorted()
              .join() === [JSON.stringify([]), JSON.stringify(unavailable)].toSorted().join(),
        ),
      )
      yield* isInForce(seeing, first.body.hash)
      const [{ hint, ...seen }] = (yield* policyAt(seeing)).receivers
      assert.deepStrictEqual(seen, { name: "a", notifier: "webhook" })
      assert.match(String(hint), /^127\.0\.0\.1:\d+$/)
      const late = yield* put(seeing, policyOf("b"), before.hash)
      assert.strictEqual(late.status, 412)
      assert.include(late.message, "another policy is in force")
      const agent = yield* enroll(blind, "web-1")
      yield* report(blind, agent, { check_id: "disk", status: "critical" })
      yield* arrive(receiver, 1)

      for (const name of ["a", "b"]) sites[0].addSecrets(name)
      yield* blind.signal("SIGHUP")
      yield* until(
        "the secrets are read",
        Effect.map(policyAt(blind), ({ receivers }) => receivers[0].unavailable === undefined),
      )
      const second = yield* put(seeing, policyOf("b"), `"${first.body.hash}"`)
      assert.deepInclude(second.body, { version: 2 })
      yield* isInForce(blind, second.body.hash)
      yield* report(blind, agent, { check_id: "load", status: "critical" })
      // The receiver of the second policy is notified of both open incidents.
      yield* arrive(receiver, 3)
      assert.deepStrictEqual(sendersOf(receiver).toSorted(), ["a", "b", "b"])

      // A server that crashed before it put a version in force starts with it: here the first text again.
      yield* seeing.kill
      const third = yield* put(blind, policyOf("a"), second.body.hash)
      assert.deepInclude(third.body, { version: 3, hash: first.body.hash })
      const restarted = yield* startServer(optionsOf(sites[1]))
      assert.strictEqual((yield* policyAt(restarted)).hash, first.body.hash)
      assert.deepStrictEqual(yield* versionsAt(restarted), [
        [3, policyOf("a")],
        [2, policyOf("b")],
        [1, policyOf("a")],
      ])
      const audit = yield* operate(restarted, "GET", "/ops/v1/audit?action=policy.applied")
      const [newest, ...others] = JSON.parse(audit.text).items
      assert.strictEqual(others.length, 2)
      assert.match(newest.actor, /^token-[0-9a-f]{8}$/)
      assert.deepStrictEqual(newest.parameters, {
        version: 3,
        former: second.body.hash,
        text: policyOf("a"),
      })

      // One of an earlier version of Tocsin stays in force, in a running server and at a start.
      const { sql } = yield* scratch.replica({ maxConnections: 1 })
      const windowed = `${policyOf("a")}windows: [ { name: nightly, cron: "0 2 * * *", tz: BST, for: 1h, match: ["label:node = "] } ]\n`
      yield* sql`INSERT INTO policy_version SELECT 4, 'earlier', ${windowed}, applied_at, 'ann' FROM policy_version WHERE version = 3`
      const places = ["windows[0].tz must be", "windows[0].match must hold"]
      yield* until(
        "the running server warns of it",
        Effect.sync(() =>
          places.every((place) => blind.output.stderr.includes(`"problem":"line 4: ${place}`)),
        ),
      )
      const upgraded = yield* startServer(optionsOf(sites[1]))
      assert.deepInclude((yield* policyAt(upgraded)).policy.windows[0], {
        tz: "BST",
        match: ["label:node = "],
      })
      assert.deepInclude(JSON.parse((yield* operate(upgraded, "GET", "/")).text), {
        status: "unwell",
        notifications: { status: "policy_outdated" },
      })
      const examined = yield* tocsin(optionsOf(sites[1]), "doctor", "--json")
      const findings = JSON.parse(examined.stdout).findings as ReadonlyArray<Record<string, string>>
      assert.deepStrictEqual(
        findings.flatMap(({ check, level, message = "" }) =>
          check === "policy" ? [[level, message.slice(0, 78)]] : [],
        ),
        ["windows[0].tz must be", "windows[0].match must"].map((place) => [
          "attention",
          `correct line 4 of the stored policy, and apply it again: ${place}`,
        ]),
      )
      // A new policy must keep the rule.
      assert.strictEqual((yield* put(blind, windowed)).status, 400)
      const inForce = (yield* policyAt(blind)).hash

      // One of a newer version of Tocsin changes nothing in a running server, and stops a start.
      yield* sql`INSERT INTO policy_version SELECT 5, 'other', 'routes: [ { soon: 1m } ]', applied_at, 'ann' FROM policy_version WHERE version = 3`
      const problem = "line 1: routes[0].soon is not a known field"
      yield* until(
        "the running server says so",
        Effect.sync(() => blind.output.stderr.includes(problem)),
      )
      assert.strictEqual((yield* policyAt(blind)).hash, inForce)
      const { text: metrics } = yield* operate(blind, "GET", "/metrics")
      assert.include(metrics, "\ntocsin_policy_version 4\n")
      assert.include(metrics, "\ntocsin_policy_is_newest 0\n")
      assert.include(metrics, "\ntocsin_policy_versions_refused_total 1\n")
      const next = yield* launch(optionsOf(sites[1]))
      assert.deepStrictEqual(yield* next.ended, { code: 1, signal: null })
      assert.include(
        next.output.stderr,
        `Tocsin cannot start: this version of Tocsin cannot read the stored policy (${problem}): run the version that stored it`,
      )
    }),
  )

  it.live("whose receiver no server can use is stored, and the command and the doctor say so", () =>
    Effect.gen(function* () {
      const receiver = yield* startReceiver(() => ({ status: 204 }))
      const { cwd, environment } = yield* siteOf(receiver, ["a"])
      const server = yield* startServer({
        cwd,
        environment: { SERVICE_AUTH_TOKEN: environment.SERVICE_AUTH_TOKEN },
      })
      writeFileSync(join(cwd, "policy.yaml"), policyOf("a"))
      const reason = ["url", "secret"]
        .map(
          (secret) =>
            `receivers.a.${secret}_file needs SERVICE_SECRETS_DIR, which is not set; name a variable, or set it`,
        )
        .join("; ")
      const apply = ["policy", "apply", "policy.yaml"] as const
      // Neither the command nor the server has the secrets.
      const empty = { SERVICE_SECRETS_DIR: yield* scratchFolder }
      const refused = yield* tocsin({ cwd, environment: empty }, ...apply)
      assert.strictEqual(refused.code, EXIT_CODES.refused.code)
      assert.include(
        refused.stderr,
        "no server could use 1 of the receivers (a), as receivers.a.url_file names",
      )
      assert.deepStrictEqual(yield* versionsAt(server), [])
      // The command has the folder, the server has not.
      const unheard = yield* tocsin({ cwd, environment }, ...apply)
      assert.strictEqual(unheard.code, EXIT_CODES.refused.code)
      assert.include(
        unheard.stderr,
        `no running server can use the receiver a: ${reason}: give a server its secrets, or confirm the policy with --confirm; the former policy is in force again`,
      )
      assert.deepStrictEqual(yield* versionsAt(server), [
        [2, "{}"],
        [1, policyOf("a")],
      ])
      const applied = yield* tocsin({ cwd, environment }, ...apply, "--confirm")
      assert.deepStrictEqual(
        [applied.code, applied.stdout.split("\n").at(-2)],
        [0, `no running server can use the receiver a: ${reason}`],
      )
      const again = yield* jsonOf({ cwd, environment }, ...apply, "--confirm")
      assert.deepInclude(again, { version: 3, unavailable: [{ receiver: "a", reason }] })
      // A policy that was in force before remains so.
      const repeated = yield* tocsin({ cwd, environment }, ...apply)
      assert.include(repeated.stderr, "; version 3 is in force")
      const { replicas } = yield* policyAt(server)
      assert.deepStrictEqual(replicas[0].unavailable, [{ receiver: "a", reason }])
      const test = yield* operate(server, "POST", "/ops/v1/notifiers/a/test")
      assert.include(test.text, `"error":"this server cannot use it: receivers.a.url_file needs`)
      const state = yield* operate(server, "GET", "/")
      assert.deepInclude(JSON.parse(state.text), { status: "unwell", notifications: { status: "unusable" } })
      const examined = yield* tocsin({ cwd, environment }, "doctor", "--json")
      const found = (JSON.parse(examined.stdout).findings as ReadonlyArray<Record<string, string>>).map(
        ({ check, level, message }) => `${level} ${check}: ${message}`,
      )
      assert.include(found, `failed replicas: no running server can use the receiver a: ${reason}`)
      // Where the doctor runs, the secrets can be read.
      assert.include(found, "ok receiver a: sends to its webhook; --send-test sends a message there")
    }),
  )

  it.live("is refused by a check, over HTTP and by the command, exactly where it cannot be applied", () =>
    Effect.gen(function* () {
      const cwd = yield* scratchFolder
      const environment = { SERVICE_AUTH_TOKEN: OPERATOR_TOKEN, SERVICE_SECRETS_DIR: cwd }
      const server = yield* startServer({ cwd, environment })
      const chat = (secret: string) => `receivers: { chat: { kind: messenger, ${secret} } }\n`
      for (const text of [
        chat("url_file: chat-url"),
        chat("url_file: /run/secrets/chat-url"),
        `${chat("url_env: HOME")}routes: [ { to: [nobody] } ]`,
        "routes: [",
      ]) {
        writeFileSync(join(cwd, "policy.yaml"), text)
        const checked = yield* tocsin({ cwd, environment }, "policy", "check", "policy.yaml", "--json")
        const { issues } = JSON.parse(checked.stdout)
        assert.deepStrictEqual((yield* send(server, "POST", "/check", text)).body.issues, issues, text)
        const applied = yield* confirmed(server, text)
        assert.deepStrictEqual(
          [applied.status === 200, checked.code === 0],
          [issues.length === 0, issues.length === 0],
          text,
        )
        for (const { message } of issues) assert.include(applied.message, message)
      }
      // The command says which secrets its own shell lacks, whatever the servers have.
      writeFileSync(join(cwd, "policy.yaml"), chat("url_file: chat-url"))
      const lacking = yield* tocsin({ cwd, environment }, "policy", "check", "policy.yaml")
      assert.strictEqual(lacking.code, 0)
      assert.include(
        lacking.stderr,
        "this shell cannot use the receiver chat, as receivers.chat.url_file names a file that cannot be read",
      )
      assert.match(
        lacking.stderr,
        /no server answers at http\S+, which .*: this shell's secrets were tried\n/,
      )
      const near = { ...environment, SERVICE_PORT: new URL(server.baseUrl).port }
      const asking = tocsin({ cwd, environment: near }, "policy", "check", "policy.yaml")
      const refused =
        "the running server cannot use the receiver chat, as receivers.chat.url_file names a file"
      assert.include((yield* asking).stderr, refused)
      writeFileSync(join(cwd, "chat-url"), "https://chat.example/hook")
      const usable = yield* asking
      assert.deepStrictEqual(
        [usable.code, usable.stderr],
        [0, "the running server can use all of its receivers\n"],
      )
      const mail = "{ kind: messenger, type: email, to: [b@example.org] }"
      writeFileSync(
        join(cwd, "policy.yaml"),
        `mail: { url_env: TOCSIN_SECRET_MAIL, from: a@example.org }\nreceivers: { a: ${mail}, c: ${mail} }\n`,
      )
      const once =
        "the running server cannot use the receivers a, c, as mail.url_env names a variable that is not set\n"
      assert.include((yield* asking).stderr, once)
      writeFileSync(join(cwd, "policy.yaml"), chat("url_file: chat-url"))
      const found = yield* tocsin({ cwd, environment }, "policy", "check", "policy.yaml")
      assert.deepStrictEqual([found.code, found.stderr.includes("this shell cannot use")], [0, false])
      symlinkSync(join(cwd, "chat-url"), join(cwd, "linked-url"))
      writeFileSync(join(cwd, "policy.yaml"), chat("url_file: linked-url"))
      const linked = yield* tocsin({ cwd, environment }, "policy", "check", "policy.yaml")
      assert.include(linked.stderr, "this shell cannot use the receiver chat")
      // A shell with another policy than the server says so.
      writeFileSync(join(cwd, "policy.yaml"), "windows: []\n")
      const note = "the running servers follow another policy than this command"
      const other = { cwd, environment: { ...environment, SERVICE_POLICY_FILE: "policy.yaml" } }
      assert.include((yield* tocsin(other, "incidents")).stderr, note)
      assert.notInclude((yield* tocsin({ cwd, environment }, "incidents")).stderr, note)
      // Without a folder of secrets it may be meant as a file.
      writeFileSync(join(cwd, "policy.yaml"), chat("url_file: /run/secrets/chat-url"))
      const checked = yield* tocsin({ cwd, environment: {} }, "policy", "check", "policy.yaml")
      assert.strictEqual(checked.code, 0)
      assert.include(
        checked.stderr,
        "tocsin policy apply would refuse it: policy.yaml:1: receivers.chat.url_file must be the name of a file",
      )
    }),
  )

  it.live.skipIf(!AT_LENGTH)(`that takes a second to read makes no other request wait${unlessAtLength}`, () =>
    Effect.gen(function* () {
      const cwd = yield* scratchFolder
      writeFileSync(join(cwd, "policy.yaml"), "{}")
      const started = { SERVICE_AUTH_TOKEN: OPERATOR_TOKEN, SERVICE_SECRETS_DIR: cwd }
      const servers = yield* Effect.all([
        startServer({ cwd, environment: started }),
        startServer({
          cwd,
          environment: { ...started, DATABASE_URL: "memory:", SERVICE_POLICY_FILE: "policy.yaml" },
        }),
      ])
      const acts = [
        [servers[0], "PUT", "?confirm=true", 200],
        [servers[1], "POST", "/check", 200],
        [servers[0], "POST", "/try", 200],
      ] as const
      for (const [server, method, below, status] of acts) {
        const reading = yield* Effect.forkChild(
          send(server, method, below, `${"\n".repeat(300_000)}routes: []`),
        )
        let answered = 0
        while (reading.pollUnsafe() === undefined) {
          yield* operate(server, "GET", "/api/v1/health")
          answered += 1
          yield* Effect.sleep("10 millis")
        }
        assert.strictEqual((yield* Fiber.join(reading)).status, status)
        // While the server itself reads, it answers one or two.
        assert.isAbove(answered, 10, `${method} ${below}`)
      }
    }),
  )

  it.live.skipIf(!AT_LENGTH)(
    `is applied and read by commands, and names no other file and variable, and no link${unlessAtLength}`,
    () =>
      Effect.gen(function* () {
        const receiver = yield* startReceiver(() => ({ status: 204 }))
        const { cwd, environment } = yield* siteOf(receiver, ["a"])
        const place = { cwd, environment }
        symlinkSync(join(cwd, "a-url"), join(cwd, "linked-url"))
        writeFileSync(join(cwd, "linked-secret"), "whsec_c2VjcmV0LXRoYXQtaXMtbG9uZy1lbm91Z2g=")
        const server = yield* startServer(place)
        const none = yield* tocsin(place, "policy", "get")
        assert.strictEqual(none.code, 3)
        assert.include(none.stderr, "no policy is stored: apply one with tocsin policy apply FILE")
        const outside = yield* put(server, "receivers:\n  a: { kind: messenger, url_file: ../a-url }\n")
        assert.deepStrictEqual(
          [outside.status, outside.message],
          [
            400,
            "the policy is not valid: line 2: receivers.a.url_file must be the name of a file in SERVICE_SECRETS_DIR, without a folder",
          ],
        )
        // The answer does not reveal whether there is such a file: the receiver is unavailable.
        for (const name of ["missing", "linked"]) {
          assert.strictEqual((yield* put(server, policyOf(name))).status, 409)
          assert.strictEqual((yield* confirmed(server, policyOf(name))).status, 200)
          assert.strictEqual((yield* policyAt(server)).receivers[0].unavailable, true)
        }
        const invalid = yield* put(server, "routes: [ { to: [nobody] } ]")
        assert.deepStrictEqual(
          [invalid.status, invalid.message],
          [
            400,
            "the policy is not valid: line 1: routes[0].to[0] names no receiver; the receivers are debug",
          ],
        )
        assert.strictEqual((yield* policyAt(server)).receivers[0].name, "linked")

        writeFileSync(join(cwd, "policy.yaml"), policyOf("a"))
        const applied = Object(yield* jsonOf(place, "policy", "apply", "policy.yaml"))
        assert.strictEqual(applied.version, 3)
        assert.match(applied.applied_by, /^cli:/)
        yield* isInForce(server, applied.hash)
        assert.strictEqual((yield* tocsin(place, "policy", "get")).stdout, policyOf("a"))
        writeFileSync(join(cwd, "policy.yaml"), policyOf("a").replace("routes", "windows: []\nroutes"))
        const refused = yield* tocsin(place, "policy", "apply", "policy.yaml", "--if-match", "0123")
        assert.strictEqual(refused.code, 5)
        assert.include(refused.stderr, "another policy is in force")
        const { items } = (yield* jsonOf(place, "policy", "versions")) as {
          readonly items: ReadonlyArray<{ readonly version: number; readonly text: string }>
        }
        assert.deepStrictEqual(
          items.map(({ version }) => version),
          [3, 2, 1],
        )
        const second = (yield* tocsin(place, "policy", "get", "2")).stdout
        assert.deepStrictEqual([second, items[1]?.text], [policyOf("linked"), second])
        const gone = yield* tocsin(place, "policy", "get", "9")
        assert.include(gone.stderr, "no such version is stored: list them with tocsin policy versions")
        // A shell with another policy than the servers says so.
        const windowed = `windows: [{ name: nightly, cron: "0 2 * * *", tz: UTC, for: 1h, match: ["check_id = backup"] }]\n`
        writeFileSync(join(cwd, "other.yaml"), windowed)
        const other = { cwd, environment: { ...environment, SERVICE_POLICY_FILE: "other.yaml" } }
        const note = "the running servers follow another policy than this command"
        assert.include((yield* tocsin(other, "incidents")).stderr, note)
        assert.notInclude((yield* tocsin(place, "incidents")).stderr, note)
        writeFileSync(join(cwd, "policy.yaml"), policyOf("a") + windowed)
        const through = ["sh", "-c", 'cat policy.yaml | "$@"', "sh"]
        const piped = yield* launch({ ...place, args: ["policy", "apply", "-"], through })
        assert.deepStrictEqual([(yield* piped.ended).code, piped.output.stderr], [0, ""])
        assert.include((yield* tocsin(place, "windows")).stdout, "nightly")
        // A command that enqueues decides by the stored policy.
        const agent = yield* enroll(server, "web-1")
        yield* report(server, agent, { check_id: "disk", status: "critical" })
        yield* arrive(receiver, 1)
        yield* jsonOf(place, "agents", "remove", "web-1", "--yes")
        yield* arrive(receiver, 2)
        assert.deepStrictEqual(sendersOf(receiver), ["a", "a"])
      }),
  )

  it.live(
    "that sends a receiver more than 100 firings immediately must be confirmed; a file states them",
    () =>
      Effect.gen(function* () {
        const receiver = yield* startReceiver(() => ({ status: 204 }))
        const { cwd, environment } = yield* siteOf(receiver, ["a", "b", "c"])
        const place = { cwd, environment }
        const server = yield* startServer(place)
        assert.deepInclude((yield* put(server, policyOf("a"))).body, { firings: [] })
        const agent = yield* enroll(server, "web-1")
        const checks = Array.from({ length: 101 }, (_, n) => `check-${n}`)
        yield* report(server, agent, ...checks.map((check_id) => ({ check_id, status: "critical" as const })))
        yield* arrive(receiver, checks.length)

        const firings = [{ receiver: "b", count: checks.length }]
        writeFileSync(join(cwd, "policy.yaml"), policyOf("b"))
        const checked = yield* tocsin(place, "policy", "check", "policy.yaml")
        assert.strictEqual(checked.stdout, "policy.yaml is valid\nb gets 101 firings immediately\n")
        const answer = yield* operate(server, "POST", "/ops/v1/policy/check", {
          json: {
            receivers: { b: { kind: "webhook", url_file: "b-url", secret_file: "b-secret" } },
            routes: [{ to: ["b"] }],
          },
        })
        assert.deepStrictEqual(JSON.parse(answer.text), {
          issues: [],
          warnings: [],
          firings,
          unavailable: [],
        })
        const message =
          "the policy would send 101 firings to b immediately: narrow its routes, or confirm it with --confirm, ?confirm=true or { confirm: true }"
        const refused = yield* put(server, policyOf("b"))
        assert.deepStrictEqual([refused.status, refused.message], [409, message])
        const unconfirmed = yield* tocsin(place, "policy", "apply", "policy.yaml")
        assert.deepStrictEqual([unconfirmed.code, unconfirmed.stderr.includes(message)], [5, true])
        const applied = yield* jsonOf(place, "policy", "apply", "policy.yaml", "--confirm")
        assert.deepInclude(applied, { version: 2, firings })
        yield* arrive(receiver, 2 * checks.length)
        yield* server.stop

        writeFileSync(join(cwd, "policy.yaml"), policyOf("c").replaceAll("_file: ", `_file: ${cwd}/`))
        const fromFile = yield* startServer({
          cwd,
          environment: { ...environment, SERVICE_POLICY_FILE: "policy.yaml" },
        })
        yield* until(
          "the log states the firings",
          Effect.sync(() => fromFile.output.stderr.includes('"firings":"c 101"')),
        )
        yield* arrive(receiver, 3 * checks.length)
      }),
  )
})
