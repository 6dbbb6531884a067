import process from "node:process"
import { assert, describe, it } from "@effect/vitest"
import * as MemoryStorage from "@tocsin/adapter-memory/MemoryStorage"
import { propertyRuns } from "@tocsin/testing/propertyRuns"
import { Effect } from "effect"
import * as fc from "fast-check"
import { DOCUMENTS, Judge, messageOf } from "./Judge.ts"
import { operationsOf, type PlacedOperation } from "./OpenApi.ts"
import { populatePools } from "./populatePools.ts"
import { provocations } from "./provocations.ts"
import { type Generated, requests } from "./requests.ts"
import { DocumentedServer } from "./DocumentedServer.ts"

/** The same requests each time, unless another seed is given. */
const SEED = Number(process.env["PROPERTY_SEED"] ?? 20_260_131)
// One round does not bring every answer.
const ROUNDS = Math.max(2, propertyRuns(6))
const REQUESTS_A_ROUND = 150

/** They delete rows that other requests need. */
const DESTRUCTIVE = new Set([
  "deleteAgent",
  "blockAgent",
  "blockAll",
  "removeAll",
  "deleteBlacklist",
  "removeCheck",
  "removeOperator",
  "expireSilence",
  "removeIntegration",
  "removeWatch",
  "removeEnrolment",
  // The policy in force has rotas.
  "applyPolicy",
  "patchPolicy",
  "putReceiver",
])

const ONE_FAILURE = { failedAuthenticationRate: { perMinute: 1, burst: 1 } }

const documented = DocumentedServer.layer(MemoryStorage.layer)
const onFreshServer = <A, E>(effect: Effect.Effect<A, E, DocumentedServer>) =>
  Effect.provide(effect, documented, { local: true })

/** The answers so far: {@link key}s, and the messages of errors. */
interface Seen {
  readonly answers: Set<string>
  readonly messages: Set<string>
}

/** These need more agents, or a program that decides: test/delivery/silences, test/http/requests/policySuite, or a process without probes. */
const ELSEWHERE = new Set([
  ...[
    "createSilence",
    "createOverride",
    "createAnnouncement",
    "applyPolicy",
    "tryPolicy",
    "tryWatch",
    "changeWatch",
    "pauseWatch",
    "removeWatch",
  ].map((operation) => `${operation} 409`),
  // No receiver is stored: test/http/requests/receivers.
  "putReceiver 200",
  // Few spans end after they begin: test/http/requests/export.
  "exportRows 200",
  // Few names are those of receivers, and few changes are tests: test/http/requests/policyEdits.
  "patchPolicy 200",
  "patchPolicy 409",
  "removeReceiver 200",
  "removeReceiver 409",
  "removeReceiver 412",
  "tryReceiver 409",
  // Its body may be larger than those that are sent here: test/http/requests/bodySize.
  "tryMail 413",
  // The server hands out the agent.
  "getAgentDownload 404",
  // Few texts are durations.
  "changeWatch 200",
  "pauseWatch 200",
  // Few times are in the month to come, and few spans have few steps.
  "createOverride 201",
  // Few names are those of a page.
  "createAnnouncement 201",
  "updateAnnouncement 201",
  // Few checks are those of an integration, and few names are new.
  "resolveCheck 200",
  "createOperator 201",
  // No issuer is configured: test/signIn.
  "signIn 200",
  "signIn 201",
  "signIn 401",
  "signIn 404",
  "signIn 502",
  // Its one parameter is seldom wrong.
  "askWatches 400",
  // Few spans have ended.
  "readReport 200",
  "readNumbers 200",
  "readNumbers 404",
  // No integration takes mails: test/senders/mails. No push service is known: test/http/requests/push.
  "tryMail 200",
  "replacePushKey 200",
  "createSubscription 200",
  "createSubscription 201",
  "removeSubscription 200",
  "testSubscription 200",
])

/** An answer that a document declares. */
const key = ({ operation }: PlacedOperation, status: number | string): string =>
  `${operation.operationId} ${status}`

/** Sends generated requests to a service with rows of every kind, and records the answers. */
const round = Effect.fnUntraced(function* (judge: Judge, seed: number, seen: Seen) {
  const { call } = yield* DocumentedServer
  const pools = yield* populatePools
  const arbitraries = operationsOf(judge.document).map((placed) => ({
    weight: DESTRUCTIVE.has(placed.operation.operationId) ? 1 : 4,
    arbitrary: requests(judge.document, pools, placed),
  }))
  const destroys = ({ placed }: Generated) => DESTRUCTIVE.has(placed.operation.operationId)
  const provoking = arbitraries
    .flatMap(({ arbitrary }) => fc.sample(arbitrary, { seed, numRuns: 1 }))
    .toSorted((left, right) => Number(destroys(left)) - Number(destroys(right)))
  const generated = fc.sample(fc.oneof(...arbitraries), { seed, numRuns: REQUESTS_A_ROUND })
  for (const request of [...provoking.flatMap(provocations), ...generated]) {
    const answer = yield* call(request)
    seen.answers.add(key(request.placed, answer.status))
    seen.messages.add(messageOf(answer.body) ?? "")
    const { method, target, headers, body } = request
    const asked = `${method} ${target} ${JSON.stringify(headers)} ${String(body).slice(0, 500)}`
    const answered = `${answer.status} ${answer.text.slice(0, 500)}`
    assert.deepStrictEqual(judge.problemsOf(request, answer), [], `${asked} was answered ${answered}`)
  }
})

describe.each(Object.entries(DOCUMENTS))("answers by the document of %s", (_, target) => {
  it.live(`are exactly those that it declares, for generated requests (PROPERTY_SEED=${SEED})`, () =>
    Effect.gen(function* () {
      const judge = yield* onFreshServer(Judge.of(target))
      const seen: Seen = { answers: new Set(), messages: new Set() }
      for (let index = 0; index < ROUNDS; index += 1) {
        yield* onFreshServer(round(judge, SEED + index, seen))
      }
      const declared = operationsOf(judge.document).flatMap((placed) =>
        Object.keys(placed.operation.responses).map((status) => key(placed, status)),
      )
      // Failures are provoked elsewhere (failures.test.ts).
      const unseen = declared.filter(
        (answer) => !seen.answers.has(answer) && !ELSEWHERE.has(answer) && !/ (?:50[03]|429)$/.test(answer),
      )
      assert.deepStrictEqual(unseen, [])
      if (declared.includes("heartbeat 429")) assert.isTrue(seen.answers.has("heartbeat 429"))
      // Every error shown is really answered. Streams and failures are provoked elsewhere.
      const unsaid = judge.messages.filter((message) => !seen.messages.has(message))
      assert.deepStrictEqual(
        unsaid.filter((message) => !/storage|streams already|exports already|the issuer/.test(message)),
        [],
      )
    }),
  )

  it.live("are 401 after too many failed authentications, too", () =>
    Effect.gen(function* () {
      const judge = yield* Judge.of(target)
      const { call } = yield* DocumentedServer
      const unauthorized = { method: "GET", target: "/api/v1/agents", headers: {} }
      assert.strictEqual((yield* call(unauthorized)).status, 401)
      for (const { method, path, operation } of operationsOf(judge.document)) {
        if (operation.security.length === 0) continue
        const answer = yield* call({ method, target: path.replaceAll(/\{\w+\}/g, "x"), headers: {} })
        assert.strictEqual(answer.status, 401, operation.operationId)
        assert.deepStrictEqual(judge.answers.problemsOf(operation, answer), [], operation.operationId)
      }
    }).pipe(Effect.provide(DocumentedServer.layer(MemoryStorage.layer, ONE_FAILURE), { local: true })),
  )

  it.live("are 404 for other methods, with Allow", () =>
    onFreshServer(
      Effect.gen(function* () {
        const { document } = yield* Judge.of(target)
        const { call } = yield* DocumentedServer
        for (const [path, item] of Object.entries(document.paths)) {
          const methodsOf = (of: object) =>
            Object.keys(of).flatMap((name) => (name === "get" ? ["GET", "HEAD"] : [name.toUpperCase()]))
          // The name of an action stands where another path has an ID.
          const alike = Object.entries(document.paths).filter(
            ([other]) =>
              other !== path && new RegExp(`^${other.replaceAll(/\{\w+\}/g, "[^/{}]+")}$`).test(path),
          )
          const known = [item, ...alike.map(([, of]) => of)].flatMap(methodsOf)
          for (const method of ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]) {
            if (known.includes(method)) continue
            const { status, headers } = yield* call({
              method,
              target: path.replaceAll(/\{\w+\}/g, "x"),
              headers: {},
            })
            assert.strictEqual(status, 404, `${method} ${path}`)
            assert.sameMembers(String(headers["allow"]).split(", "), known, `${method} ${path}`)
          }
        }
      }),
    ),
  )
})
