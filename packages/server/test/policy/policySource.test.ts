import { assert, describe, it } from "@effect/vitest"
import * as RandomIds from "@tocsin/adapter-crypto/RandomIds"
import { policySource } from "@tocsin/server/policy/policySource"
import { Effect } from "effect"
import { readSettings } from "../../src/settings/checkedSettings.ts"
import type { Settings } from "../../src/settings/Settings.ts"

const sourceWith = (environment: Readonly<Record<string, string>>) =>
  // All settings of this environment are valid.
  policySource(readSettings(environment).values as Settings).pipe(Effect.provide(RandomIds.layer))

/** The problems of a new policy with such a receiver. */
const problemsOf = Effect.fnUntraced(function* (
  environment: Readonly<Record<string, string>>,
  receiver: string,
) {
  return yield* problemsIn(`receivers: { a: ${receiver} }`, environment)
})

/** The problems of a new policy. */
const problemsIn = Effect.fnUntraced(function* (
  text: string,
  environment: Readonly<Record<string, string>> = WITH_FOLDER,
) {
  const source = yield* sourceWith(environment)
  if (source.source === "given") return [source.advice]
  const read = yield* Effect.result(source.read(text, []))
  return read._tag === "Success" ? [] : read.failure.map(({ message, path }) => `${path} ${message}`)
})

const WITH_FOLDER = { SERVICE_SECRETS_DIR: "/secrets" }
const OUTSIDE = "must be the name of a file in SERVICE_SECRETS_DIR, without a folder"

/** A receiver of each kind and type, whose secrets are in these places. */
const receiversAt = (place: string): ReadonlyArray<readonly [string, ReadonlyArray<string>]> => [
  [`{ kind: webhook, url_file: '${place}', secret_file: '${place}' }`, ["url_file", "secret_file"]],
  [`{ kind: messenger, telegram_token_file: '${place}', telegram_chat: '1' }`, ["telegram_token_file"]],
  [
    `{ kind: messenger, type: pushover, token_file: '${place}', user_file: '${place}' }`,
    ["token_file", "user_file"],
  ],
  [`{ kind: alert_router, type: pagerduty, routing_key_file: '${place}' }`, ["routing_key_file"]],
  [`{ kind: alert_router, type: opsgenie, key_file: '${place}' }`, ["key_file"]],
]

/** The rules that a stored policy breaks while it stays in force, and how many watches are left of it. */
const followed = Effect.fnUntraced(function* (text: string) {
  const source = yield* sourceWith(WITH_FOLDER)
  if (source.source === "given") return yield* Effect.die(source.advice)
  const { document, outdated } = yield* source.follow(text)
  return { outdated: outdated.map(({ line, path }) => `${line} ${path}`), document }
})

const isFollowed = (text: string) => Effect.isSuccess(followed(text))

const NIGHTLY = `name: nightly, cron: "0 2 * * *", for: 1h`
const ZONE = "Europe/Berlin"
const windowOf = (match: string, tz = ZONE) => `windows: [{ ${NIGHTLY}, tz: ${tz}, match: ["${match}"] }]`
const quietOf = (tz: string) =>
  `receivers: { a: { kind: messenger, url_file: chat, quiet: { hours: "22:00-07:00", tz: ${tz}, below: critical } } }`

const BOTH = "routes: [{ to: [debug], steps: [{ to: [debug] }] }]"

describe("a stored policy of an earlier version", () => {
  it.effect("is followed as it is where it breaks a rule that decisions do without", () =>
    Effect.gen(function* () {
      const cases: ReadonlyArray<readonly [text: string, path: string]> = [
        [windowOf("label:node = "), "windows[0].match"],
        [windowOf("agent_id glob *"), "windows[0].match"],
        [windowOf("severity = critical"), "windows[0].match"],
        [windowOf("agent_id = a", "BST"), "windows[0].tz"],
        [windowOf("agent_id = a", "pst"), "windows[0].tz"],
        [quietOf("IST"), "receivers.a.quiet.tz"],
        [`freshness: [{ cron: "0 2 * * *", tz: BST, match: ["agent_id = a"] }]`, "freshness[0].tz"],
        [`freshness: [{ every: 5m, match: ["label:node = "] }]`, "freshness[0].match"],
        [`dependencies: [{ parent: ["label:site = "], child: [] }]`, "dependencies[0].parent"],
      ]
      for (const [text, path] of cases) {
        const { document, outdated } = yield* followed(text)
        assert.deepStrictEqual(outdated, [`1 ${path}`], text)
        assert.strictEqual(Object.values(document).length, 1)
        assert.isTrue(
          (yield* problemsIn(text)).every((problem) => problem.startsWith(path)),
          text,
        )
      }
      assert.deepStrictEqual((yield* followed("routes: []")).outdated, [])
    }),
  )

  it.effect("is followed without the watches that this version refuses", () =>
    Effect.gen(function* () {
      const text = `watches:
  - { name: odd, dns: { name: "dns://x" } }
  - { name: shop, dns: { name: shop.example } }
  - { name: shop, tcp: { host: shop.example, port: 443 } }
`
      const { document, outdated } = yield* followed(text)
      assert.deepStrictEqual(
        document.watches?.map((watch) => [watch.name, watch.dns !== undefined]),
        [["shop", true]],
      )
      assert.deepStrictEqual(outdated, ["2 watches[0].dns.name", "4 watches[2].name"])
    }),
  )

  it.effect("is followed where it names receivers that this server lacks", () =>
    Effect.gen(function* () {
      const rotas = `rotas: { ops: { order: [lamp], every: 7d, from: "2026-01-05T09:00" } }`
      const { document, outdated } = yield* followed(`${rotas}\nroutes: [{ to: [nobody, ops] }]`)
      assert.deepStrictEqual([document.routes?.[0]?.to, outdated], [["nobody", "ops"], []])
      const beside = yield* followed(`${windowOf("label:node = ")}\nroutes: [{ to: [nobody] }]`)
      assert.strictEqual(beside.outdated.length, 1)
    }),
  )

  it.effect("is not followed where a later version may have meant more, or a secret is elsewhere", () =>
    Effect.gen(function* () {
      for (const text of [
        "routes: [{ soon: 1m }]",
        "watches: [{ name: a, soon: 1m, tcp: { host: a, port: 1 } }]",
        'watches: [{ name: a, soon: 1m, dns: { name: "dns://x" } }]',
        `watches: [{ name: Not a name, tcp: { host: a, port: 1 } }]\n${BOTH}`,
        `watches: [{ name: [], tcp: { host: a, port: 1 } }]\n${BOTH}`,
        windowOf("agent_id = a", "Mars/Olympus"),
        windowOf("agent_id ~~ a"),
        `${windowOf("label:node = ")}\n${BOTH}`,
        quietOf("BST").replace("chat", "/etc/passwd"),
      ])
        assert.isFalse(yield* isFollowed(text), text)
      assert.isTrue(yield* isFollowed(quietOf("BST")))
    }),
  )
})

describe("the source of the policy", () => {
  it.effect("names no file outside of the folder, by any key of any type", () =>
    Effect.gen(function* () {
      const places = ["/etc/passwd", "../a", "..", ".", "sub/a", String.raw`sub\a`]
      for (const place of places)
        for (const [receiver, keys] of receiversAt(place))
          assert.deepStrictEqual(
            yield* problemsOf(WITH_FOLDER, receiver),
            keys.map((key) => `receivers.a.${key} ${OUTSIDE}`),
          )
      for (const [receiver] of receiversAt("a-secret"))
        assert.deepStrictEqual(yield* problemsOf(WITH_FOLDER, receiver), [])
    }),
  )

  it.effect("reports forbidden places with all other problems, by line", () =>
    Effect.gen(function* () {
      const receivers =
        "{ kind: debug }, b: { kind: messenger, url_env: PATH }, c: { kind: debug, colour: red }"
      assert.deepStrictEqual(yield* problemsOf(WITH_FOLDER, `${receivers} }\nroutes: [{ to: [d] }]\nx: {`), [
        "receivers.c.colour is not a known field",
        "receivers.b.url_env must begin with TOCSIN_SECRET_ in a stored policy",
        "routes[0].to[0] names no receiver; the receivers are a, b, c",
        "x is not a known field",
      ])
    }),
  )

  it.effect("names variables of one prefix only", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* problemsOf(WITH_FOLDER, "{ kind: messenger, url_env: PATH }"), [
        "receivers.a.url_env must begin with TOCSIN_SECRET_ in a stored policy",
      ])
      assert.deepStrictEqual(yield* problemsOf({}, "{ kind: messenger, url_env: TOCSIN_SECRET_A }"), [])
    }),
  )

  it.effect("names no file while there is no folder", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* problemsOf({}, "{ kind: messenger, url_file: chat }"), [
        "receivers.a.url_file needs SERVICE_SECRETS_DIR, which is not set; name a variable, or set it",
      ])
    }),
  )

  it.effect("is the file where that is set", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* problemsOf({ SERVICE_POLICY_FILE: "policy.yaml" }, "{ kind: debug }"), [
        "SERVICE_POLICY_FILE is set, so that file decides on the policy: change it and send SIGHUP, or unset it",
      ])
    }),
  )
})
