import { assert, describe, expect, it } from "@effect/vitest"
import { createMonitor, isTocsinError, memory } from "tocsin"
import { createTestMonitor } from "tocsin/testing"

const codeOf = (call: Promise<unknown>) =>
  call.then(
    () => "none",
    (error: unknown) => (isTocsinError(error) ? error.code : error),
  )

describe("monitor.agent", () => {
  it("reports in two lines, and its incident resolves", async () => {
    await using monitor = await createMonitor({ storage: memory(), log: false })
    const changes = monitor.incidentChanges()
    const shop = await monitor.agent("shop", { by: "ann" })
    shop.report("orders", "critical", "no order for an hour")
    assert.deepInclude((await changes.next()).value?.incident, {
      incident_key: "shop/orders",
      severity: "critical",
      summary: "no order for an hour",
    })
    shop.report("orders", "ok")
    assert.strictEqual((await changes.next()).value?.type, "resolved")
    assert.deepStrictEqual(
      (await monitor.audit.list({ actor: "ann" })).items.map(({ action }) => action),
      ["agent.accepted"],
    )
  })

  it("opens after an attempt that failed once the agent was pending", async () => {
    await using monitor = await createTestMonitor()
    await expect(monitor.agent("shop", { by: JSON.parse("5") })).rejects.toThrow(
      "by must be a string of 1 to 256 characters without control characters",
    )
    const shop = await monitor.agent("shop")
    shop.report("orders", "ok")
    await monitor.settle()
    assert.deepInclude(shop.state(), { admission: "accepted", delivered: 1 })
  })

  it("sends each change of a test while the clock stands still", async () => {
    await using monitor = await createTestMonitor()
    const shop = await monitor.agent("shop")
    for (const status of ["critical", "ok", "critical"] as const) {
      shop.report("orders", status)
      await monitor.settle()
    }
    assert.deepStrictEqual(
      monitor.notifications.map(({ event_type }) => event_type),
      ["firing", "resolved", "firing"],
    )
  })

  it("runs checks by the clock of a test, declares them, and is missed when it stops", async () => {
    await using monitor = await createTestMonitor()
    const shop = await monitor.agent("shop")
    let waiting = 5
    for (const labels of [{ auth: "ldap" }, JSON.parse('{"team":5}'), JSON.parse('"team"')])
      assert.throws(
        () => shop.check("orders", { every: "1m", labels }, () => {}),
        /^labels of the check orders /,
      )
    shop.check("orders", { every: "1m", incidentKey: "orders", labels: { team: "sales" } }, () => {
      if (waiting > 100) throw new Error(`${waiting} orders wait`)
      return `${waiting} orders wait`
    })
    await monitor.advance("10s")
    assert.deepInclude((await monitor.checks.list()).items[0], { status: "ok", summary: "5 orders wait" })
    const [declared] = (await monitor.checks.expected.list()).items
    assert.isNotNull(declared?.expected_at)
    assert.deepStrictEqual(declared?.labels, { team: "sales" })
    waiting = 101
    await monitor.advance("1m")
    const [open] = (await monitor.incidents.list({ state: "open" })).items
    assert.deepInclude(open, { incident_key: "orders", severity: "critical", summary: "101 orders wait" })
    await monitor.advance("1h")
    assert.strictEqual((await monitor.agents.get("shop")).status, "alive")
    await shop.close()
    shop.report("orders", "ok")
    await monitor.advance("10m")
    assert.strictEqual((await monitor.agents.get("shop")).status, "dead")
    assert.deepInclude(shop.state(), { queued: 0, inFlight: 0, dropped: 1, admission: "accepted" })
  })

  it("counts what it delivered and lost when it closes", async () => {
    await using monitor = await createTestMonitor()
    const shop = await monitor.agent("shop")
    shop.report("orders", "ok")
    await monitor.settle()
    assert.deepStrictEqual(await shop.close(), { delivered: 1, dropped: 0 })
    const other = await monitor.agent("other")
    await monitor.agents.remove("other")
    other.report("orders", "ok")
    assert.deepStrictEqual(await other.close(), { delivered: 0, dropped: 1 })
    assert.deepStrictEqual(await other.close(), { delivered: 0, dropped: 1 })
  })

  it("refuses options that it does not know", async () => {
    await using monitor = await createTestMonitor()
    const misspelt = { hostnme: "web-1" } as object
    const refusal = await monitor.agent("shop", misspelt).then(String, (error: unknown) => error)
    expect(refusal).toMatchObject({
      code: "validation",
      message: "hostnme is not an option; did you mean hostname?",
    })
    const shop = await monitor.agent("shop")
    const message = "incident_key is not an option; did you mean incidentKey?"
    assert.throws(() => shop.report("orders", "ok", "", { incident_key: "a" } as object), message)
    assert.throws(() => shop.check("orders", { every: "1m", incident_key: "a" } as never, () => {}), message)
  })

  it("ends a check at its time limit, and does not start it again while it runs", async () => {
    await using monitor = await createTestMonitor()
    const shop = await monitor.agent("shop")
    const started: Array<AbortSignal> = []
    const end = shop.check("slow", { every: "20s", timeout: "5s" }, (signal) => {
      started.push(signal)
      return new Promise<string>(() => {})
    })
    await monitor.advance("6s")
    await monitor.advance("1s")
    const [check] = (await monitor.checks.list()).items
    assert.deepInclude(check, { status: "unknown", exit_code: 124, summary: "timed out after 5 s" })
    assert.isTrue(started[0]?.aborted)
    await monitor.advance("40s")
    assert.lengthOf(started, 1)
    assert.match((await monitor.checks.list()).items[0]?.summary ?? "", /^still running after \d+ s$/)
    end()
    await monitor.advance("2s")
    assert.isNull((await monitor.checks.expected.list()).items[0]?.expected_at ?? null)
  })

  it("takes over its ID with another key, and shares it with the same one", async () => {
    await using monitor = await createTestMonitor()
    const first = await monitor.agent("shop")
    const second = await monitor.agent("shop", { key: "shared" })
    const third = await monitor.agent("shop", { key: "shared" })
    for (const [agent, text] of [
      [first, "first"],
      [second, "second"],
      [third, "third"],
    ] as const)
      agent.report(text, "warning", text)
    await monitor.advance("1m")
    assert.sameMembers(
      (await monitor.checks.list()).items.map(({ check_id }) => check_id),
      ["second", "third"],
    )
    assert.deepInclude(first.state(), { admission: "conflict", queued: 1 })
  })

  it("refuses what the server would refuse", async () => {
    await using monitor = await createTestMonitor()
    assert.strictEqual(await codeOf(monitor.agent("no name")), "validation")
    const features = { push: true, metrics: false }
    const heartbeat = { agent_id: "taken", observed_at: monitor.now(), hostname: "h", features }
    await monitor.heartbeat("a-stranger's-key", heartbeat)
    assert.strictEqual(await codeOf(monitor.agent("taken")), "conflict")
    const shop = await monitor.agent("shop")
    const refused: ReadonlyArray<() => void> = [
      () => shop.report("no name", "ok"),
      () => shop.report("orders", "fine" as "ok"),
      () => shop.report("orders", "ok", "", { incidentKey: "" }),
      () => shop.report("orders", "ok", "", { durationMillis: -1 }),
      () => void shop.check("orders", { every: "0.5s" }, () => {}),
      () => void shop.check("orders", { every: "1m", timeout: "soon" as "1s" }, () => {}),
    ]
    for (const report of refused) assert.throws(report, Error)
    await shop.close()
    await monitor.close()
    assert.strictEqual(await codeOf(monitor.agent("late")), "closed")
  })

  it("is refused where the monitor closes while it opens", async () => {
    const monitor = await createMonitor({ storage: memory(), log: false, notifiers: [] })
    const opening = codeOf(monitor.agent("shop"))
    await monitor.close()
    assert.strictEqual(await opening, "closed")
  })

  it("is no longer the monitor's once it is closed", async () => {
    const monitor = await createMonitor({ storage: memory(), log: false, notifiers: [] })
    const agents = [await monitor.agent("ended"), await monitor.agent("open")]
    await agents[0]?.close()
    const closed: Array<string> = []
    for (const agent of agents) {
      const { close } = agent
      Object.assign(agent, { close: () => (closed.push(agent.agentId), close()) })
    }
    await monitor.close()
    assert.deepStrictEqual(closed, ["open"])
  })
})
