import { assert, describe, it } from "@effect/vitest"
import { AgentId } from "@tocsin/contract/formats/Identifiers"
import { Duration, Effect } from "effect"
import { AGENT, enroll, heartbeat, report } from "../service/agents.ts"
import { settled } from "../service/settled.ts"
import { openUnder } from "./PolicyStory.ts"

const DEPENDENCY = { parent: ["check_id = uplink"], child: ["check_id glob web*"], equal: ["agent_id"] }
const under = (...dependencies: ReadonlyArray<object>) =>
  openUnder({ receivers: { chat: { kind: "debug" } }, dependencies })

describe("a parent that is open", () => {
  it.effect("holds the firings of its children, and their own recovery ends them unsent", () =>
    Effect.gen(function* () {
      const { after, keyed, turns } = yield* under(DEPENDENCY)
      yield* turns("uplink", "critical")
      yield* turns("web", "critical")
      yield* after("20 minutes")
      assert.deepStrictEqual(keyed(), ["a/uplink opened critical"])
      yield* turns("uplink", "ok")
      yield* after("1 minute")
      yield* turns("web", "ok")
      yield* after("20 minutes")
      assert.deepStrictEqual(keyed(), ["a/uplink opened critical", "a/uplink resolved critical"])
    }),
  )

  it.effect.each([
    ["returns", "critical"],
    ["ends", "ok"],
  ] as const)("holds no longer than ten minutes from its first end on, however often it %s", ([, last]) =>
    Effect.gen(function* () {
      const { after, keyed, turns } = yield* under(DEPENDENCY)
      yield* turns("uplink", "critical")
      yield* turns("web", "critical")
      yield* after("1 hour")
      for (let minute = 0; minute < 9; minute++) {
        yield* turns("uplink", minute % 2 === 0 ? "ok" : "critical")
        yield* after("1 minute")
      }
      yield* turns("uplink", "critical")
      yield* after("20 seconds")
      yield* turns("uplink", last)
      yield* after("35 seconds")
      assert.notInclude(keyed(), "a/web opened critical")
      yield* after("20 seconds")
      assert.include(keyed(), "a/web opened critical")
    }),
  )

  it.effect("holds although it is held itself, in quiet hours too", () =>
    Effect.gen(function* () {
      const quiet = { hours: "08:00-10:00", tz: "Europe/Berlin", below: "critical" }
      const { after, held, keyed, turns } = yield* openUnder({
        receivers: { chat: { kind: "debug", quiet } },
        dependencies: [DEPENDENCY],
      })
      yield* turns("uplink", "warning")
      yield* turns("web", "warning")
      assert.deepStrictEqual(yield* held, ["quiet until 30", "quiet, parent:a/uplink until NaN"])
      yield* turns("web-2", "critical")
      yield* after("1 hour")
      assert.deepStrictEqual(keyed(), ["a/web-2 opened critical", "a/uplink opened warning"])
    }),
  )

  it.effect("that is a warning in quiet hours lets its critical child through", () =>
    Effect.gen(function* () {
      const quiet = { hours: "08:00-10:00", tz: "Europe/Berlin", below: "critical" }
      const { after, held, keyed, turns } = yield* openUnder({
        receivers: { chat: { kind: "debug", quiet } },
        dependencies: [DEPENDENCY],
      })
      yield* turns("uplink", "warning")
      yield* turns("web", "warning")
      yield* after("1 minute")
      yield* turns("web", "critical")
      yield* after("15 seconds")
      assert.deepStrictEqual(keyed(), ["a/web opened critical"])
      assert.deepStrictEqual(yield* held, ["quiet until 30"])
    }),
  )

  it.effect("holds nothing that was silent when it became a parent", () =>
    Effect.gen(function* () {
      const { keyed, turns } = yield* under(DEPENDENCY)
      yield* turns("uplink", "critical", { loud: false })
      yield* turns("web", "critical")
      assert.deepStrictEqual(keyed(), ["a/web opened critical"])
    }),
  )

  it.effect("holds a child in which each loud member has one", () =>
    Effect.gen(function* () {
      const { after, keyed, process, turns } = yield* under(DEPENDENCY)
      const other = AgentId.make("b")
      yield* enroll(process, other)
      yield* turns("uplink", "critical")
      yield* turns("web", "critical", { key: "shop" })
      yield* after("10 seconds")
      assert.lengthOf(keyed(), 1)
      yield* report(process, [{ check: "web", status: "critical", key: "shop" }], other)
      // The firing waits for the recovery of what its parent explained.
      yield* after("150 seconds")
      assert.deepStrictEqual(keyed().slice(1), ["shop opened critical"])
    }),
  )

  it.effect(
    "that is the third of its child has not ended as a check joins that none explains, of two at once",
    () =>
      Effect.gen(function* () {
        const { after, keyed, process, turns } = yield* under({
          ...DEPENDENCY,
          parent: ["check_id glob uplink*"],
        })
        const agents = [AGENT, AgentId.make("b")]
        yield* enroll(process, AgentId.make("b"))
        yield* turns("uplink-3", "warning")
        yield* report(process, [{ check: "uplink-3", status: "warning" }], AgentId.make("b"))
        for (const agent of agents)
          yield* report(process, [{ check: "web", status: "warning", key: `shop-${agent}` }], agent)
        yield* after("1 minute")
        assert.deepStrictEqual(keyed(), ["a/uplink-3 opened warning", "b/uplink-3 opened warning"])
        for (const agent of agents) {
          const worse = ["uplink-1", "uplink-2"].map((check) => ({ check, status: "critical" }) as const)
          const joins = { check: "disk", status: "warning", key: `shop-${agent}` } as const
          yield* report(process, [...worse, joins], agent)
        }
        yield* after("20 seconds")
        assert.includeMembers(keyed(), ["shop-a opened warning", "shop-b opened warning"])
      }),
  )

  it.effect("holds one hop further though it is held", () =>
    Effect.gen(function* () {
      const { after, held, turns } = yield* under(
        { parent: ["check_id = uplink"], child: ["check_id = switch"], equal: ["agent_id"] },
        { parent: ["check_id = switch"], child: ["check_id = web"], equal: ["agent_id"] },
      )
      yield* turns("uplink", "critical")
      yield* turns("switch", "critical")
      yield* turns("web", "critical")
      yield* after("10 seconds")
      assert.deepStrictEqual(yield* held, ["parent:a/uplink until NaN", "parent:a/switch until NaN"])
    }),
  )

  it.effect("ends as a parent under a policy without it", () =>
    Effect.gen(function* () {
      const { after, keyed, replace, turns } = yield* under(DEPENDENCY)
      yield* turns("uplink", "critical")
      yield* turns("web", "critical")
      yield* replace({ receivers: { chat: { kind: "debug" } } })
      yield* after("140 seconds")
      assert.deepStrictEqual(keyed(), ["a/uplink opened critical", "a/web opened critical"])
    }),
  )
})

const HOSTS = {
  parent: ["incident_key glob */@heartbeat"],
  child: ["check_id glob ping*"],
  equal: ["label:host"],
}

describe("a host that is dead", () => {
  /** Host `b` falls silent, and `a` reports its check. */
  const open = Effect.fnUntraced(function* (dependency: object) {
    const { after, process, ...rest } = yield* openUnder(
      { receivers: { chat: { kind: "debug" } }, dependencies: [dependency] },
      { deadAfter: Duration.minutes(5) },
    )
    const [watcher, host] = [AgentId.make("a"), AgentId.make("b")]
    const label = (agent: AgentId, labels: Record<string, string>) => heartbeat(process, agent, labels)
    yield* enroll(process, host)
    yield* label(host, { host: "b" })
    yield* label(watcher, { host: "b" })
    /** Time passes while the watcher, and the host if it is up, send heartbeats. */
    const pass = Effect.fnUntraced(function* (seconds: number, isUp = false) {
      for (let passed = 0; passed < seconds; passed += 30) {
        yield* after(Duration.seconds(Math.min(30, seconds - passed)))
        yield* label(watcher, { host: "b" })
        if (isUp) yield* label(host, { host: "b" })
      }
      yield* settled
    })
    return { ...rest, process, after, pass }
  })

  it.effect("holds what depends on it, which is never sent if it recovers with it", () =>
    Effect.gen(function* () {
      const { held, keyed, pass, turns } = yield* open({ ...HOSTS, grace: "3m" })
      yield* pass(60)
      yield* turns("ping-b", "critical")
      assert.deepStrictEqual(yield* held, ["parent_grace until 4"])
      // Stale after two minutes, dead after five.
      yield* pass(230)
      assert.deepStrictEqual(keyed(), [])
      yield* pass(3_600)
      assert.deepStrictEqual(keyed(), ["b/@heartbeat opened critical"])
      yield* pass(60, true)
      yield* turns("ping-b", "ok")
      yield* pass(600, true)
      assert.deepStrictEqual(keyed(), ["b/@heartbeat opened critical", "b/@heartbeat resolved critical"])
    }),
  )

  it.effect("that was only stale lets them be sent two minutes after it returned", () =>
    Effect.gen(function* () {
      const { held, keyed, pass, turns } = yield* open(HOSTS)
      yield* pass(150)
      yield* turns("ping-b", "critical")
      assert.deepStrictEqual(yield* held, ["parent:b/@heartbeat until NaN"])
      yield* pass(30, true)
      yield* pass(90, true)
      assert.deepStrictEqual(keyed(), [])
      yield* pass(60, true)
      assert.deepStrictEqual(keyed(), ["a/ping-b opened critical"])
    }),
  )

  it.effect("that stays alive lets them be sent after the grace", () =>
    Effect.gen(function* () {
      const { keyed, pass, turns } = yield* open({ ...HOSTS, grace: "3m" })
      yield* turns("ping-b", "critical")
      yield* pass(170, true)
      assert.deepStrictEqual(keyed(), [])
      yield* pass(30, true)
      assert.deepStrictEqual(keyed(), ["a/ping-b opened critical"])
    }),
  )
})
