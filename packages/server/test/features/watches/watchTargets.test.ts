import { watchProblem, watchTargets } from "@tocsin/server/features/watches/watchTargets"
import type { Settings } from "@tocsin/server/settings/Settings"
import { assert, describe, it } from "@effect/vitest"

const url = "http://127.0.0.1:8080/"
const READING = [
  { http: { url } },
  { http: { url, method: "HEAD" } },
  { http: { url, method: "OPTIONS" } },
  { tcp: { host: "localhost", port: 25 } },
  { ping: { host: "::1" } },
] as const
const WRITING = [
  { http: { url, method: "POST" } },
  { http: { url, body: "a" } },
  { tcp: { host: "localhost", port: 25, send: "QUIT" } },
  { websocket: { url: "ws://127.0.0.1/", send: "a" } },
] as const

const opened = (settings: Partial<Settings>): readonly [boolean, boolean] => {
  const isOpen = (watch: object) => watchProblem(watchTargets(settings))(watch) === undefined
  const [reads, writes] = [READING.map(isOpen), WRITING.map(isOpen)]
  assert.strictEqual(new Set(reads).size + new Set(writes).size, 2)
  return [reads[0] === true, writes[0] === true]
}

describe("the loopback", () => {
  it.each([
    ["nothing opens it", {}, [false, false]],
    ["a stored setting opens it to what only reads", { stored: { watchLoopback: true } }, [true, false]],
    ["the environment opens it to all", { SERVICE_WATCH_LOOPBACK: true }, [true, true]],
    [
      "the environment closes it, whatever is stored",
      { SERVICE_WATCH_LOOPBACK: false, stored: { watchLoopback: true } },
      [false, false],
    ],
  ] as const)("%s", (_, settings, expected) => {
    assert.deepStrictEqual(opened(settings), [...expected])
  })

  it.each([
    ["where neither opens it", {}, true],
    ["not where it is open to these", { stored: { watchLoopback: true } }, false],
    ["not where the environment closes it", { SERVICE_WATCH_LOOPBACK: false }, false],
  ] as const)("is offered to what only reads %s", (_, settings, isOffered) => {
    const message = watchProblem(watchTargets(settings))(WRITING[0])?.message ?? ""
    assert.strictEqual(message.includes("watch_loopback true"), isOffered, message)
    assert.match(message, /start the server with SERVICE_WATCH_LOOPBACK=true to allow it$/)
  })
})
