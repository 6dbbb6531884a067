import { assert, describe, it } from "@effect/vitest"
import { AgentId, CheckId } from "@tocsin/contract/formats/Identifiers"
import { agentRecord, checkRecord, registrationIdOf } from "@tocsin/testing/records"
import { heldAfter, largeRows } from "@tocsin/testing/largeRows"
import { AgentCache, type KnownAgent } from "../../src/cache/AgentCache.ts"

const idOf = (name: string) => AgentId.make(name)

/** The state after a transaction that found the agent at `found`. */
const known = (name: string, { checks = 0, version = 1, found = 1 } = {}): KnownAgent => {
  const agent = agentRecord(name)
  return {
    agent: { row: agent, version },
    found,
    checks: Array.from({ length: checks }, (_, n) => {
      const row = checkRecord(agent, `check-${n}`)
      return [row.check_id, { row, version }] as const
    }),
  }
}

const largeAgent = (n: number, of: "labels" | "titles"): KnownAgent => {
  const { agent, check } = largeRows(n, of)
  return {
    agent: { row: agent, version: 1 },
    found: 1,
    checks: [[check.check_id, { row: check, version: 1 }]],
  }
}

/** About what a small row takes. */
const ROW = 700

describe("AgentCache", () => {
  it.each(["labels", "titles"] as const)(
    "holds no more bytes than it may, whatever the size of %s, summaries and IDs",
    (of) => {
      const cache = new AgentCache(4_000_000)
      const held = heldAfter(() => {
        for (let n = 0; n < 2_000; n++) cache.keep(largeAgent(n, of), "run")
      })
      assert.isBelow(held, 5_000_000)
      assert.isDefined(cache.find(idOf("agent-1999")))
    },
  )

  it("looks at labels once for all heartbeats that repeat them, and again when the host changes", () => {
    let looks = 0
    const labels = new Proxy({ role: "web" }, { ownKeys: (all) => ((looks += 1), Reflect.ownKeys(all)) })
    const cache = new AgentCache(10 * ROW)
    const looksAt = (version: number, hostname: string) => {
      looks = 0
      const row = agentRecord("a", { labels, hostname })
      cache.keep({ agent: { row, version }, found: version - 1, checks: [] }, "run")
      return looks
    }
    assert.strictEqual(looksAt(1, "web-01"), 1)
    assert.deepStrictEqual([looksAt(2, "web-01"), looksAt(3, "web-01")], [0, 0])
    assert.isAbove(looksAt(4, "web-02"), 0)
  })

  it("keeps a limited number of rows, and drops the least recently used agents", () => {
    const cache = new AgentCache(10 * ROW)
    for (const name of ["a", "b"]) cache.keep(known(name, { checks: 3 }), "run")
    cache.keep(known("a", { version: 2 }), "run")
    cache.keep(known("c", { checks: 3 }), "run")
    assert.isUndefined(cache.find(idOf("b")))
    assert.strictEqual(cache.find(idOf("a"))?.version, 2)
    assert.strictEqual(cache.find(idOf("a"))?.checks.size, 3)
    cache.keep(known("huge", { checks: 10 }), "run")
    assert.deepStrictEqual(
      ["a", "c", "huge"].map((name) => cache.find(idOf(name))),
      [undefined, undefined, undefined],
    )
  })

  it("keeps nothing if its limit is 0", () => {
    const cache = new AgentCache(0)
    cache.keep(known("a"), "run")
    assert.isUndefined(cache.find(idOf("a")))
  })

  it("drops checks that are absent, and those of a former registration", () => {
    const cache = new AgentCache(10 * ROW)
    cache.keep(known("a", { checks: 3 }), "run")
    cache.keep({ ...known("a"), checks: [[CheckId.make("check-0"), undefined]] }, "run")
    assert.strictEqual(cache.find(idOf("a"))?.checks.size, 2)
    const row = agentRecord("a", { registration_id: registrationIdOf("another") })
    cache.keep({ agent: { row, version: 3 }, found: 2, checks: [] }, "run")
    assert.strictEqual(cache.find(idOf("a"))?.checks.size, 0)
  })

  it("drops the checks of an agent that another process changed, except those that were loaded", () => {
    const cache = new AgentCache(10 * ROW)
    cache.keep(known("a", { checks: 3 }), "run")
    cache.keep(known("a", { checks: 1, version: 3, found: 2 }), "run")
    assert.deepStrictEqual(Array.from(cache.find(idOf("a"))?.checks.keys() ?? []), [CheckId.make("check-0")])
    cache.keep(known("a", { version: 4, found: 3 }), "run")
    assert.strictEqual(cache.find(idOf("a"))?.checks.size, 1)
  })

  it("drops everything after a crash of the server or a failover", () => {
    const cache = new AgentCache(10 * ROW)
    cache.keep(known("a"), "run")
    cache.keep(known("b"), "another run")
    assert.isUndefined(cache.find(idOf("a")))
    assert.strictEqual(cache.serverRun, "another run")
  })

  it("leaves an agent uncached for a while after it was stale twice in a row", () => {
    const cache = new AgentCache(10 * ROW)
    const keep = () => cache.keep(known("a"), "run")
    const isKept = () => cache.find(idOf("a")) !== undefined
    keep()
    cache.dropStale(idOf("a"))
    keep()
    assert.isTrue(isKept())
    cache.confirm(idOf("a"))
    cache.dropStale(idOf("a"))
    keep()
    assert.isTrue(isKept())
    cache.dropStale(idOf("a"))
    let transactions = 0
    while (!isKept() && transactions < 100) {
      keep()
      transactions += 1
    }
    assert.strictEqual(transactions, 33)
    cache.dropStale(idOf("a"))
    keep()
    assert.isFalse(isKept())
  })

  it("forgets that an agent was stale once ten thousand others were since", () => {
    const cache = new AgentCache(10 * ROW)
    cache.dropStale(idOf("a"))
    for (let n = 0; n < 10_000; n++) cache.dropStale(idOf(`other-${n}`))
    cache.dropStale(idOf("a"))
    cache.keep(known("a"), "run")
    assert.isDefined(cache.find(idOf("a")))
  })

  it("drops rows that were neither read nor written for an hour, before transaction ids repeat", () => {
    let millis = 0
    const cache = new AgentCache(10 * ROW, () => millis)
    const isKeptAt = (minutes: number) => {
      millis = minutes * 60_000
      return cache.find(idOf("a")) !== undefined
    }
    cache.keep(known("a"), "run")
    assert.isTrue(isKeptAt(50))
    cache.keep(known("a", { version: 2 }), "run")
    assert.deepStrictEqual([isKeptAt(110), isKeptAt(111), isKeptAt(60)], [true, false, false])
  })
})
