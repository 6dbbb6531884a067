import { assert } from "@effect/vitest"
import { requestKindNames } from "@tocsin/contract/integrations/integrationKinds"
import { KINDS } from "@tocsin/core/features/integrations/kinds"
import { Effect } from "effect"
import { placeholderOf, sendersRequests } from "../../fuzz/senders.ts"
import { call, operate } from "../client/call.ts"
import { created, isRetried, send, SENDERS, type Sent } from "../client/senders.ts"
import { AT_LENGTH } from "../../properties/atLength.ts"
import { type HttpSubject, onStorage } from "../onStorage.ts"

const FULL = "one check too many"

/** No sender makes a request again that cannot succeed (docs/rules.md#integrations). */
export const senderRefusalSuite = <Place>(subject: HttpSubject<Place>): void => {
  const { scenario } = onStorage(subject)
  const rules = { integrationCheckRate: { perMinute: 0, burst: 0 } }

  scenario(
    "no sender makes a request again that cannot succeed",
    () =>
      Effect.gen(function* () {
        for (const [place, kind] of requestKindNames.entries()) {
          const { hopeless, reports } = SENDERS[kind]
          const key = yield* created(kind)
          const refuse = Effect.fnUntraced(function* (why: string, requests: ReadonlyArray<Sent>, to = kind) {
            for (const request of requests) {
              const { status, text } = yield* send(to, request)
              const isForLater = KINDS[kind].isRefusedForNow === true && why === FULL
              assert.isTrue(
                status >= 400 && isRetried(status) === isForLater,
                `${to}, ${why}, ${request[1]}: ${status} ${text}`,
              )
            }
          })
          // The key is not known before its first report.
          yield* refuse("not valid", hopeless(key))
          yield* Effect.forEach(reports(key, "a"), (report) => send(kind, report))
          yield* refuse("not valid", hopeless(key))
          // At length, to every other kind.
          const others = requestKindNames.filter(
            (_, at) => at !== place && (AT_LENGTH || (at + place) % 4 === 0),
          )
          for (const other of others) yield* refuse(`key of ${kind}`, SENDERS[other].reports(key, "a"), other)
          const path = `/ops/v1/integrations/${kind}`
          const { options } = (yield* operate("GET", path)).body as { readonly options: object }
          const change = (other: object) =>
            operate("PATCH", path, { json: { options: { ...options, ...other } } })
          yield* change({ create: false })
          yield* refuse("no new check", reports(key, "b"))
          yield* change({ max_checks: 1 })
          yield* refuse(FULL, reports(key, "b"))
          yield* operate("POST", `/api/v1/agents/${kind}/block`)
          yield* refuse("closed", reports(key, "a"))
          const { key: next } = (yield* operate("POST", `${path}/rotate`, { json: { grace: "0s" } }))
            .body as { readonly key: string }
          yield* refuse("replaced", reports(key, "a"))
          yield* operate("DELETE", path)
          yield* refuse("removed", reports(next, "a"))
        }
      }),
    { rules },
  )

  scenario(
    "no sender makes an odd request again",
    () =>
      Effect.gen(function* () {
        const keys: Array<readonly [string, string]> = []
        for (const kind of requestKindNames) keys.push([placeholderOf(kind), yield* created(kind)])
        for (const { writes } of sendersRequests({ seed: 34, count: 300 })) {
          const text = keys.reduce((all, [place, key]) => all.replaceAll(place, key), writes.join(""))
          const [head = "", ...body] = text.split("\r\n\r\n")
          const [line = "", ...fields] = head.split("\r\n")
          const [method = "", target = ""] = line.split(" ")
          const authorization = fields.find((field) => field.startsWith("Authorization: "))?.slice(15)
          const { status } = yield* call(method, target, {
            ...(method === "GET" || method === "HEAD"
              ? {}
              : { body: Buffer.from(body.join("\r\n\r\n"), "latin1") }),
            ...(authorization !== undefined && { headers: { authorization } }),
          })
          assert.isFalse(isRetried(status), `${status}: ${text}`)
        }
      }),
    { rules: { ...rules, integrationRate: { perMinute: 0, burst: 0 } } },
  )
}
