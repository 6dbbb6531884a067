import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { createMonitor, type CustomNotifier, memory, type PolicyOption, TocsinError } from "tocsin"
import { createTestMonitor } from "tocsin/testing"
import { enroll, resultOf, send, until } from "./requests.ts"

/** Two notifiers of a program, and the checks that each was notified of, with the cause. */
const recording = () => {
  const sent: Array<string> = []
  const notifier = (name: string): CustomNotifier => ({
    name,
    send: ({ cause, event_type, incident }) =>
      void sent.push(`${name} ${event_type} ${cause ?? ""} ${incident.check_id}`.replaceAll("  ", " ")),
  })
  return { sent, notifiers: [notifier("chat"), notifier("pager")] }
}

const critical = (check_id: string) => resultOf("critical", { check_id })

/** The problems with which a promise rejects. */
const problemsOf = async (promise: Promise<unknown>): Promise<readonly [string, ReadonlyArray<string>]> => {
  const error: unknown = await promise.then(
    () => assert.fail("it was taken"),
    (refused: unknown) => refused,
  )
  if (!(error instanceof TocsinError)) throw error
  return [error.code, error.message.split("\n")]
}

describe("the policy of a monitor", () => {
  it("routes to notifiers by their names", async () => {
    const { notifiers, sent } = recording()
    const policy: PolicyOption = {
      routes: [
        { match: ["check_id = disk"], to: ["pager"] },
        { match: ["check_id = load"], steps: [{ to: ["chat"] }, { after: "15m", to: ["pager"] }] },
        { match: ["check_id = quiet"], after: "10m", to: ["chat"] },
      ],
    }
    await using monitor = await createTestMonitor({ notifiers, policy, deadAfter: "2h" })
    await enroll(monitor, "a")
    await send(monitor, "a", critical("disk"), critical("load"), critical("quiet"))
    await monitor.settle()
    assert.deepStrictEqual(sent.splice(0).toSorted(), ["chat firing opened load", "pager firing opened disk"])
    await monitor.advance("11m")
    assert.deepStrictEqual(sent.splice(0), ["chat firing opened quiet"])
    await monitor.advance("5m")
    assert.deepStrictEqual(sent.splice(0), ["pager firing escalation load"])
  })

  it("has rotas, which others take over for a while", async () => {
    const { notifiers, sent } = recording()
    const rotas = { primary: { order: ["chat", "pager"], every: "31d", from: "2020-01-01T00:00" } } as const
    const policy: PolicyOption = { rotas, routes: [{ to: ["primary"] }] }
    await using monitor = await createTestMonitor({ notifiers, policy })
    const [rota] = (await monitor.rotas.list()).items
    const [present = ""] = rota?.now.receivers ?? []
    const other = present === "chat" ? "pager" : "chat"
    const to = new Date(Date.parse(monitor.now()) + 3_600_000).toISOString()
    const made = await monitor.rotas.overrides.create("primary", { to, receivers: [other], by: "eva" })
    assert.deepInclude(made, { state: "active", created_by: "eva" })
    const { turns } = await monitor.rotas.get("primary", { to: new Date(Date.parse(to) + 1).toISOString() })
    assert.deepStrictEqual(
      turns.map(({ receivers }) => receivers),
      [[other], [present]],
    )
    await enroll(monitor, "a")
    await send(monitor, "a", critical("disk"))
    await monitor.settle()
    assert.deepStrictEqual(sent.splice(0), [`${other} firing opened disk`])
    assert.deepStrictEqual(await monitor.rotas.overrides.end({ name: "primary", id: made.id }), { count: 1 })
    const problem = await problemsOf(monitor.rotas.get("secondary"))
    assert.deepStrictEqual(problem, [
      "not_found",
      ["the policy has no rota of this name; list rotas with monitor.rotas.list()"],
    ])
  })

  it("can be replaced, and stays where the new one is refused", async () => {
    const { notifiers, sent } = recording()
    await using monitor = await createTestMonitor({ notifiers, policy: { routes: [{ to: ["chat"] }] } })
    await enroll(monitor, "a")
    await send(monitor, "a", critical("one"))
    await monitor.settle()
    assert.deepStrictEqual(sent.splice(0), ["chat firing opened one"])

    const before = await monitor.policy.get()
    const refused = await problemsOf(
      monitor.setPolicy({
        receivers: { chat: { kind: "debug" }, mail: { kind: "webhook", url_env: "A", secret_env: "B" } },
        routes: [{ to: ["nobody"] }],
      }),
    )
    assert.deepStrictEqual(refused, [
      "validation",
      [
        "policy.routes[0].to[0] names no receiver; the receivers are chat, debug, mail, pager",
        "policy.receivers.chat is the name of a notifier of this monitor",
        "policy.receivers.mail.url_env names a variable that is not set",
        "policy.receivers.mail.secret_env names a variable that is not set",
      ],
    ])
    assert.deepStrictEqual(await problemsOf(monitor.setPolicy({ receivers: { chat: { kind: "debug" } } })), [
      "validation",
      ["policy.receivers.chat is the name of a notifier of this monitor"],
    ])
    assert.deepStrictEqual(
      await problemsOf(
        monitor.setPolicy({
          receivers: { mail: { kind: "webhook", url_env: "NO_SUCH_VARIABLE", secret_file: "/no/such/file" } },
        }),
      ),
      [
        "validation",
        [
          "policy.receivers.mail.url_env names a variable that is not set",
          "policy.receivers.mail.secret_file names a file that cannot be read: check its path and owner",
        ],
      ],
    )
    assert.deepStrictEqual(await monitor.policy.get(), before)

    await monitor.setPolicy({ routes: [{ to: ["pager"] }] }, { by: "ann" })
    const after = await monitor.policy.get()
    const { items: audited } = await monitor.audit.list({ action: "policy.replaced" })
    assert.deepStrictEqual(
      audited.map(({ actor, parameters, subjects, via }) => [actor, via, subjects[0]?.id, parameters]),
      [
        ["ann", "library", after.hash, { former: before.hash }],
        ["system", "system", before.hash, {}],
      ],
    )
    assert.notStrictEqual(after.hash, before.hash)
    assert.deepStrictEqual(after.policy, { routes: [{ to: ["pager"] }] })
    await send(monitor, "a", critical("two"))
    await monitor.settle()
    assert.deepStrictEqual(sent.splice(0), ["pager firing opened two"])

    // A receiver that the policy defines works beside the program's own.
    await monitor.setPolicy({ receivers: { console: { kind: "debug" } }, routes: [{ to: ["console"] }] })
    await send(monitor, "a", critical("three"))
    await monitor.settle()
    const { items } = await monitor.outbox.list({ state: "sent" })
    assert.deepStrictEqual(
      items.map(({ notifier }) => notifier),
      ["debug", "pager", "chat"],
    )
  })

  it("must be confirmed where no process can read the secrets of a receiver, which then waits", async () => {
    await using monitor = await createTestMonitor()
    const lacking: PolicyOption = { receivers: { mail: { kind: "messenger", url_env: "NO_SUCH_VARIABLE" } } }
    const problem = "policy.receivers.mail.url_env names a variable that is not set"
    assert.deepStrictEqual(await problemsOf(monitor.setPolicy(lacking)), ["validation", [problem]])
    await monitor.setPolicy(lacking, { confirm: true })
    const { receivers, replicas } = await monitor.policy.get()
    assert.deepInclude(receivers, { name: "mail", notifier: "messenger", unavailable: true })
    assert.deepStrictEqual(
      replicas.map(({ unavailable }) => unavailable),
      [[{ receiver: "mail", reason: problem.replace("policy.", "") }]],
    )
    // A running process lists it as usable no more than this one.
    assert.strictEqual((await problemsOf(monitor.setPolicy(lacking)))[0], "validation")
    const other: PolicyOption = { ...lacking, routes: [{ to: ["nobody"] }] }
    assert.strictEqual((await problemsOf(monitor.setPolicy(other, { confirm: true })))[0], "validation")
  })

  it("must be confirmed where it sends a receiver more than 100 firings immediately", async () => {
    const { notifiers, sent } = recording()
    await using monitor = await createTestMonitor({ notifiers, policy: { routes: [{ to: ["chat"] }] } })
    await enroll(monitor, "a")
    await send(monitor, "a", ...Array.from({ length: 101 }, (_, n) => critical(`check-${n}`)))
    await monitor.settle()
    sent.splice(0)
    const next: PolicyOption = { routes: [{ to: ["pager"] }] }
    const expected =
      "the policy would send 101 firings to pager immediately: narrow its routes, or confirm it with --confirm, ?confirm=true or { confirm: true }"
    assert.deepStrictEqual(await problemsOf(monitor.setPolicy(next)), ["conflict", [expected]])
    assert.deepStrictEqual(await problemsOf(monitor.setPolicy(next, { confirm: "yes" as never })), [
      "validation",
      ["confirm must be true or false"],
    ])
    await monitor.setPolicy(next, { confirm: true, by: "ann" })
    await monitor.advance("20s")
    assert.strictEqual(sent.length, 101)
  })

  it("leaves the rows of a receiver that it removes, and those keep no others waiting", async () => {
    const { notifiers, sent } = recording()
    const toChat = { match: ["check_id = new"], to: ["chat"], after: "10m" } as const
    const later = { match: ["check_id != new"], to: ["pager"], after: "5m" } as const
    const policy: PolicyOption = {
      receivers: { extra: { kind: "debug" } },
      routes: [toChat, { ...later, to: ["extra"] }],
    }
    await using monitor = await createTestMonitor({ notifiers, policy, deadAfter: "2h" })
    await enroll(monitor, "a")
    // One more than an evaluation takes at a time.
    await send(monitor, "a", ...Array.from({ length: 101 }, (_, n) => critical(`old-${n}`)), critical("new"))
    await monitor.setPolicy({ routes: [toChat, { ...later, after: "1h" }] })
    await monitor.advance("12m")
    assert.deepStrictEqual(sent, ["chat firing opened new"])
    const { items } = await monitor.outbox.list({ state: "pending", notifier: "debug", limit: 200 })
    assert.strictEqual(items.length, 101)
  })

  it("is checked with all other options", async () => {
    const policy = { windows: [{ name: "w", cron: "0 0 3 2 *", tz: "Nowhere", for: "1h", match: [] }] }
    const refused = await problemsOf(createMonitor({ storage: memory(), policy, staleAfter: -1 as never }))
    assert.deepStrictEqual(
      [refused[0], refused[1].filter((line) => line.startsWith("policy"))],
      [
        "options",
        [
          "policy.windows[0].tz must be an IANA time zone, such as Europe/Berlin, and no abbreviation such as BST",
          "policy.windows[0].match must hold at least one matcher that names something: = with a value, or a glob with a literal character, on a field other than severity",
        ],
      ],
    )
    const secret = {
      receivers: { mail: { kind: "webhook", url_env: "NO_SUCH_VARIABLE", secret_env: "B" } },
      routes: [{ to: ["nobody"] }],
    } as const
    const unset = await problemsOf(createMonitor({ storage: memory(), policy: secret, log: false }))
    assert.deepStrictEqual(unset, [
      "options",
      [
        "policy.routes[0].to[0] names no receiver; the receivers are mail",
        "policy.receivers.mail.url_env names a variable that is not set",
        "policy.receivers.mail.secret_env names a variable that is not set",
      ],
    ])
  })

  it("has a schema, windows and a check of texts", async () => {
    const policy: PolicyOption = {
      windows: [{ name: "night", cron: "0 2 * * *", tz: "UTC", for: "1h", match: ["check_id = disk"] }],
    }
    await using monitor = await createTestMonitor({ policy })
    const { items } = await monitor.windows.list()
    assert.deepStrictEqual(
      items.map(({ name, occurrences }) => [name, occurrences.length, occurrences[0]?.starts_at]),
      [["night", 5, "2026-01-01T02:00:00.000Z"]],
    )
    assert.deepStrictEqual((await monitor.policy.check("routes: [{ to: [x] }]")).issues.length, 1)
    assert.strictEqual((await monitor.policy.schema())["title"], "Tocsin policy")
  })
})

describe("a stored policy", () => {
  it("is applied, followed by its notifiers and those of its receivers, and not set", async () => {
    const { notifiers, sent } = recording()
    const storage = memory()
    await using monitor = await createMonitor({ storage, notifiers, policy: "stored", log: false })
    const routed = "routes: [ { match: ['check_id = disk'], to: [pager] } ]\n"
    const { hash, version } = await monitor.policy.apply(routed)
    assert.deepStrictEqual([version, (await monitor.policy.get()).hash], [1, hash])
    await enroll(monitor, "a")
    await send(monitor, "a", critical("disk"))
    await until(() => sent.length > 0)
    assert.deepStrictEqual(sent, ["pager firing opened disk"])
    const mixed = "receivers: { quiet: { kind: debug } }\nroutes: [ { to: [quiet, chat] } ]\n"
    await monitor.policy.apply(mixed)
    assert.deepStrictEqual(
      (await monitor.policy.get()).receivers.map(({ name }) => name),
      ["chat", "pager", "quiet"],
    )
    assert.deepStrictEqual(await problemsOf(monitor.setPolicy({})), [
      "conflict",
      ["the policy is stored: change it with policy.apply or PUT /ops/v1/policy"],
    ])
    const [code, [problem]] = await problemsOf(monitor.policy.apply("routes: [ { to: [sms] } ]\n"))
    assert.strictEqual(code, "validation")
    assert.include(problem, "routes[0].to[0] names no receiver; the receivers are chat, pager")
    const named = "receivers: { pager: { kind: debug } }\n"
    assert.include(
      (await problemsOf(monitor.policy.apply(named)))[1][0],
      "is the name of a notifier of a module",
    )
  })

  it("has the secrets of its receivers in a folder, or encrypted", async () => {
    const options = { storage: memory(), policy: "stored", log: false } as const
    const chat = "receivers: { chat: { kind: messenger, url_file: chat-url } }\n"
    await using without = await createMonitor(options)
    assert.include((await problemsOf(without.policy.apply(chat)))[1][0], "chat")
    const secretsDir = mkdtempSync(join(tmpdir(), "tocsin-secrets-"))
    writeFileSync(join(secretsDir, "chat-url"), "https://chat.example/hook")
    await using monitor = await createMonitor({
      ...options,
      storage: memory(),
      secretsDir,
      secretsKey: "0123456789abcdef".repeat(4),
    })
    await monitor.policy.apply(chat)
    const { name } = await monitor.secrets.put("mail", { values: { url: "https://mail.example/x" } })
    assert.strictEqual(name, "mail")
    rmSync(secretsDir, { recursive: true })
  })

  it("alone has a folder and a key of secrets", async () => {
    const secretsKey = "short"
    const [code, problems] = await problemsOf(
      createMonitor({ storage: memory(), secretsKey, secretsDir: "/x" }),
    )
    assert.strictEqual(code, "options")
    assert.deepStrictEqual(problems, [
      "secretsKey must be 64 hex digits, or two such keys separated by a comma",
      'secretsDir counts only with policy: "stored"',
    ])
  })
})
