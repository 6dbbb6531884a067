import { assert, describe, it } from "@effect/vitest"
import { compileMatchers, parseMatcher } from "@tocsin/contract/Matcher"
import { propertyRuns } from "@tocsin/testing/propertyRuns"
import { Result } from "effect"
import * as fc from "fast-check"
import { parse } from "yaml"
import { importAlertmanager } from "../../../src/policy/import/importPolicy.ts"

interface Node {
  readonly receiver?: string
  readonly matchers?: ReadonlyArray<string>
  readonly match?: Readonly<Record<string, string>>
  readonly match_re?: Readonly<Record<string, string>>
  readonly continue?: boolean
  readonly routes?: ReadonlyArray<Node>
}

type Labels = Readonly<Record<string, string>>

interface Written {
  readonly routes: ReadonlyArray<{
    readonly match?: ReadonlyArray<string>
    readonly to: ReadonlyArray<string>
  }>
  readonly windows?: ReadonlyArray<Readonly<Record<string, unknown>>>
  readonly receivers: Readonly<Record<string, object>>
}

const imported = (config: object) => Result.getOrThrow(importAlertmanager(JSON.stringify(config)))

const policyOf = (config: object): Written => parse(imported(config).policy) as Written

/** The receivers of a policy's routes for an alert. */
const receiversOf = ({ routes }: Written, labels: Labels): ReadonlyArray<string> => {
  const names = routes.filter(({ match = [] }) =>
    compileMatchers(match.map((text) => Result.getOrThrow(parseMatcher(text))))({ labels }),
  )
  return Array.from(new Set(names.flatMap(({ to }) => to))).toSorted()
}

const holds = (matcher: string, labels: Labels): boolean => {
  const [, label = "", op = "", value = ""] = /^(\w+)(=~|!~|!=|=)"(.*)"$/.exec(matcher) ?? []
  const given = labels[label] ?? ""
  const isEqual = op.includes("~") ? new RegExp(`^(?:${value})$`).test(given) : given === value
  return op.startsWith("!") ? !isEqual : isEqual
}

/** Routing as the documentation of Alertmanager describes it: the deepest nodes that match, first siblings first. */
const expected = (node: Node, labels: Labels, above: string): ReadonlyArray<string> | undefined => {
  const own = [
    ...(node.matchers ?? []),
    ...Object.entries(node.match ?? {}).map(([label, value]) => `${label}="${value}"`),
    ...Object.entries(node.match_re ?? {}).map(([label, value]) => `${label}=~"${value}"`),
  ]
  if (!own.every((matcher) => holds(matcher, labels))) return undefined
  const receiver = node.receiver ?? above
  const found: Array<string> = []
  let isMatched = false
  for (const child of node.routes ?? []) {
    const below = expected(child, labels, receiver)
    if (below === undefined) continue
    isMatched = true
    found.push(...below)
    if (child.continue !== true) break
  }
  return isMatched ? found : [receiver]
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
      routes: fc.array(tie("node"), { maxLength: 3, depthIdentifier: "tree" }),
    },
    { requiredKeys: [] },
  ),
}))

describe("a configuration of Alertmanager", () => {
  it("gives the same receivers as its tree of routes", () => {
    const labels = fc.dictionary(label, fc.constantFrom("x", "y", "z"))
    const tree = fc.record({ receiver, routes: fc.array(node, { maxLength: 3 }) })
    fc.assert(
      fc.property(tree, fc.array(labels, { minLength: 1, maxLength: 8 }), (route, all) => {
        const { not_taken_over } = imported({ route })
        const isWhole = not_taken_over.every((note) => !/also gets|matchers/.test(note))
        const policy = policyOf({ route })
        for (const each of all) {
          const wanted = Array.from(new Set(expected(route, each, ""))).toSorted()
          const given = receiversOf(policy, each)
          if (isWhole) assert.deepStrictEqual(given, wanted)
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

  it.each([
    ["- a", "the file must be"],
    ["route: [", "the file must be YAML"],
    ["{}", "route is missing"],
  ])("is refused: %j", (text, message) => {
    const result = importAlertmanager(text)
    assert.include(Result.isFailure(result) ? result.failure : "", message)
  })
})
