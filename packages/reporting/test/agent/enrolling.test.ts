import { assert, describe, it } from "@effect/vitest"
import { enrolling, type HttpAnswer, type OutgoingRequest } from "../../src/agent/Answer.ts"

const heartbeatOf = (accepted: boolean): HttpAnswer => ({ status: 202, body: JSON.stringify({ accepted }) })
const refusal = (status: number, code: string): HttpAnswer => ({
  status,
  body: JSON.stringify({ error: { code, message: code } }),
})
const HEARTBEAT = { kind: "heartbeat", server: "http://server", agentId: "a", key: "k", body: "{}" } as const

/** A transport whose server accepts the key as its enrolment is answered, and whose token may change. */
const made = (first: HttpAnswer, enrolment: HttpAnswer) => {
  const requests: Array<OutgoingRequest> = []
  const state: { token: string | undefined; heartbeat: HttpAnswer; enrolment: HttpAnswer } = {
    token: "t",
    heartbeat: first,
    enrolment,
  }
  const logged: Array<string> = []
  const transport = enrolling({
    transport: {
      send: async (request) => {
        requests.push(request)
        return request.kind === "enrolment" ? state.enrolment : state.heartbeat
      },
    },
    token: () => state.token,
    log: (message) => void logged.push(message),
    now: () => 0,
  })
  const beat = async () => (await transport.send(HEARTBEAT)).body
  return {
    state,
    logged,
    beat,
    bodies: () => requests.filter(({ kind }) => kind === "enrolment").map(({ body }) => body),
  }
}

describe("an enrolment token", () => {
  it("is shown once a heartbeat is pending, and not again when it was taken", async () => {
    const { beat, bodies, logged } = made(heartbeatOf(false), { status: 200, body: '{"accepted":true}' })
    assert.strictEqual(await beat(), '{"accepted":true}')
    assert.strictEqual(await beat(), '{"accepted":false}')
    assert.deepStrictEqual(bodies(), ['{"token":"t"}'])
    assert.deepStrictEqual(logged, ["the server accepts this agent by its enrolment token"])
  })

  it("is not shown for an accepted key, nor later for its replacement", async () => {
    const { beat, bodies, state } = made(heartbeatOf(true), refusal(500, "internal"))
    await beat()
    state.heartbeat = heartbeatOf(false)
    await beat()
    assert.deepStrictEqual(bodies(), [])
  })

  it.each([
    [404, "not_found"],
    [409, "conflict"],
    [400, "validation"],
  ])("that is refused by %d is shown once; another one is shown too", async (status, code) => {
    const { beat, bodies, logged, state } = made(heartbeatOf(false), refusal(status, code))
    for (const _ of [1, 2]) assert.strictEqual(await beat(), '{"accepted":false}')
    assert.deepStrictEqual(logged, [`the server refuses the enrolment token: ${status} ${code}`])
    state.token = "u"
    await beat()
    assert.deepStrictEqual(bodies(), ['{"token":"t"}', '{"token":"u"}'])
  })

  it("is shown again while the server is busy or fails", async () => {
    const { beat, bodies, state } = made(heartbeatOf(false), refusal(429, "rate_limited"))
    await beat()
    state.enrolment = refusal(500, "internal")
    await beat()
    assert.lengthOf(bodies(), 2)
    state.token = undefined
    await beat()
    assert.lengthOf(bodies(), 2)
  })
})
