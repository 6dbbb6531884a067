import dns, { type LookupAddress } from "node:dns"
import { getDefaultAutoSelectFamilyAttemptTimeout, setDefaultAutoSelectFamilyAttemptTimeout } from "node:net"
import { afterEach, assert, describe, it } from "@effect/vitest"
import { startSlowServer } from "@tocsin/test/processes/slowServer"
import { systemClock } from "../src/clock/Clock.ts"
import { runProbe } from "../src/checks/startCheck.ts"
import { probeFields } from "../src/config/configFields.ts"
import { httpTransport } from "../src/sending/httpTransport.ts"

const before = getDefaultAutoSelectFamilyAttemptTimeout()
const { lookup } = dns
afterEach(() => {
  setDefaultAutoSelectFamilyAttemptTimeout(before)
  dns.lookup = lookup
})

/** A name with an address of each family, of which the second answers nothing. */
const NAME = "dual.example"
const ADDRESSES: ReadonlyArray<LookupAddress> = [
  { address: "127.0.0.1", family: 4 },
  { address: "::1", family: 6 },
]

const outcomeOf = async (name: "http" | "tcp", settings: object): Promise<string> => {
  const config = probeFields[name](settings, { path: [], refuse: assert.fail })
  if (config === undefined) return assert.fail("the settings are invalid")
  return (await runProbe(config, { timeoutMillis: 30_000, clock: systemClock }).outcome).status
}

describe("a name with two addresses", () => {
  it("is reached over a link that takes a second to connect", async () => {
    await import("../src/slowConnections.ts")
    const server = await startSlowServer()
    const asked = new Set<string>()
    // The one form of `lookup` that sockets use.
    const fake = (
      host: string,
      _: object,
      callback: (error: null, found: ReadonlyArray<LookupAddress>) => void,
    ) => {
      process.nextTick(() => {
        callback(null, ADDRESSES)
        asked.add(host)
        // All have sent their first packet.
        if (asked.size === 3) setImmediate(server.resume)
      })
    }
    dns.lookup = Object.assign(fake, lookup)
    const { port } = server
    const transport = httpTransport({})
    const request = { kind: "heartbeat", agentId: "a", key: "k", body: "{}" } as const
    const [tcp, http, sent] = await Promise.all([
      outcomeOf("tcp", { host: `tcp.${NAME}`, port }),
      outcomeOf("http", { url: `http://http.${NAME}:${port}/` }),
      transport
        .send({ ...request, server: `http://sender.${NAME}:${port}` })
        .then(({ status }) => status, String),
    ])
    transport.close()
    server.end()
    assert.deepStrictEqual([tcp, http, sent], ["ok", "ok", 200])
  })
})
