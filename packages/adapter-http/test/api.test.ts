import { readdirSync, readFileSync } from "node:fs"
import { assert, describe, it, layer } from "@effect/vitest"
import { agentNotFound } from "@tocsin/core/heart/admission/AdmissionErrors"
import { AgentId, CheckId, EventId } from "@tocsin/contract/formats/Identifiers"
import * as Instant from "@tocsin/contract/formats/Instant"
import { Effect, Layer } from "effect"
import { FetchHttpClient, HttpClientRequest } from "effect/http"
import { HttpApiClient, HttpApiMiddleware } from "effect/http-api"
import { TocsinApi } from "@tocsin/contract/api/TocsinApi"
import { AgentAuthentication, OperatorAuthentication } from "@tocsin/contract/api/operation"
import { port, testServer, UI_TOKEN } from "./TestServer.ts"

describe("the definition of the API", () => {
  it("loads no server", () => {
    const folder = new URL("../../contract/src/api/", import.meta.url)
    const files = readdirSync(folder)
    assert.isAbove(files.length, 5)
    for (const file of files) {
      const text = readFileSync(new URL(file, folder), "utf8")
      const imported = Array.from(text.matchAll(/from "([^"]+)"/g), ([, name = ""]) => name)
      assert.deepStrictEqual(
        imported.filter((name) => !/^(effect|effect\/http-api|\.{1,2}\/(?:\w+\/)?\w+\.ts)$/.test(name)),
        [],
        file,
      )
    }
  })
})

const bearer = (token: string) =>
  [
    HttpApiMiddleware.layerClient(AgentAuthentication, ({ next, request }) =>
      next(HttpClientRequest.bearerToken(request, token)),
    ),
    HttpApiMiddleware.layerClient(OperatorAuthentication, ({ next, request }) =>
      next(HttpClientRequest.bearerToken(request, token)),
    ),
    FetchHttpClient.layer,
  ] as const

const client = Effect.flatMap(port, (to) =>
  HttpApiClient.make(TocsinApi, { baseUrl: `http://127.0.0.1:${to}` }),
)

const lastSeen = Instant.fromMicros(1_767_225_600_000_001n)
const server = testServer({
  queries: {
    agent: (agent_id) =>
      agent_id === "web-01"
        ? Effect.succeed({
            agent_id,
            hostname: "web-01.example.org",
            status: "alive",
            admission_state: "accepted",
            rotation_pending: false,
            last_seen_at: lastSeen,
            features: { push: true, metrics: false },
          })
        : Effect.fail(agentNotFound()),
    incidents: () => Effect.succeed({ items: [], next_cursor: null, prev_cursor: null }),
  },
  ingest: { events: (_key, batch) => Effect.succeed({ accepted: batch.events.length, deduplicated: 0 }) },
})

layer(Layer.provideMerge(Layer.mergeAll(...bearer(UI_TOKEN)), server), { excludeTestServices: true })(
  "a typed client of the operators",
  (it) => {
    it.effect("gets values", () =>
      Effect.gen(function* () {
        const { operators } = yield* client
        const agent = yield* operators.getAgent({ params: { agent_id: AgentId.make("web-01") } })
        assert.strictEqual(agent.last_seen_at, lastSeen)
        const query = { sort: "status", direction: "desc", limit: 10, back: false } as const
        assert.deepStrictEqual((yield* operators.listIncidents({ query })).items, [])
      }),
    )

    it.effect("gets errors by their tags", () =>
      Effect.gen(function* () {
        const { operators } = yield* client
        const error = yield* Effect.flip(operators.getAgent({ params: { agent_id: AgentId.make("none") } }))
        assert.strictEqual(error._tag, "NotFound")
        assert.include(error.message, "agent_id")
      }),
    )
  },
)

layer(Layer.provideMerge(Layer.mergeAll(...bearer("agent-key")), server), { excludeTestServices: true })(
  "a typed client of an agent",
  (it) => {
    it.effect("sends values", () =>
      Effect.gen(function* () {
        const { agents, operators } = yield* client
        const event = {
          event_id: EventId.make("01890a5d-ac96-774b-bcce-b302099a8057"),
          check_id: CheckId.make("disk"),
          observed_at: lastSeen,
          status: "ok",
          exit_code: 0,
          duration_ms: 1,
          output_truncated: false,
          notifications_enabled: true,
        } as const
        const payload = { agent_id: AgentId.make("web-01"), events: [event] }
        assert.deepStrictEqual(yield* agents.events({ payload }), { accepted: 1, deduplicated: 0 })
        assert.strictEqual((yield* Effect.flip(operators.getSummary()))._tag, "Unauthorized")
      }),
    )
  },
)
