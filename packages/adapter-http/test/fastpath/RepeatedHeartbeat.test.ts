import { assert, describe, it } from "@effect/vitest"
import { decodeHeartbeatRequest } from "@tocsin/contract/v1/decodeRequest"
import { Result } from "effect"
import { RepeatedHeartbeat } from "../../src/fastpath/KnownHeads.ts"

const decoded = (body: string) => Result.getOrThrow(decodeHeartbeatRequest(JSON.parse(body)))

const TIMES = ["2026-01-31T08:30:00Z", "2026-01-31T08:31:00Z", "2026-01-31T08:32:07Z"]
const NO_TIMES = ["2026-01-31T08:31:60Z", '2026-01-31T08:31"00Z', "2026-01-31T08:31:0\\u", "x".repeat(20)]

const plain = (time: string) =>
  `{"agent_id":"web-01","observed_at":"${time}","hostname":"größer","features":{"push":true,"metrics":false}}`

/** The second body as it is read once the first one is known. */
const readAfter = (first: string, second: string) => {
  const heartbeat = new RepeatedHeartbeat()
  heartbeat.learn(Buffer.from(first), decoded(first))
  return heartbeat.read(Buffer.from(second))
}

/** Bodies whose bytes do not say which time is that of the heartbeat. */
const unclear: Readonly<Record<string, (time: string) => string>> = {
  "spaces after the name": (time) => plain(time).replaceAll('":', '": '),
  "an escape": (time) => plain(time).replace("observed_at", "observed\\u005fat"),
  "the name twice": (time) =>
    plain(time)
      .replace("{", `{"observed_at":"${time}",`)
      .replace(/,"observed_at":"[^,]*,/u, ","),
  "a later one that counts": (time) => plain(TIMES[0] ?? "").replace("{", `{"observed_at":"${time}",`),
  "a label of that name": (time) =>
    plain(TIMES[0] ?? "").replace('"features"', `"labels":{"observed_at":"${time}"},"features"`),
  "a label of that name, the time with an escape": (time) =>
    plain(TIMES[0] ?? "")
      .replace("observed_at", "observed\\u005fat")
      .replace('"features"', `"labels":{"observed_at":"${time}"},"features"`),
}

describe("RepeatedHeartbeat", () => {
  it("reads the time of a heartbeat that is otherwise the same", () => {
    for (const time of TIMES)
      assert.deepStrictEqual(readAfter(plain(TIMES[0] ?? ""), plain(time)), decoded(plain(time)))
  })

  it("reads no other body", () => {
    const first = plain(TIMES[0] ?? "")
    const others = [
      first.replace("web-01", "web-02"),
      first.replace("true", "1234"),
      first.replace("2026-01-31T08:30:00Z", "2026-01-31T08:30:00.5Z"),
      first.slice(0, -1),
      "",
      ...NO_TIMES.map(plain),
    ]
    for (const other of others) assert.isUndefined(readAfter(first, other), other)
    assert.isUndefined(new RepeatedHeartbeat().read(Buffer.from(first)))
  })

  it.each(Object.entries(unclear))("reads as the whole body says, or nothing, with %s", (_, bodyAt) => {
    for (const time of TIMES) {
      const second = bodyAt(time)
      const read = readAfter(bodyAt(TIMES[0] ?? ""), second)
      if (read !== undefined) assert.deepStrictEqual(read, decoded(second))
    }
  })

  it("gives up a sender whose heartbeats are never the same", () => {
    const heartbeat = new RepeatedHeartbeat()
    const bodyOf = (load: number) => plain(TIMES[0] ?? "").replace("web-01", `web-${load}`)
    for (let load = 10; load < 30; load += 1)
      heartbeat.learn(Buffer.from(bodyOf(load)), decoded(bodyOf(load)))
    assert.isUndefined(heartbeat.read(Buffer.from(bodyOf(29))))
  })
})
