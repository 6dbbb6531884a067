import { assert, describe, it } from "@effect/vitest"
import { compileMatchers, parseMatcher } from "@tocsin/contract/labels/Matcher"
import { propertyRuns } from "@tocsin/testing/propertyRuns"
import { Result } from "effect"
import * as fc from "fast-check"
import { parse } from "yaml"
import { readPolicyText } from "@tocsin/adapter-http/policy/readPolicyText"
import { importAlertmanager } from "../../../src/policy/import/importPolicy.ts"

interface Node {
  readonly receiver?: string
  readonly matchers?: ReadonlyArray<string>
  readonly match?: Readonly<Record<string, number | string>>
  readonly match_re?: Readonly<Record<string, string>>
  readonly continue?: boolean
  readonly active_time_intervals?: ReadonlyArray<string>
  readonly mute_time_intervals?: ReadonlyArray<string>
  readonly routes?: ReadonlyArray<Node>
}

type Labels = Readonly<Record<string, string>>

interface Written {
  readonly routes: ReadonlyArray<{
    readonly match?: ReadonlyArray<string>
    readonly to: ReadonlyArray<string>
  }>
  readonly windows?: ReadonlyArray<Readonly<Record<string, unknown>>>
  readonly dependencies?: ReadonlyArray<object>
  readonly receivers: Readonly<Record<string, Readonly<Record<string, unknown>>>>
}

interface Config {
  readonly route: Node
  readonly [part: string]: unknown
}

const namesIn = ({ receiver: name, routes = [] }: Node): ReadonlyArray<string> => [
  ...(name === undefined ? [] : [name]),
  ...routes.flatMap(namesIn),
]

/** A configuration without receivers has those that its routes name. */
const imported = (config: Config) => {
  const receivers = Array.from(new Set(namesIn(config.route)), (name) => ({ name }))
  return Result.getOrThrow(importAlertmanager(JSON.stringify({ receivers, ...config })))
}

const policyOf = (config: Config): Written => parse(imported(config).policy) as Written

const matches = (match: ReadonlyArray<string>, labels: Labels): boolean =>
  compileMatchers(match.map((text) => Result.getOrThrow(parseMatcher(text))))({ labels })

/** The receivers of a policy's routes for an alert. */
const receiversOf = ({ routes }: Written, labels: Labels): ReadonlyArray<string> => {
  const names = routes.filter(({ match = [] }) => matches(match, labels))
  return Array.from(new Set(names.flatMap(({ to }) => to))).toSorted()
}

const holds = (matcher: string, labels: Labels): boolean => {
  const [, label = "", op = "", value = ""] = /^(\w+)(=~|!~|!=|=)"(.*)"$/.exec(matcher) ?? []
  const given = labels[label] ?? ""
  const isEqual = op.includes("~") ? new RegExp(`^(?:${value})$`).test(given) : given === value
  return op.startsWith("!") ? !isEqual : isEqual
}

/** A receiver that an alert reaches, and whether it is not sent there at night. */
interface Reached {
  readonly name: string
  readonly isMuted: boolean
}

/** Routing as the documentation of Alertmanager describes it: the deepest nodes that match, first siblings first. */
const expected = (node: Node, labels: Labels, above: string): ReadonlyArray<Reached> | undefined => {
  const own = [
    ...(node.matchers ?? []),
    ...Object.entries(node.match ?? {}).map(([label, value]) => `${label}="${value}"`),
    ...Object.entries(node.match_re ?? {}).map(([label, value]) => `${label}=~"${value}"`),
  ]
  if (!own.every((matcher) => holds(matcher, labels))) return undefined
  const name = node.receiver ?? above
  const found: Array<Reached> = []
  let isMatched = false
  for (const child of node.routes ?? []) {
    const below = expected(child, labels, name)
    if (below === undefined) continue
    isMatched = true
    found.push(...below)
    if (child.continue !== true) break
  }
  return isMatched ? found : [{ name, isMuted: node.mute_time_intervals !== undefined }]
}

const value = fc.constantFrom("x", "y", "")
const label = fc.constantFrom("a", "b", "c")
const matcher = fc.oneof(
  fc.tuple(label, fc.constantFrom("=", "!="), value).map(([name, op, text]) => `${name}${op}"${text}"`),
  fc
    .tuple(label, fc.constantFrom("=~", "!~"), fc.subarray(["x", "y", "z"], { minLength: 1 }))
    .map(([name, op, texts]) => `${name}${op}"${texts.join("|")}"`),
)
const receiver = fc.constantFrom("one", "two", "three", "four")
const { node } = fc.letrec<{ node: Node }>((tie) => ({
  node: fc.record(
    {
      receiver,
      matchers: fc.array(matcher, { maxLength: 2 }),
      match: fc.dictionary(label, value, { maxKeys: 1 }),
      match_re: fc.dictionary(label, fc.constantFrom("x|y", "z"), { maxKeys: 1 }),
      continue: fc.boolean(),
      mute_time_intervals: fc.constant(["night"]),
      routes: fc.array(tie("node"), { maxLength: 3, depthIdentifier: "tree" }),
    },
    { requiredKeys: [] },
  ),
}))

const labelSet = fc.dictionary(label, fc.constantFrom("x", "y", "z"))
const tree = fc.record({ receiver, routes: fc.array(node, { maxLength: 3 }) })

const NIGHT = {
  name: "night",
  time_intervals: [{ times: [{ start_time: "00:00", end_time: "07:00" }] }],
}

describe("a configuration of Alertmanager", () => {
  it("gives the same receivers as its tree of routes", () => {
    fc.assert(
      fc.property(tree, fc.array(labelSet, { minLength: 1, maxLength: 8 }), (route, all) => {
        const { not_taken_over } = imported({ route })
        const isWhole = not_taken_over.every((note) => !/also gets|matchers/.test(note))
        const policy = policyOf({ route })
        for (const each of all) {
          const wanted = Array.from(new Set(expected(route, each, "")?.map(({ name }) => name))).toSorted()
          const given = receiversOf(policy, each)
          if (isWhole) assert.deepStrictEqual(given, wanted)
        }
      }),
      { numRuns: propertyRuns(300) },
    )
  })

  it("holds no alert at a time at which Alertmanager sends it", () => {
    fc.assert(
      fc.property(tree, fc.array(labelSet, { minLength: 1, maxLength: 8 }), (route, all) => {
        const { receivers, windows = [] } = policyOf({ route, time_intervals: [NIGHT] })
        for (const each of all) {
          const reached = expected(route, each, "") ?? []
          const isHeld = windows.some(({ match }) => matches(match as ReadonlyArray<string>, each))
          if (isHeld) assert.isTrue(reached.every(({ isMuted }) => isMuted))
          for (const { isMuted, name } of reached)
            if (receivers[name]?.["quiet"] !== undefined) assert.isTrue(isMuted)
        }
      }),
      { numRuns: propertyRuns(300) },
    )
  })

  it("of a usual form becomes receivers, routes and windows", () => {
    const config = {
      route: {
        receiver: "Ops Chat",
        group_by: ["alertname"],
        repeat_interval: "1d12h",
        routes: [
          { receiver: "pager", matchers: ['severity=~"critical|page"'], mute_time_intervals: ["night"] },
          { receiver: "db", match_re: { service: "mysql.*" }, continue: true },
          { receiver: "pager", match_re: { service: "[a-z]+" } },
        ],
      },
      receivers: [
        { name: "Ops Chat", slack_configs: [{}] },
        { name: "pager", pagerduty_configs: [{}], email_configs: [{}] },
        { name: "db", sns_configs: [{}] },
      ],
      inhibit_rules: [{ equal: ["instance"] }],
      time_intervals: [
        {
          name: "night",
          time_intervals: [
            {
              times: [{ start_time: "22:00", end_time: "06:30" }],
              weekdays: ["monday:friday"],
              location: "Europe/Berlin",
            },
            { years: ["2026"] },
          ],
        },
      ],
    }
    const { not_taken_over } = imported(config)
    const policy = policyOf(config)
    assert.deepStrictEqual(policy.receivers, {
      ops_chat: { kind: "messenger", url_env: "TOCSIN_SECRET_OPS_CHAT_URL" },
      pager: { kind: "alert_router", type: "pagerduty", routing_key_env: "TOCSIN_SECRET_PAGER_KEY" },
      db: { kind: "debug" },
    })
    assert.deepStrictEqual(receiversOf(policy, { severity: "page" }), ["pager"])
    assert.deepStrictEqual(receiversOf(policy, { service: "mysql-1" }), ["db", "ops_chat"])
    assert.deepStrictEqual(receiversOf(policy, {}), ["ops_chat"])
    assert.strictEqual((policy.routes[0] as { readonly remind?: string } | undefined)?.remind, "36h")
    assert.deepStrictEqual(policy.windows?.[0], {
      name: "night-1",
      cron: "0 22 * * mon-fri",
      tz: "Europe/Berlin",
      for: "510m",
      match: ["label:severity = critical"],
    })
    for (const part of [
      "group_by",
      "email_configs",
      "sns_configs",
      "inhibit_rules[0]",
      "night",
      "routes[2]",
      "also gets",
    ])
      assert.isTrue(
        not_taken_over.some((note) => note.includes(part)),
        part,
      )
  })

  // The trees and alerts of prometheus/alertmanager: cli/testdata, dispatch/route_test.go and config/testdata.
  const one = { match_re: { test: "^[12]$" }, receiver: "test1", continue: true }
  const two = { match: { test: "2" }, receiver: "test2" }
  const owners = {
    receiver: "notify-def",
    routes: [
      {
        match: { owner: "team-A" },
        receiver: "notify-A",
        routes: [
          { match: { env: "testing" }, receiver: "notify-testing", group_by: ["..."] },
          { match: { env: "production" }, receiver: "notify-productionA", continue: true },
          { match_re: { env: "produ.*", job: ".*" }, receiver: "notify-productionB", group_by: ["job"] },
        ],
      },
      { match_re: { owner: "team-(B|C)" }, receiver: "notify-BC" },
      {
        match: { group_by: "role" },
        routes: [
          { match: { env: "testing" }, receiver: "notify-testing", routes: [{ match: { wait: "long" } }] },
        ],
      },
    ],
  }
  const services = {
    receiver: "x-mails",
    routes: [
      {
        matchers: ['service=~"foo1|foo2|baz"'],
        receiver: "x-mails",
        routes: [{ matchers: ['severity="critical"'], receiver: "x-pager" }],
      },
      {
        matchers: ['{service="database", severity!~"info|none"}'],
        receiver: "db-pager",
        routes: [
          { matchers: ['owner="team-X"'], receiver: "x-pager", continue: true },
          { matchers: ['owner="team-Y"'], receiver: "y-pager" },
        ],
      },
      { matchers: ['link_a=~".+"', 'link_z=~"sw-[a-c]\\.(east|west)"'], receiver: "network" },
    ],
  }
  it.each<readonly [object, Labels, ReadonlyArray<string>]>([
    [{ receiver: "default", routes: [one, two] }, { test: "1" }, ["test1"]],
    [{ receiver: "default", routes: [one, two] }, { test: "2" }, ["test1", "test2"]],
    [{ receiver: "default", routes: [one, two] }, { test: "volovina" }, ["default"]],
    [{ receiver: "default", routes: [{ ...two, continue: true }, one] }, { test: "2" }, ["test1", "test2"]],
    [owners, { owner: "team-A" }, ["notify_a"]],
    [owners, { owner: "team-A", env: "unset" }, ["notify_a"]],
    [owners, { owner: "team-C" }, ["notify_bc"]],
    [owners, { owner: "team-A", env: "testing" }, ["notify_testing"]],
    [owners, { owner: "team-A", env: "production" }, ["notify_productiona", "notify_productionb"]],
    [owners, { group_by: "role" }, ["notify_def"]],
    [owners, { group_by: "role", env: "testing" }, ["notify_testing"]],
    [owners, { group_by: "role", env: "testing", wait: "long" }, ["notify_testing"]],
    [services, { service: "baz", severity: "critical" }, ["x_pager"]],
    [services, { service: "baz", severity: "warning" }, ["x_mails"]],
    [services, { service: "database", severity: "info" }, ["x_mails"]],
    [services, { service: "database", owner: "team-X" }, ["x_pager"]],
    [services, { service: "database", owner: "team-Z" }, ["db_pager"]],
    [services, { link_a: "x", link_z: "sw-b.west" }, ["network"]],
    [services, { link_a: "x", link_z: "sw-d.west" }, ["x_mails"]],
    [services, { link_z: "sw-b.west" }, ["x_mails"]],
  ])("routes %j as its own tests expect: %j", (route, labels, wanted) => {
    assert.deepStrictEqual(receiversOf(policyOf({ route }), labels), wanted)
  })

  /** The policy is one that a server takes. */
  const valid = (policy: string) => {
    const read = readPolicyText(policy, { notifiers: [], keepsNotifiers: false })
    if (Result.isFailure(read)) assert.fail(JSON.stringify(read.failure))
    return parse(policy) as Written
  }

  const odd = fc.constantFrom(
    "",
    " ",
    " x",
    "x ",
    "a\nb",
    "*",
    "?",
    "=x",
    "~x",
    "x\\",
    '"q"',
    "é",
    "x".repeat(257),
    "\u0000",
    "a=b",
    "label:a",
    "# c",
  )
  const oddText = fc.oneof(odd, fc.string({ maxLength: 8 }), fc.constantFrom("a", "b", "team", "severity"))
  const oddMatcher = fc
    .tuple(oddText, fc.constantFrom("=", "!=", "=~", "!~"), oddText)
    .map(([name, op, text]) => `${name}${op}${JSON.stringify(text)}`)
  const oddLocation = fc.constantFrom(
    "Local",
    "",
    "UTC",
    "EST",
    "Europe/Berlin",
    "America/Sao_Paulo",
    "Mars/Base",
    "+02:00",
  )
  const time = fc
    .tuple(fc.integer({ min: 0, max: 24 }), fc.constantFrom("00", "30", "59"))
    .map(([hour, minute]) => `${String(hour).padStart(2, "0")}:${hour === 24 ? "00" : minute}`)
  const oddInterval = fc.record(
    {
      times: fc.array(fc.record({ start_time: time, end_time: time }), { maxLength: 3 }),
      weekdays: fc.array(fc.constantFrom("monday", "monday:friday", "saturday:sunday", "sunday:tuesday"), {
        maxLength: 2,
      }),
      days_of_month: fc.array(fc.constantFrom("1", "1:5", "-1", "28:31", "-3:-1", "31"), { maxLength: 2 }),
      months: fc.array(fc.constantFrom("january", "1:3", "may:august", "february", "12"), { maxLength: 2 }),
      years: fc.constant(["2026"]),
      location: oddLocation,
    },
    { requiredKeys: [] },
  )
  const oddNames = fc.uniqueArray(fc.oneof(oddText, fc.constantFrom("_n", "Überwachung", "a".repeat(80))), {
    minLength: 1,
    maxLength: 3,
  })
  const oddReceiver = fc.record(
    {
      slack_configs: fc.constant([{ channel: "x" }]),
      email_configs: fc
        .record({ from: oddText, to: fc.oneof(oddText, fc.constant("A <a@b.example>, c@d.example")) })
        .map((one) => [one]),
      webhook_configs: fc.constant([{}]),
      sns_configs: fc.constant([{}]),
    },
    { requiredKeys: [] },
  )
  const oddRoute = (names: ReadonlyArray<string>, intervals: ReadonlyArray<string>) =>
    fc.record(
      {
        receiver: fc.constantFrom(...names),
        matchers: fc.array(oddMatcher, { maxLength: 3 }),
        match: fc.dictionary(oddText, oddText, { maxKeys: 2 }),
        mute_time_intervals: fc.subarray([...intervals]),
        active_time_intervals: fc.subarray([...intervals]),
        repeat_interval: fc.constantFrom("1s", "4h", "90d", "1d12h", ""),
        continue: fc.boolean(),
      },
      { requiredKeys: [] },
    )
  const oddConfig = fc.tuple(oddNames, oddNames).chain(([names, intervals]) =>
    fc.record({
      receivers: fc.tuple(...names.map((name) => oddReceiver.map((one) => ({ ...one, name })))),
      time_intervals: fc.tuple(
        ...intervals.map((name) =>
          fc.record({ name: fc.constant(name), time_intervals: fc.array(oddInterval, { maxLength: 3 }) }),
        ),
      ),
      route: fc.record({
        receiver: fc.constantFrom(...names),
        routes: fc.array(oddRoute(names, intervals), { maxLength: 4 }),
      }),
      inhibit_rules: fc.array(
        fc.record({
          source_matchers: fc.array(oddMatcher, { maxLength: 2 }),
          target_matchers: fc.array(oddMatcher, { maxLength: 2 }),
          equal: fc.array(oddText, { maxLength: 2 }),
        }),
        { maxLength: 3 },
      ),
    }),
  )

  it("becomes a policy that a server takes, however odd it is", () => {
    fc.assert(
      fc.property(oddConfig, (config) => void valid(imported(config).policy)),
      { numRuns: propertyRuns(500) },
    )
  })

  it.each(["Local", "IST", "Mars/Base"])("has no times of the location %s, and says so", (location) => {
    const routes = [
      { receiver: "chat", matchers: ["team=web"], mute_time_intervals: ["night"] },
      { receiver: "chat", matchers: ["team=db"], active_time_intervals: ["night"] },
    ]
    const given = { name: "night", time_intervals: [{ ...NIGHT.time_intervals[0], location }] }
    const { not_taken_over, policy } = imported({
      route: { receiver: "chat", routes },
      time_intervals: [given],
    })
    assert.isUndefined(valid(policy).windows)
    assert.strictEqual(not_taken_over.filter((note) => /night.*an IANA time zone/.test(note)).length, 2)
  })

  it.each([
    ["00:00", "08:00", "Europe/Berlin", true],
    ["22:00", "02:30", "Europe/Berlin", true],
    ["22:00", "02:00", "Europe/Berlin", false],
    ["03:00", "08:00", "Europe/Berlin", false],
    ["02:30", "03:00", "Europe/Berlin", true],
    ["02:59", "06:00", "Europe/Berlin", true],
    ["01:00", "02:00", "Europe/Berlin", false],
    ["01:30", "03:00", "America/New_York", true],
    ["01:15", "01:45", "America/New_York", true],
    ["02:15", "02:45", "Australia/Lord_Howe", true],
    ["02:30", "02:45", "Australia/Lord_Howe", false],
    ["20:00", "23:30", "America/Santiago", true],
    ["00:00", "08:00", "Asia/Tokyo", false],
    ["00:00", "08:00", undefined, false],
  ])(
    "says where a window of %s to %s in %s ends otherwise as the clocks change: %s",
    (from, to, location, isSaid) => {
      const times = [{ start_time: from, end_time: to }]
      const { not_taken_over, policy } = imported({
        route: {
          receiver: "chat",
          routes: [{ receiver: "chat", matchers: ["team=web"], mute_time_intervals: ["t"] }],
        },
        time_intervals: [{ name: "t", time_intervals: [{ times, ...(location && { location }) }] }],
      })
      assert.strictEqual(valid(policy).windows?.length, 1)
      assert.strictEqual(
        not_taken_over.some((note) => /window t-1: its end/.test(note)),
        isSaid,
      )
    },
  )

  const withRules = (...inhibit_rules: ReadonlyArray<object>) =>
    imported({
      route: { receiver: "chat" },
      receivers: [{ name: "chat", slack_configs: [{}] }],
      inhibit_rules,
    })

  it("has inhibitions that become dependencies, each before those whose sources it holds", () => {
    // The rules of kube-prometheus, in another order.
    const { not_taken_over, policy } = withRules(
      {
        source_matchers: ["severity = warning"],
        target_matchers: ["severity = info"],
        equal: ["namespace", "alertname"],
      },
      {
        source_matchers: ["severity = critical"],
        target_matchers: ["severity =~ warning|info"],
        equal: ["namespace", "alertname"],
      },
      {
        source_matchers: ["alertname = InfoInhibitor"],
        target_matchers: ["severity = info"],
        equal: ["namespace"],
      },
    )
    assert.deepStrictEqual(valid(policy).dependencies, [
      {
        parent: ["label:severity = critical"],
        child: ["label:severity = warning"],
        equal: ["label:namespace", "label:alertname"],
      },
      {
        parent: ["label:severity = critical"],
        child: ["label:severity = info"],
        equal: ["label:namespace", "label:alertname"],
      },
      {
        parent: ["label:severity = warning"],
        child: ["label:severity = info"],
        equal: ["label:namespace", "label:alertname"],
      },
      {
        parent: ["label:alertname = InfoInhibitor"],
        child: ["label:severity = info"],
        equal: ["label:namespace"],
      },
    ])
    assert.isTrue(not_taken_over.some((note) => /inhibit_rules\[0\]: alerts without namespace;/.test(note)))
  })

  it.each([
    [{ source_match: { a: "1" }, target_match_re: { b: "(?i)x" } }, /its matchers/],
    [{ source_match: { a: "1" }, target_matchers: ['b!="1"'] }, /names both sides/],
    [{ source_match_re: { a: "node.*" }, target_match: { b: "1" } }, /names both sides/],
    [
      { source_match: { a: "" }, source_match_re: { b: "x.*" }, target_match: { b: "1" } },
      /names both sides/,
    ],
    [{ source_match: { a: "" }, target_match: { b: "1" }, equal: ["c"] }, /names both sides/],
  ])("says which inhibition it cannot state: %j", (rule, why) => {
    const { not_taken_over, policy } = withRules(rule)
    assert.isTrue(not_taken_over.some((note) => why.test(note)))
    assert.isUndefined(valid(policy).dependencies)
  })

  const business = {
    name: "business",
    time_intervals: [
      {
        times: [{ start_time: "09:00", end_time: "17:00" }],
        weekdays: ["monday:friday"],
        location: "Europe/Berlin",
      },
    ],
  }
  const night = {
    name: "night",
    time_intervals: [
      {
        times: [
          { start_time: "22:00", end_time: "24:00" },
          { start_time: "00:00", end_time: "07:00" },
        ],
      },
    ],
  }
  const receivers = [
    { name: "chat", slack_configs: [{}] },
    { name: "pager", pagerduty_configs: [{}] },
  ]

  it("has active times that become windows at all others", () => {
    const { policy } = imported({
      route: {
        receiver: "pager",
        routes: [{ receiver: "chat", matchers: ["team=web"], active_time_intervals: ["business"] }],
      },
      receivers,
      time_intervals: [business],
    })
    const match = ["label:team = web"]
    const tz = "Europe/Berlin"
    assert.deepStrictEqual(valid(policy).windows, [
      { name: "business-1", cron: "0 0 * * sun,sat", tz, for: "1d", match },
      { name: "business-2", cron: "0 0 * * mon,tue,wed,thu,fri", tz, for: "9h", match },
      { name: "business-3", cron: "0 17 * * mon,tue,wed,thu,fri", tz, for: "7h", match },
    ])
  })

  it("has mute times that become quiet hours where no condition names the alerts", () => {
    const routes = [
      { receiver: "pager", matchers: ["severity=critical"] },
      { receiver: "chat", mute_time_intervals: ["night"] },
    ]
    const given = { route: { receiver: "pager", routes }, receivers, time_intervals: [night] }
    const { not_taken_over, policy } = imported(given)
    const { receivers: written, windows } = valid(policy)
    assert.deepStrictEqual(written["chat"], {
      kind: "messenger",
      url_env: "TOCSIN_SECRET_CHAT_URL",
      quiet: { hours: "22:00-07:00", tz: "Etc/UTC", below: "critical" },
    })
    assert.isUndefined(windows)
    assert.isTrue(not_taken_over.some((note) => note.includes("for critical alerts")))
    const others = imported({
      ...given,
      time_intervals: [{ ...night, time_intervals: [{ years: ["2026"] }] }],
    })
    assert.isUndefined(valid(others.policy).receivers["chat"]?.["quiet"])
  })

  it("is read as Alertmanager reads YAML: any text as a label's value, empty parts, merged ones", () => {
    // cli/testdata/conf.routing.yml of prometheus/alertmanager has such a number.
    const text = `
defaults: &defaults {receiver: b, group_by: [a]}
route:
  receiver: a
  routes:
    - {match: {test: 2, on: true}, receiver: b}
    - {match: {version: 1.10}, receiver: b, routes: }
    - {<<: *defaults, matchers: [x=y]}
receivers: [{name: a, slack_configs: }, {name: b}]
inhibit_rules:
time_intervals: [{name: t, time_intervals: [{days_of_month: [1, -1]}]}]
`
    const policy = valid(Result.getOrThrow(importAlertmanager(text)).policy)
    assert.deepStrictEqual(receiversOf(policy, { test: "2", on: "true" }), ["b"])
    assert.deepStrictEqual(receiversOf(policy, { version: "1.10" }), ["b"])
    assert.deepStrictEqual(receiversOf(policy, { version: "1.1" }), ["a"])
    assert.deepStrictEqual(receiversOf(policy, { x: "y" }), ["b"])
  })

  it("with more routes than a policy can exclude leaves no alert without a receiver", () => {
    const teams = Array.from({ length: 30 }, (_, n) => `team-${n}`)
    const routes = teams.map((team) => ({ receiver: "team", match: { team } }))
    const { not_taken_over, policy } = imported({
      route: {
        receiver: "rest",
        routes: [
          { receiver: "site", match: { site: "x" }, mute_time_intervals: ["night"], routes },
          ...routes,
        ],
      },
      receivers: ["rest", "site", "team"].map((name) => ({ name, slack_configs: [{}] })),
      time_intervals: [night],
    })
    const written = valid(policy)
    assert.deepStrictEqual(receiversOf(written, { team: "other" }), ["rest"])
    assert.deepStrictEqual(receiversOf(written, { team: "team-7" }), ["team"])
    assert.deepStrictEqual(receiversOf(written, { site: "x", team: "other" }), ["site"])
    assert.isUndefined(written.windows)
    for (const part of ["route also gets", "routes[0] also gets", "routes[0]: mute_time_intervals"])
      assert.isTrue(
        not_taken_over.some((note) => note.includes(part)),
        part,
      )
  })

  it("keeps its receivers apart, whatever their names", () => {
    const names = ["Ops Chat", "ops-chat", "ops_chat_2", "webhook", "1st"]
    const routes = names.map((receiver, n) => ({ receiver, match: { n } }))
    const policy = imported({
      route: { receiver: "webhook", routes },
      receivers: names.map((name) => ({ name, slack_configs: [{}] })),
    })
    const written = valid(policy.policy)
    const taken = names.map((_, n) => receiversOf(written, { n: String(n) }))
    assert.deepStrictEqual(taken, [["ops_chat"], ["ops_chat_2"], ["ops_chat_2_2"], ["r_webhook"], ["r_1st"]])
    assert.strictEqual(new Set(Object.values(written.receivers).map((each) => JSON.stringify(each))).size, 5)
  })

  it("says what its receivers and its settings have beside an address", () => {
    const { not_taken_over } = imported({
      global: { resolve_timeout: "5m" },
      templates: ["*.tmpl"],
      route: { receiver: "chat" },
      receivers: [
        {
          name: "chat",
          slack_configs: [{ api_url: "x", channel: "#a", send_resolved: true }, { send_resolved: false }],
        },
      ],
    })
    assert.deepStrictEqual(not_taken_over, [
      "global: resolve_timeout",
      "templates: *.tmpl; messages of a policy have none",
      "receiver chat: all slack_configs but one; a receiver of a policy has one address",
      "receiver chat: slack_configs: channel, send_resolved",
    ])
  })

  it("is refused where a policy has no room for it", () => {
    const routes = Array.from({ length: 201 }, (_, n) => ({ receiver: "a", match_re: { host: `h${n}.*x` } }))
    const result = importAlertmanager(
      JSON.stringify({ route: { receiver: "a", routes }, receivers: [{ name: "a" }] }),
    )
    assert.include(
      Result.isFailure(result) ? result.failure : "",
      "no policy can state all of it: routes must have at most",
    )
  })

  it.each([
    ["- a", "the file must be"],
    ["route: [", "the file must be YAML; see line 1"],
    ["route:\n  receiver: a\n   continue: true", "the file must be YAML; see line 2"],
    ["{}", "route is missing"],
    ["route: {receiver: a, routes: [{receiver: b}]}\nreceivers: [{name: a}]", "receivers must have b"],
  ])("is refused: %j", (text, message) => {
    const result = importAlertmanager(text)
    assert.include(Result.isFailure(result) ? result.failure : "", message)
  })
})
