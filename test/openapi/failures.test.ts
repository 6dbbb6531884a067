import { assert, describe, it } from "@effect/vitest"
import * as MemoryStorage from "@tocsin/adapter-memory/MemoryStorage"
import { Storage, StorageError } from "@tocsin/core/kernel/ports/Storage"
import { Effect, Layer } from "effect"
import { until } from "../processes/until.ts"
import { DOCUMENTS, Judge, messageOf } from "./Judge.ts"
import { operationsOf, type PlacedOperation, requiredHeaders } from "./OpenApi.ts"
import { bodyOfExample } from "./provocations.ts"
import type { Sent } from "./send.ts"
import { DocumentedServer, UI_TOKEN } from "./DocumentedServer.ts"

const failure = Effect.fail(new StorageError({ reason: "unavailable", message: "away for a test" }))

/** A storage that can become unreachable. */
const removable = () => {
  const state = { isAway: false }
  const or = <A>(effect: Effect.Effect<A, StorageError>) =>
    Effect.suspend(() => (state.isAway ? failure : effect))
  const storage = Layer.effect(
    Storage,
    Effect.map(Storage, (sound) =>
      Storage.of({
        ...sound,
        transact: (command) => or(sound.transact(command)),
        page: (request) => or(sound.page(request)),
        agent: (id) => or(sound.agent(id)),
        check: (agentId, checkId) => or(sound.check(agentId, checkId)),
        incident: (id, limits) => or(sound.incident(id, limits)),
        counts: (aliveSince) => or(sound.counts(aliveSince)),
        agentsWithPendingKey: (...ofWhom) => or(sound.agentsWithPendingKey(...ofWhom)),
        replicas: or(sound.replicas),
        policyVersions: (...range) => or(sound.policyVersions(...range)),
        probe: or(sound.probe),
      }),
    ),
  ).pipe(Layer.provide(MemoryStorage.layer))
  return { state, storage }
}

/** The request that a document shows for an operation. */
const shown = ({ method, path, operation }: PlacedOperation): Sent => {
  const examples = new Map(operation.parameters.map(({ name, example }) => [name, String(example)]))
  const required = operation.parameters.filter((parameter) => parameter.in === "query" && parameter.required)
  const search = required.map(({ name, example }) => `${name}=${String(example)}`).join("&")
  const [media] = Object.values(operation.requestBody?.content ?? {})
  const [example] = Object.values(media?.examples ?? {})
  const isForAgents = operation.security.some((requirement) => "agentKey" in requirement)
  const token = isForAgents ? "a-key-of-web-01" : UI_TOKEN
  return {
    method,
    target: `${path.replaceAll(/\{(\w+)\}/g, (_, name: string) => examples.get(name) ?? "")}?${search}`,
    headers: { ...requiredHeaders(operation), authorization: `Bearer ${token}` },
    body: example === undefined ? undefined : bodyOfExample(example.value),
  }
}

/** They need no storage. */
const EXCEPTIONS: Readonly<Record<string, number>> = {
  health: 200,
  ready: 503,
  testNotifier: 200,
  me: 200,
  getSignInOptions: 200,
  signIn: 403,
  signOut: 200,
  listWindows: 200,
  getAgentDownload: 200,
  getPolicySchema: 200,
  checkPolicy: 200,
  stream: 200,
  // From memory, and by the key that it keeps.
  listSettings: 200,
  getPush: 200,
  replacePushKey: 409,
  createSubscription: 409,
  testSubscription: 404,
  tryWatch: 200,
  tryPolicy: 200,
  tryReceiver: 200,
}

describe.each(Object.entries(DOCUMENTS))("failures by the document of %s", (_, target) => {
  it.live("are those that it declares, while the storage is unreachable", () => {
    const { state, storage } = removable()
    const test = Effect.gen(function* () {
      const judge = yield* Judge.of(target)
      const { call } = yield* DocumentedServer
      state.isAway = true
      const ready = call({ method: "GET", target: "/api/v1/ready", headers: {} })
      yield* until(
        "the service is not ready",
        Effect.map(ready, ({ status }) => status === 503),
      )
      for (const placed of operationsOf(judge.document)) {
        const { operation } = placed
        const answer = yield* call(shown(placed))
        assert.strictEqual(answer.status, EXCEPTIONS[operation.operationId] ?? 500, operation.operationId)
        assert.deepStrictEqual(judge.answers.problemsOf(operation, answer), [], operation.operationId)
        const message = messageOf(answer.body)
        // A request of no page is refused before the storage is asked; the document shows what usually is.
        if (
          message !== undefined &&
          !["signIn", "replacePushKey", "createSubscription", "testSubscription"].includes(
            operation.operationId,
          )
        )
          assert.include(judge.messages, message)
      }
    })
    return Effect.provide(test, DocumentedServer.layer(storage), { local: true })
  })
})

describe("the requests of a document's examples", () => {
  it.live("are accepted", () =>
    Effect.gen(function* () {
      const { document } = yield* Judge.of(DOCUMENTS.v1)
      const { call } = yield* DocumentedServer
      const statuses = new Map<string, number>()
      const ask = Effect.fnUntraced(function* (placed: PlacedOperation) {
        statuses.set(placed.operation.operationId, (yield* call(shown(placed))).status)
      })
      const byName = new Map(operationsOf(document).map((placed) => [placed.operation.operationId, placed]))
      const inThisOrder = ["heartbeat", "acceptAgent", "events", ...byName.keys()]
      const last = new Set(["deleteAgent", "blockAgent"])
      for (const name of inThisOrder) {
        const placed = byName.get(name)
        if (placed !== undefined && !last.has(name)) yield* ask(placed)
      }
      for (const name of last) {
        const placed = byName.get(name)
        if (placed !== undefined) yield* ask(placed)
      }
      const refused = Array.from(statuses).filter(([name, status]) => status >= 400 && name !== "blockAgent")
      assert.deepStrictEqual(refused, [])
    }).pipe(Effect.provide(DocumentedServer.layer(MemoryStorage.layer), { local: true })),
  )
})
