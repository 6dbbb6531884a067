import { assert, it } from "@effect/vitest"
import { OverrideId } from "@tocsin/contract/onCall/Rotas"
import * as Instant from "@tocsin/contract/formats/Instant"
import { Result } from "effect"
import { compilePolicy } from "../../../src/heart/policy/compilePolicy.ts"
import { nextOccurrences, occurrenceInForce } from "../../../src/heart/policy/occurrences.ts"
import { policyWarnings } from "../../../src/lists/policyWarnings.ts"
import { readPolicy } from "../../../src/lists/readPolicy.ts"
import { lostOverrides } from "../../../src/features/onCall/rotaWarnings.ts"

const now = Instant.fromMillis(Date.parse("2026-12-06T03:00:00Z"))

const warned = (policy: object) =>
  policyWarnings(Result.getOrThrow(readPolicy(policy, ["debug"])), now).map(
    ({ message, path }) => `${path.join(".")} ${message}`,
  )

const window = { name: "a", tz: "UTC", for: "1h", match: ["check_id = disk"] }

it("a policy warns of values in quotes, wherever it compares", () => {
  const match = ["check_id = disk", 'label:team = "db"']
  const found = warned({
    routes: [{ match }, { match: ["label:team glob 'd*'"] }, { match: ['label:team = d"b"'] }],
    windows: [{ ...window, cron: "0 2 * * *", match }],
    freshness: [{ match, every: "5m" }],
    runbooks: [{ match, url: "https://example.org" }],
    dependencies: [{ parent: match, child: match }],
  })
  assert.deepStrictEqual(
    found.map((text) => text.split(" ")[0]),
    [
      "routes.0.match.1",
      "routes.1.match.0",
      "dependencies.0.parent.1",
      "dependencies.0.child.1",
      "windows.0.match.1",
      "freshness.0.match.1",
      "runbooks.0.match.1",
    ],
  )
  assert.include(found[0], '(label:team = "db"); leave them out')
})

it("a policy warns of typographic quotes and backticks, too", () => {
  const values = ["“db”", "‘db’", "„db“", "”db”", "«db»", "‚db‘", "`db`", "db”", "d‘b’", "“"]
  const routes = values.map((value) => ({ match: [`label:team = ${value}`] }))
  assert.deepStrictEqual(
    warned({ routes }).map((text) => text.split(" ")[0]),
    [0, 1, 2, 3, 4, 5, 6].map((n) => `routes.${n}.match.0`),
  )
})

it("a policy warns of a parent and a child that name nothing", () => {
  const equal = ["agent_id"]
  const [empty, named, severe] = ["label:role = ", "check_id = db", "severity = critical"]
  const dependencies = [
    { parent: [empty], child: [named], equal },
    { parent: [severe, empty], child: [empty], equal },
    { parent: [named, empty], child: [severe], equal },
    { parent: [severe], child: ["label:role != "], equal },
  ]
  const found = warned({ dependencies })
  assert.deepStrictEqual(
    found.map((text) => text.split(" ")[0]),
    ["dependencies.0.parent", "dependencies.1.parent", "dependencies.1.child"],
  )
})

it("a policy warns of addresses that only some mail servers take", () => {
  const mail = { kind: "messenger", type: "email", url_file: "/run/mail", to: ["a@münchen.example"] }
  const receivers = {
    a: { ...mail, from: "ü@example.org" },
    b: {
      ...mail,
      from: '"Über" <ü@example.org>',
      to: ["a@example.org", "jörg@example.org"],
      cc: ["文@example.org"],
    },
    c: { ...mail, from: "Über <a@münchen.example>" },
    d: { ...mail, from: '"ü@home" <a@example.org>' },
  }
  assert.deepStrictEqual(
    warned({ receivers }).map((text) => text.split(" ")[0]),
    ["receivers.a.from", "receivers.b.from", "receivers.b.to.1", "receivers.b.cc.0"],
  )
})

it("a policy warns of schedules that other crons read otherwise, and of zones without summer, wherever they are", () => {
  const found = warned({
    receivers: { a: { kind: "debug", quiet: { hours: "22:00-07:00", tz: "EST", below: "critical" } } },
    windows: [{ ...window, cron: "0 2 */2 * *", tz: "MST" }],
  })
  assert.deepStrictEqual(
    found.map((text) => text.split(" ").slice(0, 4).join(" ")),
    ["receivers.a.quiet.tz knows no summer", "windows.0.cron has a step", "windows.0.tz knows no summer"],
  )
})

it("a policy warns of a cron with a day and a weekday, which fires on either", () => {
  const windows = ["0 2 13 * fri", "0 2 */2 * fri", "0 2 13 * *", "0 2 * * fri", "0 2 1-7 * 1"]
  const found = warned({
    windows: windows.map((cron, n) => ({ ...window, name: `w${n}`, cron })),
    freshness: [{ match: ["check_id = a"], cron: "0 3 1,15 * mon", tz: "UTC", severity: "critical" }],
  })
  assert.deepStrictEqual(
    found.map((text) => text.split(" ")[0]),
    ["windows.0.cron", "windows.1.cron", "windows.4.cron", "freshness.0.cron"],
  )
  assert.include(found[0], "names a day of the month and a weekday")
})

it("a policy warns of a rule with times and without a severity, whose late checks are unknown", () => {
  const times = { match: ["check_id = a"], cron: "0 3 * * *", tz: "UTC" }
  const every = { match: ["check_id = b"], every: "5m" }
  const found = warned({ freshness: [times, { ...times, severity: "unknown" }, every] })
  assert.deepStrictEqual(
    found.map((text) => text.split(" ")[0]),
    ["freshness.0"],
  )
})

const receivers = { ann: { kind: "debug" }, bob: { kind: "debug" }, chat: { kind: "debug" } }
const primary = { order: ["ann", "bob"], every: "7d", from: "2026-12-07T09:00" }

it("a policy warns of a rota that nothing follows, and of receivers that only a rota names", () => {
  const places = (routes: ReadonlyArray<object>) =>
    warned({ receivers, rotas: { primary }, routes }).map((text) => text.split(" ")[0])
  const critical = { match: ["severity = critical"] }
  const later = [{ to: ["primary"] }, { after: "15m", to: ["chat"] }]
  assert.deepStrictEqual(places([]), ["rotas.primary"])
  assert.deepStrictEqual(places([{ to: ["primary"] }]), ["routes.0.to"])
  assert.deepStrictEqual(places([{ steps: [{ to: ["primary"] }] }]), ["routes.0.steps.0.to"])
  assert.deepStrictEqual(places([{ steps: later }]), [])
  assert.deepStrictEqual(places([{ ...critical, steps: later }]), ["rotas.primary"])
  assert.deepStrictEqual(places([{ steps: later }, critical]), ["rotas.primary"])
  assert.deepStrictEqual(
    places([
      { ...critical, steps: later },
      { ...critical, to: ["ann", "bob"] },
    ]),
    [],
  )
  assert.include(warned({ receivers, rotas: { primary } })[0], "no route names (ann, bob)")
})

it("overrides are lost where the policy lacks their rota or one of their receivers", () => {
  const policy = compilePolicy(Result.getOrThrow(readPolicy({ receivers, rotas: { primary } }, [])), [])
  const at = Instant.fromMillis(1_796_634_000_000)
  const override = (rota: string, ...names: ReadonlyArray<string>) => ({
    id: OverrideId.make("01a1f84d-4efb-7559-999e-636ca4ce6bd6"),
    rota,
    receivers: names,
    starts_at: at,
    ends_at: at,
    note: undefined,
    created_by: "eva",
    created_at: at,
  })
  const found = lostOverrides(policy, [
    override("primary", "ann"),
    override("primary", "ann", "eve", "tom"),
    override("former", "ann"),
  ])
  assert.deepStrictEqual(
    found.map(({ message, path }) => `${path.join(".")} ${/lacks [^:]*/.exec(message)?.[0]}`),
    ["rotas.primary lacks eve, tom", "rotas.former lacks former"],
  )
})

it("a policy warns of calls that are easily missed, or that ring for everything", () => {
  const call = {
    kind: "messenger",
    type: "call",
    account: "AC1",
    token_env: "T",
    from: "+4930123456",
    to: "+4915112345678",
  }
  const calls = (policy: object) => warned(policy).filter((text) => / rings /.test(text))
  const phones = { phone: call, chat: { kind: "messenger", url_env: "U" } }
  assert.deepStrictEqual(
    calls({ receivers: phones }).map((text) => text.split(" ").slice(0, 3).join(" ")),
    ["receivers.phone rings for"],
  )
  const turns = { every: "7d", from: "2026-12-07T09:00" }
  const rotas = {
    primary: { ...turns, order: ["chat"], hours: [{ hours: "08:00-18:00" }], otherwise: "nights" },
    nights: { ...turns, order: [["chat", "phone"]] },
    chats: { ...turns, order: ["chat"] },
  }
  const routes = [
    { to: ["chat"] },
    { to: ["phone"], remind: "1h" },
    { to: ["phone"] },
    { steps: [{ to: ["phone"] }, { after: "15m", to: ["chat"] }] },
    { steps: [{ to: ["chat"] }, { after: "15m", to: ["primary"] }] },
    { to: ["chats"] },
    {},
  ]
  assert.deepStrictEqual(
    calls({ receivers: phones, rotas, routes }).map((text) => text.split(" ").slice(0, 4).join(" ")),
    ["routes.2 ends at a", "routes.4 ends at a", "routes.6 ends at a"],
  )
  assert.deepStrictEqual(calls({ receivers: phones, rotas }), [])
})

it("a policy warns of a later step that reaches only receivers of the step before", () => {
  const rota = { order: ["debug"], every: "7d", from: "2026-12-07T09:00" }
  const day = { ...rota, hours: [{ hours: "08:00-18:00" }], otherwise: "chat" }
  const rotas = { night: rota, both: { ...rota, order: ["debug", "chat"] }, day }
  const steps = (...to: ReadonlyArray<ReadonlyArray<string>>) => ({
    steps: to.map((names, n) => ({ to: names, ...(n > 0 && { after: `${n * 15}m` }) })),
  })
  const routes = [
    steps(["debug"], ["debug"]),
    steps(["debug"], ["night"], ["debug"]),
    steps(["debug"], ["debug", "chat"], ["chat"]),
    steps(["night"], ["debug"]),
    steps(["both"], ["debug"]),
    steps(["day"], ["debug"]),
  ]
  const receivers = { debug: { kind: "debug" }, chat: { kind: "messenger", url_file: "/run/chat" } }
  assert.deepStrictEqual(
    policyWarnings(Result.getOrThrow(readPolicy({ receivers, rotas, routes }, [])), now)
      .filter(({ message }) => message.startsWith("reaches only"))
      .map(({ path }) => path.join(".")),
    ["routes.0.steps.1", "routes.1.steps.1", "routes.1.steps.2", "routes.2.steps.2", "routes.3.steps.1"],
  )
})

it("a policy warns of windows that came once, and are over", () => {
  const once = (at: string) => ({ ...window, name: `w${at.slice(14)}${at.slice(11, 13)}`, at })
  assert.deepStrictEqual(
    warned({
      tz: "Europe/Berlin",
      windows: [
        once("2026-12-06T02:00"),
        { ...once("2026-12-06T03:00"), tz: "Europe/Berlin" },
        once("2026-12-06T02:01"),
      ],
    }),
    [
      "windows.0.at is over, and holds nothing any more: remove the window, or give it another time",
      "windows.1.at is over, and holds nothing any more: remove the window, or give it another time",
    ],
  )
})

it("a window has cron, or a time that comes once", () => {
  const problems = (time: object) =>
    Result.match(readPolicy({ windows: [{ ...window, ...time }] }, ["debug"]), {
      onSuccess: () => [],
      onFailure: (found) => found.map(({ message, path }) => `${path.join(".")} ${message}`),
    })
  assert.deepStrictEqual(problems({ at: "2026-12-06T02:00" }), [])
  assert.deepStrictEqual(problems({}), [
    "windows.0.cron is missing: give it, or at for a window that comes once",
  ])
  assert.deepStrictEqual(problems({ at: "2026-12-06T02:00", cron: "0 2 * * *" }), [
    "windows.0.at stands beside cron: give one of them",
  ])
  for (const at of ["2026-02-30T02:00", "2026-12-06", "2026-12-06T02:00Z", "2026-12-06T25:00"])
    assert.deepStrictEqual(problems({ at }), [
      "windows.0.at must be a time of a clock, such as 2026-12-06T02:00",
    ])
})

it("a window that comes once begins by the clock of its zone, and never again", () => {
  const at = (text: string) => Instant.parse(text) ?? assert.fail(text)
  const policy = Result.getOrThrow(
    readPolicy({ windows: [{ ...window, tz: "Europe/Berlin", at: "2026-12-06T02:00" }] }, ["debug"]),
  )
  const [one] = compilePolicy(policy, ["debug"]).windows
  if (one === undefined) return assert.fail("no window")
  const starts = (moment: string) =>
    nextOccurrences(one, at(moment), 3).map(({ starts_at }) => Instant.format(starts_at))
  assert.deepStrictEqual(starts("2026-12-01T00:00:00Z"), ["2026-12-06T01:00:00.000Z"])
  assert.isUndefined(occurrenceInForce(one, at("2026-12-06T00:59:59Z")))
  assert.isDefined(occurrenceInForce(one, at("2026-12-06T01:00:00Z")))
  assert.deepStrictEqual(starts("2026-12-06T01:59:59Z"), ["2026-12-06T01:00:00.000Z"])
  assert.isUndefined(occurrenceInForce(one, at("2026-12-06T02:00:00Z")))
  assert.deepStrictEqual(starts("2026-12-06T02:00:00Z"), [])
})

it("a policy warns of a voice of another language than its words", () => {
  const call = {
    kind: "messenger",
    type: "call",
    account: "AC0",
    token_env: "T",
    from: "+4930123456",
    to: "+4915112345678",
  }
  const voices = (lang: object, receiver: object) =>
    warned({ ...lang, receivers: { phone: { ...call, ...receiver } } }).filter((text) => / voice /.test(text))
  const [found = ""] = voices({}, { language: "fr-FR", lang: "de" })
  assert.match(found, /^receivers\.phone\.language is a voice of another language .* lang: de/)
  assert.lengthOf(voices({ lang: "de" }, { language: "pl-PL" }), 1)
  assert.deepStrictEqual(voices({ lang: "de" }, { language: "de-AT" }), [])
  assert.deepStrictEqual(voices({ lang: "de" }, {}), [])
  assert.deepStrictEqual(voices({ lang: "de" }, { lang: "en", language: "en-GB" }), [])
})

it("a policy warns of a watch whose certificate never warns", () => {
  const url = "https://example.org"
  const watches = [
    { name: "web", http: { url, days: { warning: 3, critical: 7 } } },
    { name: "mail", tls: { host: "mail.example.org", days: { warning: 14, critical: 7 } } },
  ]
  assert.deepStrictEqual(warned({ watches }), [
    "watches.0.http.days.warning must not be less than critical, or the warning never comes",
  ])
})
