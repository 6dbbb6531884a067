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
  const source = yield* sourceWith(environment)
  if (source.source === "given") return [source.advice]
  const read = yield* Effect.result(source.read(`receivers: { a: ${receiver} }`, true))
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
