import { assert, describe, it } from "@effect/vitest"
import { openConnection } from "../../src/formats/openConnection.ts"

type Lookup = Parameters<typeof openConnection>[1]["lookup"]

/** A name whose lookup is answered once its connection has failed. Returns the addresses that were connected to. */
const lateLookup = async (fail?: (controller: AbortController) => void) => {
  const connected: Array<string> = []
  const socket = { once: () => {}, on: () => {}, destroy: () => {} }
  const net = {
    isIP: () => 0,
    connect: ({ host }: { readonly host: string }) => {
      connected.push(host)
      return socket
    },
  }
  let answer: Parameters<Lookup>[2] = () => assert.fail("nothing was looked up")
  const lookup: Lookup = (_host, _options, callback) => {
    answer = callback
  }
  const controller = new AbortController()
  const opening = openConnection(net, { host: "shop.example", port: 80, lookup }, controller.signal, 1)
  fail?.(controller)
  const error: unknown = await opening.then(
    () => assert.fail("it connected"),
    (reason) => reason,
  )
  answer(null, [{ address: "192.0.2.1" }])
  return { connected, error }
}

describe("a connection that failed while its name was looked up", () => {
  it("connects to nothing once its time is over", async () => {
    const { connected, error } = await lateLookup()
    assert.strictEqual(Object(error).code, "ETIMEDOUT")
    assert.deepStrictEqual(connected, [])
  })

  it("connects to nothing once it is aborted", async () => {
    const { connected, error } = await lateLookup((controller) => controller.abort("stopped"))
    assert.strictEqual(error, "stopped")
    assert.deepStrictEqual(connected, [])
  })
})
