import { assert } from "@effect/vitest"
import type { NotifierName } from "@tocsin/contract/formats/Status"
import type { PolicySource } from "@tocsin/core/heart/usecases/PolicySource"
import type { OpenedSecrets } from "@tocsin/core/heart/policy/namedSecrets"
import type { StorageUnderTest } from "@tocsin/testing/StorageUnderTest"
import { Effect, Result } from "effect"
import { call, operate } from "../client/call.ts"
import { expectError } from "../client/expectError.ts"
import { itemsOf } from "../client/itemsOf.ts"
import { onStorage } from "../onStorage.ts"
import { newToken } from "../service/Observatory.ts"
import { storedPolicySource } from "../service/storedPolicySource.ts"
import { Tocsin } from "../service/Tocsin.ts"

const secrets = "/ops/v1/secrets"
const put = (name: string, values: object, headers: Readonly<Record<string, string>> = {}) =>
  operate("PUT", `${secrets}/${name}`, { json: { values }, headers })
const listed = Effect.map(operate("GET", secrets), ({ body }) => (body as { items: unknown }).items)

const unreadIn = (opened: OpenedSecrets): ReadonlyMap<NotifierName, string> =>
  new Map(Array.from(opened).flatMap(([name, one]) => (Result.isFailure(one) ? [[name, one.failure]] : [])))

/** The receivers whose secrets are opened are available. */
const source: PolicySource = {
  ...storedPolicySource(new Map()),
  notifiers: (_, opened) => Effect.succeed({ made: new Map(), unavailable: unreadIn(opened) }),
  unavailable: (_, opened) => Effect.succeed(unreadIn(opened)),
}

const policyOf = (names: object) => JSON.stringify({ receivers: names, routes: [] })
const ntfy = (name: string) => ({ kind: "messenger", type: "ntfy", secrets: name })

/** Stored secrets of receivers over HTTP (docs/rules.md#stored-secrets). */
export const secretSuite = <Place>(subject: StorageUnderTest<Place>): void => {
  const { scenario } = onStorage(subject)
  const stored = (name: string, run: () => Effect.Effect<void, never, Tocsin>) =>
    scenario(name, run, { secretsKey: "5a".repeat(32), policySource: source })

  stored("secrets are stored as a whole, and never shown", () =>
    Effect.gen(function* () {
      const { observatory, readToken } = yield* Tocsin
      const [token, url] = [newToken(), `https://ntfy.example/${newToken()}`]
      const answer = yield* put("phone", { url, token }, { "idempotency-key": "once" })
      assert.strictEqual(answer.status, 200)
      const shown = { name: "phone", keys: ["token", "url"], receiver: null, unreadable: false }
      assert.deepInclude(answer.body, shown)
      const again = yield* put("phone", { url, token }, { "idempotency-key": "once" })
      assert.deepStrictEqual(again.body, answer.body)
      assert.deepStrictEqual(yield* listed, [answer.body])
      yield* put("phone", { url })
      yield* put("chat", { url })
      const rows = (yield* listed) as ReadonlyArray<{ readonly name: string; readonly keys: unknown }>
      assert.deepStrictEqual(
        rows.map(({ keys, name }) => [name, keys]),
        [
          ["chat", ["url"]],
          ["phone", ["url"]],
        ],
      )
      const audit = yield* itemsOf("/ops/v1/audit?action=secret.stored")
      assert.deepStrictEqual(audit.at(-1)?.["parameters"], { keys: "token, url" })
      expectError(yield* call("GET", secrets, { token: readToken }), 403, "forbidden")
      expectError(yield* put("phone", {}), 400, "validation")
      expectError(yield* put("Phone", { url }), 400, "validation")
      for (const values of [{ url: "" }, { password: token }, { url: `${token}${"é".repeat(4_096)}` }])
        expectError(yield* put("phone", values), 400, "validation")
      assert.strictEqual((yield* put("phone", { url: "é".repeat(4_096) })).status, 200)
      assert.deepStrictEqual(observatory.leaks, [])
    }),
  )

  stored("a policy names secrets of one receiver, which stay while it does", () =>
    Effect.gen(function* () {
      const apply = (names: object, query = "") =>
        operate("PUT", `/ops/v1/policy${query}`, { body: policyOf(names) })
      const refused = yield* apply({ phone: ntfy("phone") })
      expectError(refused, 409, "conflict")
      assert.include(refused.text, "which is not stored: use tocsin secrets put")
      yield* put("phone", { url: "https://ntfy.example/ops" })
      assert.deepInclude((yield* apply({ phone: ntfy("phone") })).body, { version: 1, unavailable: [] })
      const [row] = (yield* listed) as ReadonlyArray<object>
      assert.deepInclude(row, { receiver: "phone" })
      const kept = yield* operate("DELETE", `${secrets}/phone`)
      expectError(kept, 409, "conflict")
      assert.include(kept.text, "the receiver phone of the stored policy names these secrets")
      const beside = yield* apply({
        phone: { ...ntfy("phone"), token_env: "TOCSIN_SECRET_T" },
        other: ntfy("phone"),
      })
      expectError(beside, 400, "validation")
      assert.include(beside.text, "receivers.phone.token_env must be absent beside secrets")
      assert.include(beside.text, "receivers.phone.secrets names the secrets of other")
      yield* apply({ pager: { kind: "debug" } })
      assert.deepStrictEqual((yield* operate("DELETE", `${secrets}/phone`)).body, { count: 1 })
      assert.deepStrictEqual((yield* operate("DELETE", `${secrets}/phone`)).body, { count: 0 })
    }),
  )

  stored("a mail server counts as a receiver", () =>
    Effect.gen(function* () {
      const mails = { kind: "messenger", type: "email", to: ["ops@example.org"] }
      const apply = (mail: object, more: object = {}) =>
        operate("PUT", "/ops/v1/policy", {
          body: JSON.stringify({
            mail: { from: "t@example.org", ...mail },
            receivers: { a: mails, ...more },
          }),
        })
      expectError(yield* apply({ secrets: "smtp" }), 409, "conflict")
      yield* put("smtp", { url: "smtps://u:p@mail.example.org" })
      const beside = yield* apply({ secrets: "smtp" }, { b: { ...mails, secrets: "smtp" } })
      assert.include(expectError(beside, 400, "validation"), "receivers.b.secrets names the secrets of mail")
      const plain = yield* apply({ secrets: "smtp" }, { b: { ...mails, tls: "off" } })
      assert.include(expectError(plain, 400, "validation"), "receivers.b.tls would send stored secrets")
      assert.deepInclude((yield* apply({ secrets: "smtp" })).body, { version: 1, unavailable: [] })
      assert.deepInclude(((yield* listed) as ReadonlyArray<object>)[0], { name: "smtp", receiver: "mail" })
      expectError(yield* operate("DELETE", `${secrets}/smtp`), 409, "conflict")
    }),
  )

  scenario("secrets are refused without a key", () =>
    Effect.gen(function* () {
      const { text, ...answer } = yield* put("phone", { url: "https://ntfy.example/ops" })
      expectError({ text, ...answer }, 409, "conflict")
      assert.include(text, "set SERVICE_SECRETS_KEY to 64 hex digits")
    }),
  )
}
