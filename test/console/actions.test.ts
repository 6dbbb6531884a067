import { afterEach, assert, describe, it, vi } from "@effect/vitest"
import type { Silence } from "@tocsin/client"
import { Effect } from "effect"
import { createTestMonitor } from "tocsin/testing"
import { asFailure } from "../../packages/console/src/api/ApiFailure.ts"
import { accept, acceptAll } from "../../packages/console/src/state/agentActions.ts"
import { acknowledge } from "../../packages/console/src/state/incidentActions.ts"
import { replayAll } from "../../packages/console/src/state/outboxActions.ts"
import {
  create,
  expire,
  extend,
  keyMatchers,
} from "../../packages/console/src/features/silences/silenceActions.ts"
import { token } from "../../packages/console/src/state/session.ts"
import { act, message, question } from "../../packages/console/src/state/useAction.ts"
import { OPERATOR_TOKEN } from "../processes/api.ts"
import { DemoClient } from "./demo.ts"
import { testsFrom } from "@tocsin/testing/testsFrom"

/** Answers a call of the console, such as `POST ops/v1/silences`, in place of the service, which `carryOut` asks. */
type Answers = (call: string, carryOut: () => Promise<Response>) => Promise<Response | undefined> | undefined

/**
 * A service in this process, which the console's acts call. Lists come in pages of two, and the
 * receiver `pager` refuses its messages.
 */
const openService = Effect.gen(function* () {
  const refused = Promise.resolve({ outcome: "refused", error: "no such pager" } as const)
  const service: { answers: Answers; pager: Promise<Awaited<typeof refused>> } = {
    answers: () => undefined,
    pager: refused,
  }
  const monitor = yield* Effect.acquireRelease(
    Effect.promise(() =>
      createTestMonitor({
        startAt: new Date(performance.timeOrigin + performance.now()).toISOString(),
        operatorTokens: [OPERATOR_TOKEN],
        notifiers: [{ name: "pager", send: async () => await service.pager }],
      }),
    ),
    (opened) => Effect.promise(() => opened.close()),
  )
  vi.stubGlobal("fetch", async (input: string, init: RequestInit) => {
    const path = input.replace(/^.*\/(?=(api|ops)\/v1\/)/, "").replace("limit=500", "limit=2")
    const request = new Request(`http://tocsin/${path}`, init)
    const carryOut = () => monitor.fetch(request)
    return (await service.answers(`${request.method} ${path}`, carryOut)) ?? carryOut()
  })
  token.value = OPERATOR_TOKEN
  const demo = new DemoClient("http://tocsin")
  return { monitor, demo, service }
})

/** Answers the next question of the console. */
const answerNext = (isYes = true): Promise<string> =>
  new Promise((resolve) => {
    const end = question.subscribe((asked) => {
      if (asked === undefined) return
      queueMicrotask(() => {
        end()
        resolve(asked.text)
        asked.answer(isYes)
      })
    })
  })

const unavailable = async () => new Response("", { status: 503 })

/** Opens an incident for each check. */
const fail = async (demo: DemoClient, checks: ReadonlyArray<string>): Promise<void> => {
  await demo.join("host")
  await demo.report(
    "host",
    checks.map((check_id) => ({ check_id, status: "critical", output: `${check_id} is down` })),
  )
}

const test = testsFrom(openService, it.effect)

describe("acts of the console", () => {
  afterEach(() => {
    vi.unstubAllGlobals()
    token.value = ""
  })

  test("replay all failed ones of all pages, but not those that others replay meanwhile", function* (opened) {
    const { monitor, demo, service } = opened
    yield* Effect.promise(async () => {
      await fail(demo, ["a", "b", "c", "d", "e"])
      await monitor.settle()
      // A replayed letter stays under way.
      service.pager = new Promise(() => undefined)
      const replayed: Array<string> = []
      service.answers = async (call) => {
        if (!call.endsWith("/replay")) return undefined
        if (replayed.push(call.split("/").at(-2) ?? "") > 1) return undefined
        await demo.call("POST", call.slice("POST ".length))
        return undefined
      }
      const shown: Array<string> = []
      const asked = answerNext()
      const done = await replayAll({
        follow: async () => "",
        shows: (text) => void shown.push(text),
        isStopped: () => false,
      })
      assert.strictEqual(
        await asked,
        "Send all 5 failed notifications again? Each was attempted before: no silence and no acknowledgement holds it.",
      )
      assert.strictEqual(
        done?.text,
        "Replayed 4 notifications; left out 1: replayed already, or its incident is over",
      )
      assert.deepStrictEqual([shown.length, shown.at(-1)], [6, "waiting for the outcome"])
      // Of one incident, the worse firing came later: it must not be sent first.
      assert.deepStrictEqual(replayed, replayed.toSorted())
    })
  })

  it.effect("end the offer to undo the act before, also while they are under way", () =>
    Effect.promise(async () => {
      await act(async () => ({ text: "Ended the silence", undo: async () => ({ text: "Undone" }) }))
      assert.strictEqual(message.value?.text, "Ended the silence")
      let shown: unknown
      await act(async () => {
        shown = message.value
        return { text: "Acknowledged" }
      })
      assert.deepStrictEqual([shown, message.value], [undefined, { text: "Acknowledged" }])
    }),
  )

  test("say how many keys were accepted before a failure", function* ({ demo, service }) {
    yield* Effect.promise(async () => {
      for (const id of ["host-1", "host-2", "host-3"]) await demo.heartbeat(id)
      service.answers = (call) => (call.endsWith("host-3/accept") ? unavailable() : undefined)
      const accepted = accept(["host-1", "host-2", "host-3"])
      const failure = await accepted.then(() => assert.fail("it did not reject"), asFailure)
      assert.strictEqual(failure.message, "Accepted 2 agents, then the server is unavailable (503)")
    })
  })

  test("say how many agents are left after all were to be accepted", function* ({ demo, service }) {
    yield* Effect.promise(async () => {
      for (const id of ["host-1", "host-2"]) await demo.heartbeat(id)
      // One agent is locked, and skipped.
      service.answers = async (call) => {
        if (!call.endsWith("/accept-all")) return undefined
        await accept(["host-1"])
        return Response.json({ count: 1 })
      }
      const first = await acceptAll()
      assert.strictEqual(first.text, "Accepted 1 agent; 1 agent still pending: accept all again")
      service.answers = () => undefined
      assert.strictEqual((await acceptAll()).text, "Accepted 1 agent")
    })
  })

  test("create a silence for each key once, also where a failure comes between two", function* (opened) {
    const { demo, service } = opened
    yield* Effect.promise(async () => {
      await fail(demo, ["a", "b", "c"])
      const lists = ["host/a", "host/b", "host/c"].map(keyMatchers)
      const silences = { lists, ends: { for: "1h" }, startsAt: undefined, comment: "a move" }
      let creations = 0
      const calls: Array<string> = []
      service.answers = (call) =>
        calls.push(call) > 0 && call === "POST ops/v1/silences" && [2, 3].includes((creations += 1))
          ? unavailable()
          : undefined
      const made: Array<unknown> = []
      const created = create(silences, (matchers) => void made.push(matchers))
      const failure = await created.then(() => assert.fail("it did not reject"), asFailure)
      assert.strictEqual(failure.message, "Created 1 silence, then the server is unavailable (503)")
      // Of a key's incidents, no count is asked for.
      assert.deepStrictEqual(calls, Array(3).fill("POST ops/v1/silences"))
      const left = lists.filter((matchers) => !made.includes(matchers))
      const done = await create({ ...silences, lists: left }, () => undefined)
      assert.strictEqual(done?.text, "Created 2 silences")
      const { items } = (await demo.call("GET", "ops/v1/silences")) as {
        readonly items: ReadonlyArray<Silence>
      }
      const keys = items.map(({ matchers }) => matchers[0]?.value)
      assert.deepStrictEqual(keys.toSorted(), ["host/a", "host/b", "host/c"])
    })
  })

  test("create a silence once, also where the answer to the first try was lost", function* (opened) {
    const { demo, service } = opened
    yield* Effect.promise(async () => {
      const silences = {
        lists: [keyMatchers("host/a")],
        ends: { for: "1h" },
        startsAt: undefined,
        comment: "a move",
      }
      const count = async () =>
        ((await demo.call("GET", "ops/v1/silences")) as { readonly items: ReadonlyArray<Silence> }).items
          .length
      service.answers = async (call, carryOut) => {
        if (call !== "POST ops/v1/silences") return undefined
        await carryOut()
        return await unavailable()
      }
      const lost = create(silences, () => undefined)
      const failure = await lost.then(() => assert.fail("it did not reject"), asFailure)
      assert.strictEqual(failure.code, "unavailable")
      service.answers = () => undefined
      assert.strictEqual((await create(silences, () => undefined))?.text, "Created 1 silence")
      assert.strictEqual(await count(), 1)
      await create(silences, () => undefined)
      assert.strictEqual(await count(), 2)
    })
  })

  test("extend and expire a silence as it is by now, and undo nothing that others changed since", function* ({
    demo,
  }) {
    yield* Effect.promise(async () => {
      const body = { matchers: keyMatchers("host/a"), for: "1h", comment: "a move" }
      const silence = (await demo.call("POST", "ops/v1/silences", body)) as Silence
      const address = `ops/v1/silences/${silence.id}`
      const later = (hours: number) =>
        new Date(Date.parse(silence.ends_at) + hours * 3_600_000).toISOString().slice(0, 16)
      const end = async () => ((await demo.call("GET", address)) as Silence).ends_at.slice(0, 16)
      await extend(silence)
      await extend(silence)
      assert.strictEqual(await end(), later(2))

      const extended = await extend(silence)
      assert.strictEqual((await extended.undo?.())?.text, "Undone")
      assert.strictEqual(await end(), later(2))
      const { undo } = await extend(silence)
      await demo.call("PATCH", address, { ends_at: `${later(20)}:00Z` })
      assert.strictEqual((await undo?.())?.text, "Left the end as it is: it was moved again")
      assert.strictEqual(await end(), later(20))

      const expired = await expire(silence)
      await expired.undo?.()
      const { items } = (await demo.call("GET", "ops/v1/silences?state=active")) as {
        readonly items: ReadonlyArray<Silence>
      }
      assert.deepStrictEqual(
        items.map(({ ends_at }) => ends_at.slice(0, 16)),
        [later(20)],
      )
    })
  })

  test("withdraw at Undo only acknowledgements that are still the ones they made", function* (opened) {
    const { monitor, demo } = opened
    yield* Effect.promise(async () => {
      await fail(demo, ["a", "b", "c"])
      const open = async (query: string) =>
        (await demo.call("GET", `ops/v1/incidents?state=open${query}`)) as {
          readonly items: ReadonlyArray<{ readonly id: string }>
        }
      const ids = (await open("")).items.map(({ id }) => id)
      const done = await acknowledge(ids)
      assert.strictEqual(done?.text, "Acknowledged 3 incidents")
      await monitor.advance("1s")
      await demo.call("PUT", `ops/v1/incidents/${ids[1]}/acknowledgement`, { note: "mine" })
      await demo.call("DELETE", `ops/v1/incidents/${ids[2]}/acknowledgement`)
      assert.strictEqual(
        (await done?.undo?.())?.text,
        "Withdrew 1 acknowledgement; left out 1 acknowledged again",
      )
      assert.deepStrictEqual(
        (await open("&acknowledged=true")).items.map(({ id }) => id),
        ids.slice(1, 2),
      )
    })
  })

  test("ask before they acknowledge more incidents than a reader has in sight", function* ({ demo }) {
    yield* Effect.promise(async () => {
      await fail(demo, "abcdefghijk".split(""))
      const { items } = (await demo.call("GET", "ops/v1/incidents?state=open")) as {
        readonly items: ReadonlyArray<{ readonly id: string }>
      }
      const asked = answerNext(false)
      const done = await acknowledge(items.map(({ id }) => id))
      assert.isUndefined(done)
      assert.strictEqual(await asked, "Acknowledge 11 incidents?")
    })
  })

  test("say how many notifications they replayed before a failure", function* ({ monitor, demo, service }) {
    yield* Effect.promise(async () => {
      await fail(demo, ["a", "b", "c"])
      await monitor.settle()
      let replays = 0
      service.answers = (call) =>
        call.endsWith("/replay") && [3, 4].includes((replays += 1)) ? unavailable() : undefined
      void answerNext()
      const replayed = replayAll({ follow: async () => "", shows: () => undefined, isStopped: () => false })
      const failure = await replayed.then(() => assert.fail("it did not reject"), asFailure)
      assert.deepStrictEqual(
        [failure.message, failure.code],
        ["Replayed 2 notifications, then the server is unavailable (503)", "unavailable"],
      )
    })
  })
})
