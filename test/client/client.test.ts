import { assert, layer } from "@effect/vitest"
import * as MemoryStorage from "@tocsin/adapter-memory/MemoryStorage"
import type { Notifier } from "@tocsin/core/heart/notifications/Notifiers"
import { createClient, hasCode, type TocsinClientError } from "@tocsin/client"
import { TocsinClient } from "@tocsin/client/TocsinClient"
import type { NotifierKind } from "@tocsin/contract/formats/Status"
import { Effect, Layer, Redacted, Stream } from "effect"
import { FetchHttpClient } from "effect/http"
import { Tocsin } from "../http/service/Tocsin.ts"
import { uuidV7 } from "@tocsin/testing/SeededIds"

const delivered: Notifier = {
  kind: "debug",
  send: () => Effect.succeed({ outcome: "delivered" }),
  test: Effect.succeed({ result: { outcome: "refused", error: "it answered 410" }, status: 410 }),
}
const service = Layer.fresh(
  Tocsin.layer(MemoryStorage.layer, {
    notifiers: new Map<NotifierKind, Notifier>([["debug", delivered]]),
  }),
)

const baseUrl = Effect.map(Tocsin, ({ port }) => `http://127.0.0.1:${port}`)

/** A client as promises of the service under test. */
const promised = Effect.fnUntraced(function* (agentKey?: string) {
  const { uiToken } = yield* Tocsin
  return createClient({ baseUrl: yield* baseUrl, token: uiToken, agentKey })
})

const use = <A>(call: () => Promise<A>) => Effect.promise(call)
/** The rejection of a promise. */
const rejection = (call: () => Promise<unknown>) =>
  Effect.promise(() =>
    call().then(
      () => assert.fail("it did not reject"),
      (error: unknown) => error as TocsinClientError,
    ),
  )

const NOW = "2026-03-01T12:00:00.000Z"
const heartbeatOf = (agent_id: string) => ({
  agent_id,
  observed_at: NOW,
  hostname: `${agent_id}.example`,
  features: { push: true, metrics: false },
})
const eventOf = (n: number, check_id: string, status: "ok" | "critical" = "critical") => ({
  event_id: uuidV7(1_772_366_400_000n, `event ${n}`),
  check_id,
  observed_at: NOW,
  status,
  exit_code: status === "ok" ? 0 : 2,
  duration_ms: 5,
  output: `${check_id} ${status}`,
})

const collect = async <A>(items: AsyncIterable<A>): Promise<ReadonlyArray<A>> => {
  const collected: Array<A> = []
  for await (const item of items) collected.push(item)
  return collected
}

layer(service, { excludeTestServices: true })("a client as promises", (it) => {
  it.effect.each([".", ".."])("addresses an agent that is named %s, and its check of that name", (name) =>
    Effect.gen(function* () {
      const client = yield* promised(`key-of-${name}`)
      yield* use(() => client.heartbeat(heartbeatOf(name)))
      assert.strictEqual((yield* use(() => client.agents.get(name))).agent_id, name)
      assert.deepStrictEqual(yield* use(() => client.agents.accept(name)), { count: 1 })
      yield* use(() => client.events({ agent_id: name, events: [eventOf(1, name)] }))
      assert.deepStrictEqual(yield* use(() => client.checks.remove({ agent_id: name, check_id: name })), {
        count: 1,
      })
      assert.deepStrictEqual(yield* use(() => client.agents.remove(name)), { count: 1 })
    }),
  )

  it.effect("takes an agent from its first heartbeat to its incident and back", () =>
    Effect.gen(function* () {
      const client = yield* promised("key-of-web-1")
      assert.deepStrictEqual(yield* use(() => client.heartbeat(heartbeatOf("web-1"))), { accepted: false })
      const pending = yield* use(() => client.agents.get("web-1"))
      assert.strictEqual(pending.admission_state, "pending")
      assert.strictEqual(pending.last_seen_at, NOW)
      const early = yield* rejection(() => client.events({ agent_id: "web-1", events: [eventOf(1, "disk")] }))
      assert.strictEqual(early.code, "agent_not_accepted")
      assert.strictEqual(early.status, 403)
      assert.match(early.requestId ?? "", /^[0-9a-f-]{36}$/)
      assert.deepStrictEqual(yield* use(() => client.agents.accept("web-1")), { count: 1 })
      assert.deepStrictEqual(yield* use(() => client.heartbeat(heartbeatOf("web-1"))), { accepted: true })

      const batch = { agent_id: "web-1", events: [eventOf(1, "disk"), eventOf(2, "load", "ok")] }
      assert.deepStrictEqual(yield* use(() => client.events(batch)), { accepted: 2, deduplicated: 0 })
      assert.deepStrictEqual(yield* use(() => client.events(batch)), { accepted: 0, deduplicated: 2 })
      const { items } = yield* use(() => client.incidents.list({ agent_id: "web-1", state: "open" }))
      assert.deepStrictEqual(
        items.map(({ incident_key, severity, opened_at, resolved_at, summary }) => ({
          incident_key,
          severity,
          opened_at,
          resolved_at,
          summary,
        })),
        [
          {
            incident_key: "web-1/disk",
            severity: "critical",
            opened_at: NOW,
            resolved_at: null,
            summary: "disk critical",
          },
        ],
      )
      const detail = yield* use(() => client.incidents.get(items[0]?.id ?? ""))
      assert.deepStrictEqual(
        detail.timeline.map(({ change, check_id, at }) => [change, check_id, at]),
        [["joined", "disk", NOW]],
      )
      const explained = yield* use(() => client.checks.explain({ agent_id: "web-1", check_id: "disk" }))
      assert.strictEqual(explained.check.status, "critical")
      assert.strictEqual((yield* use(() => client.summary())).agents_online, 1)
      assert.deepStrictEqual(
        yield* use(() => client.checks.remove({ agent_id: "web-1", check_id: "load" })),
        {
          count: 1,
        },
      )
      assert.deepStrictEqual(yield* use(() => client.agents.remove("web-1")), { count: 1 })
      const gone = yield* rejection(() => client.agents.get("web-1"))
      assert.strictEqual(gone.code, "not_found")
    }),
  )

  it.effect("reads lists to their end, page after page", () =>
    Effect.gen(function* () {
      const names = Array.from({ length: 7 }, (_, n) => `paged-${n}`)
      for (const name of names) {
        const client = yield* promised(`key-of-${name}`)
        yield* use(() => client.heartbeat(heartbeatOf(name)))
      }
      const client = yield* promised()
      const all = yield* use(() => collect(client.agents.all({ limit: 3 })))
      assert.deepStrictEqual(
        all.map(({ agent_id }) => agent_id),
        names,
      )
      const first: Array<string> = []
      yield* use(async () => {
        for await (const { agent_id } of client.agents.all({ limit: 2 })) {
          first.push(agent_id)
          if (first.length === 3) break
        }
      })
      assert.deepStrictEqual(first, names.slice(0, 3))
      const page = yield* use(() => client.agents.list({ limit: 5 }))
      const rest = yield* use(() => client.agents.list({ limit: 5, cursor: page.next_cursor ?? "" }))
      assert.deepStrictEqual(
        [...page.items, ...rest.items].map(({ agent_id }) => agent_id),
        names,
      )
      const back = yield* use(() =>
        client.agents.list({ limit: 5, cursor: rest.prev_cursor ?? "", back: true }),
      )
      assert.deepStrictEqual(back.items, page.items)
      yield* use(() => client.agents.blockAll())
      assert.strictEqual((yield* use(() => collect(client.blacklist.all({ limit: 2 })))).length, 7)
      assert.deepStrictEqual(yield* use(() => client.blacklist.removeAll()), { count: 7 })
    }),
  )

  it.effect("previews a silence, creates, extends, finds and ends it", () =>
    Effect.gen(function* () {
      const { silences } = yield* promised()
      const comment = "new disks"
      const request = {
        matchers: [{ field: "check_id", op: "glob", value: "disk*" } as const],
        for: "2h",
        comment,
      }
      const preview = yield* use(() => silences.create(request, { dry_run: true }))
      const nothing = { open_incidents: 0, held_now: 0, needs_confirm: false, sample: [] }
      assert.deepInclude(preview, nothing)
      assert.deepStrictEqual((yield* use(() => silences.list())).items, [])

      const created = yield* use(() => silences.create(request))
      if (!("id" in created)) return assert.fail("it is a preview")
      const { id } = created
      assert.deepInclude(created, { state: "active", starts_at: NOW, ends_at: "2026-03-01T14:00:00.000Z" })
      assert.match(created.created_by, /^token-[0-9a-f]{8}$/)
      const ends_at = "2026-03-02T12:00:00.000Z"
      const extended = yield* use(() => silences.change(id, { ends_at }))
      assert.deepStrictEqual(extended, { ...created, ends_at })
      assert.deepStrictEqual(yield* use(() => silences.get(id)), extended)
      assert.deepStrictEqual(yield* use(() => collect(silences.all({ state: "active" }))), [extended])

      assert.deepStrictEqual(yield* use(() => silences.expire(id)), { count: 1 })
      assert.deepStrictEqual(yield* use(() => silences.expire(id)), { count: 0 })
      assert.strictEqual((yield* use(() => silences.get(id))).state, "expired")
      assert.deepStrictEqual((yield* use(() => silences.list({ state: "active" }))).items, [])
      const refused = yield* Effect.all([
        rejection(() => silences.change(id, { comment: "late" })),
        rejection(() => silences.get(uuidV7(0n, "no silence"))),
        rejection(() => silences.create({ ...request, ends_at })),
        rejection(() => silences.create({ ...request, matchers: [] })),
      ])
      assert.deepStrictEqual(
        refused.map(({ code, status }) => [code, status]),
        [
          ["conflict", 409],
          ["not_found", 404],
          ["validation", 400],
          ["validation", undefined],
        ],
      )
    }),
  )

  it.effect("tells of its notifiers", () =>
    Effect.gen(function* () {
      const client = yield* promised()
      const receipt = yield* use(() => client.notifiers.test("debug"))
      assert.deepStrictEqual(receipt, { outcome: "refused", status: 410, error: "it answered 410" })
      assert.strictEqual((yield* rejection(() => client.notifiers.test("webhook"))).code, "not_found")
      assert.isTrue(yield* use(() => client.isReady()))
      assert.deepStrictEqual(yield* use(() => client.health()), { status: "ok" })
    }),
  )

  it.effect("takes a field of a body that is undefined for none, as JSON does", () =>
    Effect.gen(function* () {
      const client = yield* promised()
      const id = uuidV7(1_772_366_400_000n, "no incident")
      const unset: object = { note: undefined, for: undefined }
      const refused = yield* rejection(() => client.incidents.acknowledge(id, unset))
      assert.strictEqual(refused.code, "not_found")
    }),
  )

  it.effect("refuses what does not fit the contract before it sends anything", () =>
    Effect.gen(function* () {
      const sent: Array<unknown> = []
      const { uiToken } = yield* Tocsin
      const client = createClient({
        baseUrl: yield* baseUrl,
        token: uiToken,
        agentKey: "a-key",
        fetch: (input) => {
          sent.push(input)
          return Promise.reject(new Error("nothing is to be sent"))
        },
      })
      const refused = yield* Effect.all([
        rejection(() =>
          client.events({ agent_id: "web-1", events: [{ ...eventOf(1, "disk"), observed_at: "now" }] }),
        ),
        rejection(() => client.agents.list({ limit: 501 })),
        rejection(() => client.agents.get("web 1")),
        rejection(() => client.incidents.get("no id")),
      ])
      for (const { code, status, requestId } of refused) {
        assert.deepStrictEqual([code, status, requestId], ["validation", undefined, undefined])
      }
      assert.match(refused[0]?.message ?? "", /^events\[0\]\.observed_at must be an RFC 3339 date-time/)
      assert.match(refused[1]?.message ?? "", /^limit must be an integer from 1 to 500/)
      assert.deepStrictEqual(sent, [])
    }),
  )

  it.effect("refuses parameters that it does not know", () =>
    Effect.gen(function* () {
      const client = yield* promised()
      const misspelt = { stat: "open" } as object
      for (const call of [
        () => client.incidents.list(misspelt),
        () => client.incidents.all(misspelt).next(),
        () => client.agents.acceptAll(misspelt),
      ]) {
        const { code, message } = yield* rejection(call)
        assert.deepStrictEqual([code, message], ["validation", "stat is not a known field"])
      }
      const { code, message } = yield* rejection(() => client.summary({ singal: undefined } as object))
      assert.deepStrictEqual([code, message], ["validation", "singal is not an option; did you mean signal?"])
      const further = { dryRun: true } as never
      for (const [call, text] of [
        [() => client.agents.accept("w", further), "dryRun is not an option: it takes signal"],
        [
          () => client.agents.accept("w", {}, ...([further] as unknown as [])),
          "dryRun is not an option: this call takes none",
        ],
        [() => client.agents.all({}, further).next(), "dryRun is not an option: it takes signal"],
        [() => client.health(further), "dryRun is not an option: it takes signal"],
        [
          () => client.policy.apply("{}", { confrm: true } as object),
          "confrm is not an option; did you mean confirm?",
        ],
      ] as const)
        assert.strictEqual((yield* rejection(call)).message, text)
    }),
  )

  it.effect("says which of its secrets a call needs", () =>
    Effect.gen(function* () {
      const address = yield* baseUrl
      const bare = createClient({ baseUrl: address })
      const asOperator = yield* rejection(() => bare.summary())
      const asAgent = yield* rejection(() => bare.heartbeat(heartbeatOf("web-1")))
      assert.deepStrictEqual([asOperator.code, asAgent.code], ["unauthorized", "unauthorized"])
      assert.match(asOperator.message, /option token/)
      assert.match(asAgent.message, /option agentKey/)
      const wrong = yield* rejection(() => createClient({ baseUrl: address, token: "wrong" }).summary())
      assert.deepStrictEqual([wrong.code, wrong.status], ["unauthorized", 401])
      const { readToken } = yield* Tocsin
      const reader = createClient({ baseUrl: address, token: readToken })
      assert.strictEqual((yield* rejection(() => reader.agents.blockAll())).code, "forbidden")
    }),
  )

  it.effect("ends a walk over a list at the item after the signal", () =>
    Effect.gen(function* () {
      const client = yield* promised("key-of-walked")
      for (const agent of ["walk-1", "walk-2", "walk-3"]) {
        const sender = yield* promised(`key-of-${agent}`)
        yield* use(() => sender.heartbeat(heartbeatOf(agent)))
      }
      const controller = new AbortController()
      const reason = new Error("enough")
      const seen: Array<string> = []
      const given = yield* rejection(async () => {
        for await (const { agent_id } of client.agents.all({}, { signal: controller.signal })) {
          seen.push(agent_id)
          controller.abort(reason)
        }
      })
      assert.strictEqual(given, reason)
      assert.lengthOf(seen, 1)
    }),
  )

  it.effect("gives a call up for a signal, with its reason", () =>
    Effect.gen(function* () {
      const { uiToken } = yield* Tocsin
      const address = yield* baseUrl
      const reason = new Error("the page was left")
      const hanging = (signal: AbortSignal | null | undefined) =>
        new Promise<Response>((_, reject) => {
          signal?.addEventListener("abort", () => reject(new Error("aborted by fetch")))
          queueMicrotask(() => controller.abort(reason))
        })
      const controller = new AbortController()
      const client = createClient({
        baseUrl: address,
        token: uiToken,
        fetch: (_, init) => hanging(init?.signal),
      })
      const { signal } = controller
      const given = yield* rejection(() => client.summary({ signal }))
      assert.strictEqual<unknown>(given, reason)
      const before = yield* rejection(() => client.incidents.list({}, { signal }))
      assert.strictEqual<unknown>(before, reason)
      const walk = yield* rejection(() => collect(client.incidents.all({}, { signal })))
      assert.strictEqual<unknown>(walk, reason)
    }),
  )
})

const effectClient = Layer.unwrap(
  Effect.map(Tocsin, ({ port, uiToken }) =>
    TocsinClient.layer({
      baseUrl: new URL(`http://127.0.0.1:${port}/`),
      token: Redacted.make(uiToken),
      agentKey: Redacted.make("key-of-an-effect"),
    }),
  ),
).pipe(Layer.provide(FetchHttpClient.layer), Layer.provideMerge(service))

layer(effectClient, { excludeTestServices: true })("a client for Effect", (it) => {
  it.effect("gives effects and streams over the same calls", () =>
    Effect.gen(function* () {
      const client = yield* TocsinClient
      assert.deepStrictEqual(yield* client.heartbeat(heartbeatOf("effect-1")), { accepted: false })
      assert.deepStrictEqual(yield* client.agents.acceptAll({ include_rotation: true }), { count: 1 })
      const agents = yield* Stream.runCollect(client.agents.all({ limit: 1 }))
      assert.deepStrictEqual(
        Array.from(agents, ({ agent_id }) => agent_id),
        ["effect-1"],
      )
      const absent = yield* client.agents
        .get("nobody")
        .pipe(Effect.catchIf(hasCode("not_found"), (error) => Effect.succeed(error.status)))
      assert.strictEqual(absent, 404)
    }),
  )
})
