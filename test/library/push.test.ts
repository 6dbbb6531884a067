import { assert, it } from "@effect/vitest"
import { createMonitor, isTocsinError, memory } from "tocsin"
import { makeBrowser } from "../../packages/adapter-notify/test/push/PushBrowser.ts"

const secretsKey = "5a".repeat(32)

it("a monitor notifies browsers by its option, which names what is missing or wrong", async () => {
  const keys = makeBrowser()
  const policy = { receivers: { ann: { kind: "messenger", type: "browser", operator: "ann" } } } as const
  const options = { storage: memory(), policy, publicUrl: "https://ops.example", log: false } as const
  await using monitor = await createMonitor({
    ...options,
    secretsKey,
    push: { services: ["http://127.0.0.1:1"] },
  })
  const { token } = await monitor.operators.create({ name: "ann", role: "read" })
  const call = async (path: string, body?: object) => {
    const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" }
    const request = new Request(`https://ops.example/ops/v1/${path}`, {
      headers,
      ...(body && { method: "POST", body: JSON.stringify(body) }),
    })
    const answer = await monitor.fetch(request)
    return [answer.status, (await answer.json()) as Readonly<Record<string, unknown>>] as const
  }
  const [, state] = await call("push")
  assert.deepStrictEqual(Object.keys(state), ["public_key", "receiver"])
  const given = { endpoint: "http://127.0.0.1:1/1", keys: { p256dh: keys.publicKey, auth: keys.auth } }
  const [status, row] = await call("subscriptions", given)
  assert.deepStrictEqual([status, row["service"]], [201, "127.0.0.1"])
  const test = await monitor.notifiers.test("ann")
  assert.strictEqual(test.outcome, "deferred")

  const wrong = { contact: "ops@example.org", services: ["https://push.example/path"] }
  const refused: unknown = await createMonitor({ ...options, push: wrong }).catch((error: unknown) => error)
  if (!isTocsinError(refused)) return assert.fail("it starts")
  assert.deepStrictEqual(refused.message.split("\n"), [
    "push.contact must be mailto:ADDRESS, or an https:// address",
    "push.services must be hosts, *.DOMAIN or origins such as https://push.example.org",
  ])
})

it("push services learn the stored public address where the program gives none", async () => {
  const policy = { receivers: { ann: { kind: "messenger", type: "browser", operator: "ann" } } } as const
  await using monitor = await createMonitor({
    storage: memory(),
    policy,
    secretsKey,
    push: {},
    operatorTokens: ["a".repeat(40)],
    log: false,
  })
  const call = async (path: string, init: RequestInit = {}) => {
    const headers = { authorization: `Bearer ${"a".repeat(40)}`, "content-type": "application/json" }
    return (
      await monitor.fetch(new Request(`https://ops.example/ops/v1/${path}`, { headers, ...init }))
    ).json()
  }
  assert.include(Object(await call("push")).problem, "SERVICE_PUSH_CONTACT")
  await call("settings/public_url", { method: "PUT", body: JSON.stringify({ value: "https://ops.example" }) })
  assert.property(await call("push"), "public_key")
})
