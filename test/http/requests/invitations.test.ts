import { assert, describe, it } from "@effect/vitest"
import * as MemoryStorage from "@tocsin/adapter-memory/MemoryStorage"
import { Effect } from "effect"
import type { Answer } from "../client/Answer.ts"
import { call, operate } from "../client/call.ts"
import { expectError } from "../client/expectError.ts"
import { itemsOf } from "../client/itemsOf.ts"
import { Tocsin, type TocsinOptions } from "../service/Tocsin.ts"

const PUBLIC = "https://tocsin.example.org"
const ANN = "/ops/v1/operators/ann"
const INVITATIONS = `${ANN}/invitations`

const served = <E>(effect: Effect.Effect<void, E, Tocsin>, options: TocsinOptions = {}) =>
  Effect.provide(
    effect,
    Tocsin.layer(MemoryStorage.layer, { ...options, rules: { publicUrl: PUBLIC, ...options.rules } }),
  )

const create = (more: object = {}) =>
  operate("POST", "/ops/v1/operators", { json: { name: "ann", role: "respond", ...more } })
const invite = Effect.map(operate("POST", INVITATIONS, { json: {} }), ({ body }) => ({
  id: String(Object(body).id),
  token: String(Object(body).token),
}))

/** Follows an invitation as a page of the public address does. */
const follow = (invitation: string, more: object = {}, origin = PUBLIC) =>
  call("POST", "/ops/v1/session", { headers: { origin }, json: { invitation, ...more } })
const tokenOf = ({ body }: Answer): string => String(Object(body).token)
const me = (token: string) => call("GET", "/ops/v1/me", { token })

/** The acts of a story, each with the status of the answer that follows. */
const ACTS = {
  peeks: (token: string) => follow(token, { peek: true }),
  uses: (token: string) => follow(token),
  "uses elsewhere": (token: string) => follow(token, {}, "https://other.example.org"),
  "uses from nowhere": (token: string) => call("POST", "/ops/v1/session", { json: { invitation: token } }),
} as const
type Act = keyof typeof ACTS

/** Changes that an admin makes between an invitation and its use. */
const CHANGES = {
  nothing: () => Effect.void,
  deletes: (id: string) => operate("DELETE", `${INVITATIONS}/${id}`),
  "removes the operator": () => operate("DELETE", ANN),
  "replaces the operator": () => Effect.andThen(operate("DELETE", ANN), create()),
  "rotates the token": () => operate("POST", `${ANN}/rotate`, { json: { grace: "0s" } }),
} as const

/** Who may do what with an invitation: the change, then each act with its status. */
const OF_INVITATIONS: ReadonlyArray<readonly [keyof typeof CHANGES, ReadonlyArray<readonly [Act, number]>]> =
  [
    [
      "nothing",
      [
        ["peeks", 200],
        ["peeks", 200],
        ["uses", 200],
        ["uses", 401],
        ["peeks", 401],
      ],
    ],
    [
      "nothing",
      [
        ["uses elsewhere", 403],
        ["uses from nowhere", 403],
        ["uses", 200],
      ],
    ],
    [
      "deletes",
      [
        ["peeks", 401],
        ["uses", 401],
      ],
    ],
    [
      "removes the operator",
      [
        ["peeks", 401],
        ["uses", 401],
      ],
    ],
    [
      "replaces the operator",
      [
        ["peeks", 401],
        ["uses", 401],
      ],
    ],
    [
      "rotates the token",
      [
        ["peeks", 200],
        ["uses", 200],
      ],
    ],
  ]

/** Changes after a session began, and the status of its next request. */
const OF_SESSIONS: ReadonlyArray<readonly [string, ReturnType<typeof operate>, number, string?]> = [
  ["a changed role counts", operate("PATCH", ANN, { json: { role: "read" } }), 200, "read"],
  ["a removal ends it", operate("DELETE", ANN), 401],
  [
    "a rotation ends it with the former token",
    operate("POST", `${ANN}/rotate`, { json: { grace: "0s" } }),
    401,
  ],
  [
    "a rotation leaves it while the former token lasts",
    operate("POST", `${ANN}/rotate`, { json: {} }),
    200,
    "respond",
  ],
]

/** Invitations of operators over HTTP (docs/rules.md#invitations). */
describe("an invitation", () => {
  it.live.each(OF_INVITATIONS)("after %s: %j", ([change, acts]) =>
    served(
      Effect.gen(function* () {
        yield* create()
        const { id, token } = yield* invite
        yield* CHANGES[change](id)
        for (const [act, status] of acts) {
          const answer = yield* ACTS[act](token)
          assert.strictEqual(answer.status, status, `${act}: ${answer.text}`)
          assert.strictEqual(answer.headers["cache-control"], "no-store")
        }
      }),
    ),
  )

  it.live("is used by one of several at once, and by a page of the address that it was sent to", () =>
    served(
      Effect.gen(function* () {
        const { port } = yield* Tocsin
        yield* create()
        const { token } = yield* invite
        const answers = yield* Effect.all(
          Array.from({ length: 4 }, () => follow(token, {}, `http://127.0.0.1:${port}`)),
          { concurrency: "unbounded" },
        )
        assert.deepStrictEqual(answers.map(({ status }) => status).toSorted(), [200, 401, 401, 401])
        const [used] = answers.filter(({ status }) => status === 200)
        assert.deepInclude(Object((yield* me(tokenOf(used ?? assert.fail()))).body), {
          name: "ann",
          role: "respond",
        })
        const again = yield* follow(token)
        assert.include(expectError(again, 401, "unauthorized"), "was used")
        const sayings = expectError(yield* follow(token, { peek: "yes" }), 400, "validation")
        assert.include(sayings, "{ invitation, peek }")
      }),
    ),
  )

  it.live("is listed without its token, at most ten times, and audited without it", () =>
    served(
      Effect.gen(function* () {
        const { observatory, readToken } = yield* Tocsin
        expectError(yield* operate("POST", INVITATIONS, { json: {} }), 404, "not_found")
        const refused = yield* operate("POST", INVITATIONS, { json: { role: "admin" } })
        assert.include(JSON.stringify(refused.body), "role is not a known field")
        expectError(yield* operate("GET", INVITATIONS), 404, "not_found")
        yield* create()
        expectError(yield* call("POST", INVITATIONS, { token: readToken, json: {} }), 403, "forbidden")
        const { id, token } = yield* invite
        for (let count = 1; count < 10; count++) yield* invite
        expectError(yield* operate("POST", INVITATIONS, { json: {} }), 409, "conflict")
        const { body } = yield* operate("GET", INVITATIONS)
        assert.lengthOf(Object(body).items, 10)
        assert.notInclude(JSON.stringify([body, yield* itemsOf("/ops/v1/audit")]), token)
        assert.deepStrictEqual((yield* operate("DELETE", `${INVITATIONS}/${id}`)).body, { count: 1 })
        assert.deepStrictEqual((yield* operate("DELETE", `${INVITATIONS}/${id}`)).body, { count: 0 })
        assert.deepStrictEqual(observatory.leaks, [])
      }),
    ),
  )

  it.live.each(OF_SESSIONS)("begins a session of its operator: %s", ([_, change, status, role]) =>
    served(
      Effect.gen(function* () {
        yield* create()
        const token = tokenOf(yield* follow((yield* invite).token))
        assert.match(token, /^session_/)
        assert.strictEqual((yield* change).status, 200)
        const answer = yield* me(token)
        assert.strictEqual(answer.status, status)
        if (role !== undefined) assert.deepInclude(Object(answer.body), { name: "ann", role })
      }),
    ),
  )

  it.live("begins a session that acts as its operator, is listed, and signs out", () =>
    served(
      Effect.gen(function* () {
        const { created_at } = Object((yield* create()).body)
        const end = new Date(Date.parse(String(created_at)) + 3_600_000).toISOString()
        yield* operate("PATCH", ANN, { json: { expires_at: end } })
        const begun = yield* follow((yield* invite).token)
        const token = tokenOf(begun)
        assert.deepInclude(Object(begun.body), { name: "ann", role: "respond" })
        assert.strictEqual(Object(begun.body).expires_at, end)
        assert.strictEqual(Object((yield* me(token)).body).expires_at, end)
        const [ann] = yield* itemsOf("/ops/v1/operators")
        assert.isString(ann?.["last_used_at"], "a session is a use of its operator")
        assert.lengthOf(yield* itemsOf("/ops/v1/sessions"), 1)
        assert.deepStrictEqual((yield* call("DELETE", "/ops/v1/session", { token })).body, { count: 1 })
        expectError(yield* me(token), 401, "unauthorized")
        assert.deepInclude((yield* itemsOf("/ops/v1/audit"))[0] ?? {}, {
          action: "session.signed_out",
          actor: "ann",
        })
      }),
    ),
  )
})
