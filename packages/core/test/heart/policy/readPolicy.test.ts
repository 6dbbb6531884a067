import { describe, expect, it } from "@effect/vitest"
import { Result, Schema } from "effect"
import { PolicyDocument } from "@tocsin/contract/policy/PolicyDocument"
import { NO_MAIL_SERVER } from "../../../src/heart/policy/receiverProblems.ts"
import { readPolicy } from "../../../src/lists/readPolicy.ts"

const kinds = ["webhook", "messenger", "alert_router", "debug"]

const problemsOf = (policy: unknown): ReadonlyArray<string> =>
  Result.match(readPolicy(policy, kinds), {
    onSuccess: () => [],
    onFailure: (problems) => problems.map(({ message, path }) => `${path.join(".")} ${message}`),
  })

const CALL = {
  kind: "messenger",
  type: "call",
  account: "AC1",
  token_env: "T",
  from: "+4930123456",
  to: "+4915112345678",
}

const MAIL = { kind: "messenger", type: "email", to: ["ops@example.org"] }
const SERVER = { url_env: "U", from: "Tocsin <tocsin@example.org>" }

const full = {
  receivers: {
    webhook: { kind: "webhook", url_file: "/run/secrets/pager", secret_env: "PAGER_SECRET" },
    chat: { kind: "messenger", url_file: "/run/secrets/chat", digest: { over: 5 }, concurrency: 8 },
    ops_bot: { kind: "messenger", telegram_token_env: "BOT", telegram_chat: "-100" },
    am: { kind: "alert_router", url_env: "AM_URL" },
  },
  routes: [
    {
      match: ["label:team = db", "severity = critical"],
      after: "1m",
      flapping: { openings: 4, within: "1h", after: "10m" },
      remind: "4h",
      steps: [{ to: ["chat"] }, { after: "15m", to: ["webhook"] }, { after: "1h", to: ["am", "ops_bot"] }],
    },
    { match: ["severity = critical"], to: ["webhook"], after: "0s" },
    {},
  ],
  windows: [
    {
      name: "backup",
      cron: "0 2 * * 0",
      tz: "Europe/Berlin",
      for: "4h",
      match: ["check_id glob disk*"],
      comment: "weekly",
    },
  ],
  freshness: [
    {
      match: ["check_id glob backup*"],
      cron: "0 3 * * *",
      tz: "Europe/Berlin",
      grace: "1h",
      severity: "critical",
    },
    { match: ["label:env = prod"], every: "5m", after: "20m" },
  ],
}

describe("a policy", () => {
  it("with every part is accepted, and written back as it was read", () => {
    const policy = Result.getOrThrow(readPolicy(full, kinds))
    expect(Schema.encodeSync(PolicyDocument)(policy)).toEqual(full)
  })

  it("needs no mail server at a receiver where another place states one", () => {
    const receivers = { a: MAIL, b: { ...MAIL, tls: "off" }, c: { ...MAIL, url_env: "V" } }
    const own = { d: { ...MAIL, url_env: "V", from: "a@example.org" } }
    expect(problemsOf({ mail: SERVER, receivers: { ...receivers, ...own } })).toEqual([])
    expect(Result.isSuccess(readPolicy({ receivers }, kinds, { hasMailServer: true }))).toBe(true)
    expect(problemsOf({ receivers: own })).toEqual([])
  })

  it("may be empty", () => {
    expect(problemsOf({})).toEqual([])
  })

  it.each([
    ["not an object", [], ["must be an object"]],
    [
      "unknown keys at every level",
      { route: [], routes: [{ too: [] }], receivers: { chat: { kind: "debug", url: "x" } } },
      [
        "route is not a known field",
        "receivers.chat.url is not a known field",
        "routes.0.too is not a known field",
      ],
    ],
    [
      "an unknown kind",
      { receivers: { a: { kind: "fax" } } },
      ["receivers.a must be a receiver whose kind is webhook, messenger, alert_router or debug"],
    ],
    [
      "names that are no receiver's",
      { receivers: { "on-call": { kind: "debug" }, Chat: { kind: "debug" } } },
      ["on-call", "Chat"].map(
        (name) =>
          `receivers.${name} must have a name of 1 to 64 lower-case letters, digits or _, beginning with a letter`,
      ),
    ],
    [
      "a receiver named like another kind",
      { receivers: { webhook: { kind: "debug" } } },
      ["receivers.webhook.kind must be webhook"],
    ],
    [
      "a secret in place of a variable's name",
      { receivers: { a: { kind: "webhook", url_env: "A=B", secret_env: "S" } } },
      [
        "receivers.a.url_env must be the name of an environment variable: letters, digits and _, not first a digit",
      ],
    ],
    [
      "secrets twice or never",
      { receivers: { a: { kind: "webhook", url_file: "f", url_env: "E" } } },
      [
        "receivers.a must have url_file or url_env, not both",
        "receivers.a must have secret_file or secret_env",
      ],
    ],
    [
      "half a Telegram chat",
      { receivers: { a: { kind: "messenger", telegram_token_env: "T" } } },
      ["receivers.a.telegram_chat is missing"],
    ],
    [
      "a type without its keys, and with keys of another",
      { receivers: { a: { kind: "messenger", type: "email", to: ["ops@example.org"], telegram_chat: "1" } } },
      [`receivers.a ${NO_MAIL_SERVER}`, "receivers.a.telegram_chat is not a key of email"],
    ],
    [
      "a mail with its own server and no sender",
      { receivers: { a: { ...MAIL, url_env: "U" } } },
      ["receivers.a.from is missing"],
    ],
    [
      "a mail without a server",
      { receivers: { a: { ...MAIL, from: "a@example.org", tls: "off" } } },
      [`receivers.a ${NO_MAIL_SERVER}`],
    ],
    [
      "a mail server twice",
      { mail: { ...SERVER, url_file: "f" }, receivers: { a: MAIL } },
      ["mail must have url_file or url_env, not both"],
    ],
    [
      "a mail server without an address",
      { mail: { from: "a@example.org" }, receivers: { a: MAIL } },
      ["mail must have url_file or url_env"],
    ],
    [
      "a mail server without a sender",
      { mail: { url_env: "U" }, receivers: { a: MAIL } },
      ["mail.from is missing"],
    ],
    [
      "a mail server whose secrets a receiver names",
      { mail: { from: "a@example.org", secrets: "m" }, receivers: { a: { ...MAIL, secrets: "m" } } },
      ["receivers.a.secrets names the secrets of mail: store others"],
    ],
    [
      "keys of a type without it",
      { receivers: { a: { kind: "messenger", url_env: "U", from: "a@example.org" } } },
      ["receivers.a.from is not a key of a receiver without type"],
    ],
    [
      "reports at another type than email, and other ones",
      {
        receivers: {
          a: { kind: "messenger", type: "ntfy", url_env: "U", reports: "monthly" },
          b: { kind: "webhook", url_env: "U", secret_env: "S", reports: "monthly" },
          c: { kind: "messenger", type: "email", url_env: "U", from: "a@b", to: ["a@b"], reports: "daily" },
        },
      },
      [
        "receivers.a.reports is not a key of ntfy",
        "receivers.b.reports is not a known field",
        "receivers.c.reports must be monthly",
      ],
    ],
    [
      "addresses that are none",
      {
        receivers: {
          a: { kind: "messenger", type: "email", url_env: "U", from: "a\r\nBcc: b@example.org", to: ["b"] },
        },
      },
      [
        "receivers.a.from must be an address such as Tocsin <tocsin@example.org>",
        "receivers.a.to.0 must be 1 to 100 addresses such as ops@example.org",
      ],
    ],
    [
      "numbers of phones that are none",
      {
        receivers: {
          a: {
            kind: "messenger",
            type: "sms",
            account: "A/C",
            token_env: "T",
            from: "+49",
            to: 4915112345678,
          },
          c: { kind: "messenger", type: "ntfy", url_env: "U", call: "no", resolved: "no" },
          e: { kind: "alert_router", url_env: "U", resolved: false },
        },
      },
      [
        "receivers.a.account must be letters, digits and -",
        "receivers.a.to must be 1 to 100 addresses such as ops@example.org, or a number in quotes",
        "receivers.c.call must be yes, or a number in quotes",
        "receivers.c.resolved must be true or false",
        "receivers.e.resolved is not a known field",
        "receivers.a.from must be an address such as Tocsin <tocsin@example.org>, or a number in quotes",
      ],
    ],
    [
      "keys of phones with the form of another type",
      {
        receivers: {
          a: {
            kind: "messenger",
            type: "sms",
            account: "AC1",
            token_env: "T",
            from: "a@example.org",
            to: "group.a=",
          },
          b: { kind: "messenger", type: "signal", url_env: "U", from: "Tocsin", to: ["b@example.org"] },
          d: { kind: "messenger", type: "email", url_env: "U", from: "Tocsin", to: "b@example.org" },
        },
      },
      [
        "receivers.a.from must be a number in quotes, a name",
        "receivers.a.to must be a number in quotes",
        "receivers.b.from must be a number in quotes",
        "receivers.b.to must be a number in quotes, such as",
        "receivers.d.to must be a list of 1 to 100 addresses",
        "receivers.d.from must be an address such as Tocsin",
      ],
    ],
    [
      "too many addresses together",
      {
        receivers: {
          a: {
            kind: "messenger",
            type: "email",
            url_env: "U",
            from: "a@example.org",
            to: Array.from({ length: 60 }, (_, n) => `a${n}@example.org`),
            cc: Array.from({ length: 60 }, (_, n) => `b${n}@example.org`),
          },
        },
      },
      ["receivers.a.to must have at most 100 addresses, those in cc included"],
    ],
    [
      "a digest for a webhook",
      { receivers: { a: { kind: "webhook", url_env: "U", secret_env: "S", digest: { over: 5 } } } },
      ["receivers.a.digest is not a known field"],
    ],
    [
      "quiet hours of no time, of no zone and on no day",
      {
        receivers: {
          a: {
            kind: "debug",
            quiet: { hours: "22:00-22:00", tz: "UTC", below: "critical", days: "weekend" },
          },
          b: { kind: "debug", quiet: { hours: "22:00-07:00", tz: "Nowhere", below: "critical" } },
        },
      },
      [
        "receivers.a.quiet.hours must not end when they begin",
        "receivers.a.quiet.days must be weekdays as in cron, such as mon-fri",
        "receivers.b.quiet.tz must be an IANA time zone, such as Europe/Berlin, and no abbreviation such as BST",
      ],
    ],
    [
      "quiet hours without their zone and severity",
      { receivers: { a: { kind: "debug", quiet: { hours: "10pm-7am" } } } },
      [
        "receivers.a.quiet.hours must be two times of day, such as 22:00-07:00; 24:00 may end them",
        "receivers.a.quiet.below is missing",
      ],
    ],
    [
      "quiet hours, windows and crons without a zone, and without one of the policy",
      {
        receivers: { a: { kind: "debug", quiet: { hours: "22:00-24:00", below: "critical" } } },
        windows: [{ name: "w", cron: "0 3 * * *", for: "1h", match: ["check_id = a"] }],
        freshness: [{ match: ["check_id = a"], cron: "0 3 * * *" }],
      },
      [
        "receivers.a.quiet.tz is missing",
        "windows.0.tz is missing",
        "freshness.0.tz must be given with cron",
      ],
    ],
    [
      "zones of a policy and a reader that are none",
      { tz: "BST", receivers: { a: { kind: "debug", tz: "Nowhere/Land" } } },
      [
        "tz must be an IANA time zone, such as Europe/Berlin, and no abbreviation such as BST",
        "receivers.a.tz must be an IANA time zone, such as Europe/Berlin, and no abbreviation such as BST",
      ],
    ],
    [
      "concurrency out of range",
      { receivers: { a: { kind: "debug", concurrency: 65 } } },
      ["receivers.a.concurrency must be an integer from 1 to 64"],
    ],
    [
      "a matcher outside a list, and texts that are none",
      { windows: [{ name: "w", cron: "", tz: 5, for: "1h", match: "check_id = disk" }] },
      [
        "windows.0.cron must be a text of 1 to 1,024 characters",
        "windows.0.tz must be a text of 1 to 1,024 characters",
        "windows.0.match must be a list of at most 20 matchers",
      ],
    ],
    [
      "a missing receiver",
      { routes: [{ to: ["pager"] }, { steps: [{ to: ["debug"] }, { after: "5m", to: ["pager"] }] }] },
      [
        "routes.0.to.0 names no receiver; the receivers are alert_router, debug, messenger, webhook",
        "routes.1.steps.1.to.0 names no receiver",
      ],
    ],
    [
      "to and steps",
      { routes: [{ to: ["debug"], steps: [{ to: ["debug"] }] }] },
      ["routes.0 must have to or steps, not both"],
    ],
    [
      "steps out of order",
      {
        routes: [
          {
            steps: [
              { after: "1m", to: ["debug"] },
              { to: ["debug"] },
              { after: "5m", to: ["debug"] },
              { after: "5m", to: ["debug"] },
            ],
          },
        ],
      },
      [
        "routes.0.steps.0.after must be absent",
        "routes.0.steps.1.after is missing",
        "routes.0.steps.3.after must be longer",
      ],
    ],
    [
      "durations out of range or malformed",
      {
        routes: [{ remind: "4m", after: "1 m" }],
        windows: [{ name: "w", cron: "0 2 * * *", tz: "UTC", for: "8d", match: ["agent_id = a"] }],
      },
      [
        "routes.0.after must be a duration",
        "routes.0.remind must be a duration such as 90s, 8h or 7d, from 5m to 31d",
        "windows.0.for must be a duration such as 90s, 8h or 7d, from 1m to 7d",
      ],
    ],
    [
      "a reminder that is as frequent as only calls may be",
      {
        receivers: { phone: CALL, chat: { kind: "debug" } },
        rotas: { primary: { order: ["phone", "chat"], every: "1d", from: "2026-01-01T00:00" } },
        routes: [
          { remind: "14m" },
          { remind: "5m", to: ["chat"] },
          { remind: "5m", steps: [{ to: ["phone"] }, { after: "5m", to: ["primary"] }] },
          { remind: "5m", to: ["phone"] },
        ],
      },
      ["routes.0.remind must be at least 15m", "routes.1.remind must be at least", "routes.2.remind must be"],
    ],
    [
      "matchers that match everything",
      {
        windows: [{ name: "w", cron: "0 2 * * *", tz: "UTC", for: "1h", match: ["severity = warning"] }],
        freshness: [{ match: [], every: "5m" }],
      },
      ["windows.0.match must hold", "freshness.0.match must hold"],
    ],
    ["malformed matchers", { routes: [{ match: ["team = db"] }] }, ["routes.0.match.0 must be"]],
    [
      "a cron that never fires, a zone that does not exist",
      {
        windows: [
          { name: "a", cron: "0 0 31 2 *", tz: "UTC", for: "1h", match: ["agent_id = a"] },
          { name: "a", cron: "0 2 * * *", tz: "Mars/Base", for: "1h", match: ["agent_id = a"] },
        ],
      },
      [
        "windows.0.cron never fires",
        "windows.1.name is the name of another window too",
        "windows.1.tz must be an IANA time zone",
      ],
    ],
    [
      "freshness with both or neither of every and cron",
      {
        freshness: [{ match: ["agent_id = a"] }, { match: ["agent_id = a"], every: "5m", cron: "0 3 * * *" }],
      },
      [
        "freshness.0 must have every or cron, one of them",
        "freshness.1 must have every or cron, one of them",
        "freshness.1.tz must be given with cron",
      ],
    ],
    [
      "freshness whose fields do not fit together",
      {
        freshness: [
          { match: ["agent_id = a"], every: "5m", grace: "1h", tz: "UTC" },
          { match: ["agent_id = a"], cron: "0 3 * * *", tz: "UTC", after: "1h" },
        ],
      },
      [
        "freshness.0.tz must be absent without cron",
        "freshness.0.grace must be absent",
        "freshness.1.after must be absent",
      ],
    ],
  ] as const)("is refused for %s, with every problem", (_, policy, expected) => {
    const problems = problemsOf(policy)
    for (const message of expected) {
      expect(problems).toContainEqual(expect.stringContaining(message))
    }
    expect(problems).toHaveLength(expected.length)
  })

  it("with malformed fields is refused for the problems of its other parts too, at their places", () => {
    const policy = {
      receivers: { chat: { kind: "mail" }, pager: { kind: "webhook", url_env: "URL" } },
      routes: [
        "all",
        { after: "soon", to: ["chat", "nobody"] },
        { to: "chat", steps: [{ to: ["chat"] }, { to: ["nobody"] }] },
      ],
      windows: [
        { name: "backup", cron: "0 25 * * *", tz: "UTC", for: "1h", match: ["agent_id = a"] },
        { name: "restore", cron: "0 2 * * *", tz: "UTC", for: "long", match: ["severity = critical"] },
      ],
      freshness: [
        { match: ["check_id glob *"], every: "often", after: "1m" },
        { match: ["check_id = a"], after: "1m" },
      ],
    }
    const nameless =
      "must hold at least one matcher that names something: = with a value, or a glob with a literal character, on a field other than severity"
    const unknown =
      "names no receiver; the receivers are alert_router, chat, debug, messenger, pager, webhook"
    expect(problemsOf(policy).toSorted()).toEqual([
      "freshness.0.every must be a duration such as 90s, 8h or 7d, from 10s to 31d",
      `freshness.0.match ${nameless}`,
      "freshness.1 must have every or cron, one of them",
      "receivers.chat must be a receiver whose kind is webhook, messenger, alert_router or debug",
      "receivers.pager must have secret_file or secret_env",
      "routes.0 must be an object",
      "routes.1.after must be a duration such as 90s, 8h or 7d, from 0s to 7d",
      `routes.1.to.1 ${unknown}`,
      "routes.2.steps.1.after is missing",
      `routes.2.steps.1.to.0 ${unknown}`,
      "routes.2.to must be an array",
      'windows.0.cron is not a cron expression: "25" is not a value from 0 to 23',
      "windows.1.for must be a duration such as 90s, 8h or 7d, from 1m to 7d",
      `windows.1.match ${nameless}`,
    ])
  })

  it.each(["label:node =", "check_id =", "hostname glob *", "severity = critical", "label:node != "])(
    "is refused for windows, rules of freshness and parents that name nothing: %s",
    (text) => {
      const match = [text, "label:env = "]
      const policy = {
        windows: [{ name: "a", cron: "0 2 * * *", tz: "UTC", for: "1h", match }],
        freshness: [{ match, every: "5m" }],
        dependencies: [
          { parent: match, child: match },
          { parent: match, child: match, equal: ["severity"] },
        ],
      }
      expect(problemsOf(policy).map((problem) => problem.split(" ")[0])).toEqual([
        "windows.0.match",
        "dependencies.0.parent",
        "dependencies.1.parent",
        "freshness.0.match",
      ])
      const dependencies = [{ parent: match, child: match, equal: ["severity", "agent_id"] }]
      expect(
        problemsOf({ routes: [{ match }], runbooks: [{ match, url: "https://a.b" }], dependencies }),
      ).toEqual([])
    },
  )

  it("is refused for each wrong cron, time zone and weekday, whatever else is wrong beside them", () => {
    const bad = { cron: "0 25 * * *", tz: "Mars/Base" }
    const match = ["agent_id = a"]
    const quiet = { hours: "22:00-07:00", below: "critical", tz: "Mars/Base", days: "weekend" }
    const policy = {
      receivers: { a: { kind: "debug", quiet } },
      windows: [
        { name: "a", for: "1h", match, ...bad },
        { name: "b", for: "long", match, ...bad },
      ],
      freshness: [
        { match, ...bad },
        { match, cron: bad.cron },
        { match, every: "often", cron: bad.cron },
      ],
    }
    const found = problemsOf(policy).map((text) => text.split(" ")[0])
    for (const field of [
      "receivers.a.quiet.tz",
      "receivers.a.quiet.days",
      ...["windows.0", "windows.1", "freshness.0"].flatMap((part) => [`${part}.cron`, `${part}.tz`]),
      "freshness.1.cron",
      "freshness.1.tz",
      "freshness.2.cron",
    ])
      expect(found.filter((each) => each === field)).toEqual([field])
  })

  it.each(["routes", "windows", "freshness"])(
    "is refused for too many matchers of its %s together",
    (list) => {
      const rule = (match: ReadonlyArray<string>, n: number) => ({
        match,
        ...(list === "windows" && { name: `w${n}`, cron: "0 2 * * *", tz: "UTC", for: "1h" }),
        ...(list === "freshness" && { every: "5m" }),
      })
      const problemsWith = (equals: number, globs: number) => {
        const texts = [
          ...Array.from({ length: equals }, () => "agent_id = a"),
          ...Array.from({ length: globs }, () => "check_id glob disk*"),
        ]
        const count = Math.ceil(texts.length / 20)
        return problemsOf({
          [list]: Array.from({ length: count }, (_, n) => rule(texts.slice(n * 20, n * 20 + 20), n)),
        })
      }
      expect(problemsWith(4_800, 200)).toEqual([])
      const message = `${list} must have at most 5000 matchers together, 200 of them globs`
      expect(problemsWith(4_801, 200)).toEqual([message])
      expect(problemsWith(0, 201)).toEqual([message])
    },
  )

  it.each<[kind: string, options: object, problem: string]>([
    ["http", { headers: { "a b": "c" } }, "headers.a b must have a name of letters, digits and -"],
    ["websocket", { headers: { "a b": "c" } }, "headers.a b must have a name of letters, digits and -"],
    [
      "http",
      { headers: Object.fromEntries(Array.from({ length: 51 }, (_, n) => [`a${n}`, "b"])) },
      "headers must have at most 50 entries",
    ],
    ["http", { method: "POST", body: "ä".repeat(4_097) }, "body must have at most 8192 bytes"],
    ["http", { method: "POST", body: { a: "b".repeat(8_185) } }, "body must have at most 8192 bytes"],
    [
      "dns",
      { servers: ["192.0.2.1", "[2001:db8::1]:53", "dns.example"] },
      "servers.2 must be an address such as 192.0.2.1, 192.0.2.1:5353 or [2001:db8::1]:5353",
    ],
    [
      "dns",
      { servers: ["192.0.2.1:70000"] },
      "servers.0 must be an address such as 192.0.2.1, 192.0.2.1:5353 or [2001:db8::1]:5353",
    ],
  ])("has no %s watch with %j", (kind, options, problem) => {
    const needed = {
      http: { url: "http://a.example" },
      websocket: { url: "ws://a.example" },
      dns: { name: "a.example" },
    }
    const watch = { name: "shop", [kind]: { ...Object(needed)[kind], ...options } }
    expect(problemsOf({ watches: [watch] })).toEqual([`watches.0.${kind}.${problem}`])
  })

  it("has watches of addresses without a user", () => {
    const problemsAt = (url: string) => problemsOf({ watches: [{ name: "shop", http: { url } }] })
    for (const url of ["https://shop.example", "http://[::1]:8080/a@b?c=d@e", "HTTPS://shop.example?q"])
      expect(problemsAt(url)).toEqual([])
    for (const url of [
      "http://user:secret@shop.example/",
      "https://user@shop.example",
      "file:///etc/passwd",
      "https://",
    ])
      expect(problemsAt(url)).toEqual(["watches.0.http.url must be an http or https address without a user"])
    expect(problemsOf({ watches: [{ name: "shop", tls: { host: "a b" } }] })).toEqual([
      "watches.0.tls.host must be a host name or an address",
    ])
  })

  it("has a JSON Schema that closes every object", () => {
    const { schema } = Schema.toJsonSchemaDocument(PolicyDocument, { onExcessProperty: "error" })
    expect(JSON.stringify(schema)).not.toContain('"additionalProperties":true')
  })
})
