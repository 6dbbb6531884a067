import { assert } from "@effect/vitest"
import type { StorageUnderTest } from "@tocsin/testing/StorageUnderTest"
import { Effect } from "effect"
import { type Call, call, operate } from "../client/call.ts"
import { expectError } from "../client/expectError.ts"
import { created } from "../client/senders.ts"
import { acceptedAgent, event, push } from "../client/TestAgent.ts"
import { onStorage } from "../onStorage.ts"
import { ICINGA_SENDERS, NRDP_SENDERS } from "./nagiosSenders.ts"
import { Tocsin } from "../service/Tocsin.ts"

const KIB = 1_024
const UNKNOWN = `in_${"u".repeat(43)}`

const xmlOf = (host: string, state: number, output = "") =>
  `<?xml version='1.0'?><checkresults><checkresult type='host' checktype='1'><hostname>${host}</hostname>` +
  `<state>${state}</state><output>${output}</output></checkresult></checkresults>`

/** As senders send it, without encoding the XML. */
const formOf = (token: string, xml: string) => `token=${token}&cmd=submitcheck&xml=${xml}`

/** A body without a length. */
const inParts = (body: string) => [Buffer.from(body.slice(0, 100)), Buffer.from(body.slice(100))]

const post = Effect.fnUntraced(function* (body: Required<Call>["body"], path = "/in/nrdp/", headers = {}) {
  const answer = yield* call("POST", path, { body, headers })
  return [answer.status, /<status>(.*)<\/status>/u.exec(answer.text)?.[1] ?? answer.text]
})

const checks = Effect.gen(function* () {
  const answer = yield* operate("GET", "/ops/v1/checks?agent_id=nrdp")
  // The list of the API.
  const { items } = answer.body as {
    readonly items: ReadonlyArray<Readonly<Record<"check_id" | "status", string>>>
  }
  return Object.fromEntries(items.map(({ check_id, status }) => [check_id, status]))
})

const TAKEN = [200, "0"]
const REFUSED = [403, "-1"]

/** Requests of Nagios' senders, whose key is in a form. */
export const nagiosSuite = <Place>(subject: StorageUnderTest<Place>): void => {
  const { scenario } = onStorage(subject)

  scenario("results of Nagios are taken by a key in a form, in a query or in the path", () =>
    Effect.gen(function* () {
      const key = yield* created("nrdp")
      assert.deepStrictEqual(yield* post(formOf(key, xmlOf("web1", 1))), TAKEN)
      assert.deepStrictEqual(yield* post(formOf("", xmlOf("web2", 0)), `/in/nrdp/${key}//`), TAKEN)
      assert.deepStrictEqual(
        yield* post(`cmd=submitcheck&xml=${xmlOf("web3", 2)}`, `/in/nrdp?token=${key}`),
        TAKEN,
      )
      // A form whose key follows its data, and one that is longer than what is read before its key is known.
      assert.deepStrictEqual(yield* post(`cmd=submitcheck&xml=${xmlOf("web4", 0)}&token=${key}`), TAKEN)
      const long = xmlOf("web5", 0, "x".repeat(700 * KIB))
      assert.deepStrictEqual(yield* post(formOf(key, long)), TAKEN)
      assert.deepStrictEqual(yield* checks, {
        "web1:host": "critical",
        "web2:host": "ok",
        "web3:host": "critical",
        "web4:host": "ok",
        "web5:host": "ok",
      })
      const late = `cmd=submitcheck&xml=${long}&token=${key}`
      for (const body of [
        formOf(UNKNOWN, xmlOf("a", 0)),
        "cmd=submitcheck",
        "",
        late,
        "\0".repeat(600 * KIB),
      ])
        assert.deepStrictEqual(yield* post(body), REFUSED)
      assert.deepStrictEqual(yield* post("", `/in/nrdp/${UNKNOWN}/`), REFUSED)
      const zipped = { "content-encoding": "gzip" }
      assert.deepStrictEqual(yield* post(formOf(key, xmlOf("a", 0)), "/in/nrdp/", zipped), [400, "-1"])
      assert.deepStrictEqual(yield* post(formOf(key, "x".repeat(1_100 * KIB))), [413, "-1"])
      // Of so many fields, Node takes seconds for all.
      assert.deepStrictEqual(yield* post(`${formOf(key, xmlOf("a", 0))}${"&a".repeat(1_000)}`), [400, "-1"])
      assert.deepStrictEqual(yield* post(`token=${UNKNOWN}${"&a".repeat(300 * KIB)}`), REFUSED)
      const json = JSON.stringify({ checkresults: [] })
      const inJson = yield* call("POST", "/in/nrdp/", { body: `token=${UNKNOWN}&json=${json}` })
      assert.deepStrictEqual(
        [inJson.status, inJson.headers["content-type"], inJson.text],
        [403, "application/json", '{"result":{"status":-1,"message":"not found"}}'],
      )
    }),
  )

  scenario("senders are taken as they send, and their repeats change nothing", () =>
    Effect.gen(function* () {
      for (const [kind, senders] of [
        ["nrdp", NRDP_SENDERS],
        ["icinga", ICINGA_SENDERS],
      ] as const) {
        const key = yield* created(kind)
        const authorization = `Basic ${Buffer.from(`root:${key}`).toString("base64")}`
        for (const { body, check, method, path, source, status, summary } of [...senders, ...senders]) {
          const answer = yield* call(method, `/in/${kind}${path.replace("KEY", key)}`, {
            ...(body !== undefined && { body: body.replace("KEY", key) }),
            headers: { authorization, "content-type": "application/x-www-form-urlencoded" },
          })
          assert.strictEqual(answer.status, 200, `${source}: ${answer.text}`)
          const { items } = (yield* operate("GET", `/ops/v1/checks?agent_id=${kind}`)).body as {
            readonly items: ReadonlyArray<Readonly<Record<"check_id" | "status" | "summary", string>>>
          }
          const found = items.find(({ check_id }) => check_id.replace(/\.[0-9a-f]{12}$/, "") === check)
          assert.deepStrictEqual([found?.status, found?.summary], [status, summary], source)
        }
        const history = yield* operate("GET", `/api/v1/events/query?agent_id=${kind}`)
        const { items } = history.body as { readonly items: ReadonlyArray<unknown> }
        assert.strictEqual(items.length, senders.length)
      }
    }),
  )

  scenario("a full integration asks its senders to try later", () =>
    Effect.gen(function* () {
      const key = yield* created("nrdp", { max_checks: 1 })
      assert.deepStrictEqual(yield* post(formOf(key, xmlOf("web1", 0))), TAKEN)
      const answer = yield* call("POST", "/in/nrdp/", { body: formOf(key, xmlOf("web2", 0)) })
      assert.deepStrictEqual([answer.status, answer.headers["retry-after"]], [429, "60"])
      assert.include(
        answer.text,
        "<message>this integration has 1 check, the most that it may have</message>",
      )
      assert.deepStrictEqual(yield* post(formOf(key, xmlOf("web1", 1))), TAKEN)
    }),
  )

  scenario("an operator resolves a check of an integration, once, and none of an agent", () =>
    Effect.gen(function* () {
      const key = yield* created("nrdp")
      yield* post(formOf(key, xmlOf("web1", 1)))
      const resolve = (check: string) =>
        operate("POST", `/ops/v1/checks/${check}/resolve`, { headers: { "idempotency-key": `of-${check}` } })
      const counts = [yield* resolve("nrdp/web1:host"), yield* resolve("nrdp/web1:host")].map(
        ({ text }) => text,
      )
      assert.deepStrictEqual(counts, ['{"count":1}', '{"count":1}'])
      assert.deepStrictEqual(yield* checks, { "web1:host": "ok" })
      const again = yield* operate("POST", "/ops/v1/checks/nrdp/web1:host/resolve")
      assert.strictEqual(again.text, '{"count":0}')
      const audit = (yield* operate("GET", "/ops/v1/audit?action=check.resolved")).body as {
        readonly items: ReadonlyArray<{ readonly subjects: unknown }>
      }
      assert.deepStrictEqual(
        audit.items.map(({ subjects }) => subjects),
        [[{ kind: "check", id: "nrdp/web1:host" }]],
      )
      yield* post(formOf(key, xmlOf("web1", 1)))
      assert.deepStrictEqual(yield* checks, { "web1:host": "critical" })
      const agent = yield* acceptedAgent("web1")
      yield* push(agent, event({ check_id: "disk", status: "warning", exit_code: 1 }))
      const refused = yield* operate("POST", "/ops/v1/checks/web1/disk/resolve")
      assert.include(refused.text, "whose next result decides: acknowledge its incident")
      expectError(refused, 409, "conflict")
      expectError(yield* operate("POST", "/ops/v1/checks/nrdp/none/resolve"), 404, "not_found")
    }),
  )

  const BODY = 80 * KIB
  scenario(
    "keys in bodies are read within the budget of unknown keys, which a known one spends nothing of",
    () =>
      Effect.gen(function* () {
        const { clock } = yield* Tocsin
        const key = yield* created("nrdp")
        const known = formOf(key, xmlOf("web1", 0, "x".repeat(BODY)))
        const unknown = formOf(UNKNOWN, "x".repeat(BODY))
        for (let sent = 0; sent < 8; sent++)
          assert.deepStrictEqual(yield* post(sent % 2 === 0 ? known : inParts(known)), TAKEN)
        for (let sent = 0; sent < 2; sent++) assert.deepStrictEqual(yield* post(unknown), REFUSED)
        assert.deepStrictEqual(yield* post(inParts(unknown)), REFUSED)
        const spent = yield* call("POST", "/in/nrdp/", { body: known })
        assert.deepStrictEqual([spent.status, Number(spent.headers["retry-after"]) > 0], [429, true])
        assert.include(spent.text, "<status>-1</status>")
        // A key in the path needs no budget.
        assert.deepStrictEqual(yield* post(known, `/in/nrdp/${key}/`), TAKEN)
        clock.advance("2 minutes")
        assert.deepStrictEqual(yield* post(known), TAKEN)
      }),
    { rules: { unknownKeyVolume: { perMinute: 90 * KIB, burst: 270 * KIB } } },
  )
}
