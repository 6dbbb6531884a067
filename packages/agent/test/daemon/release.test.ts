import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { once } from "node:events"
import { connect } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { freePort } from "@tocsin/bench/processes/freePort"
import { releases } from "@tocsin/test/release/releases"
import { FaultyServer } from "@tocsin/testing/agents/FaultyServer"
import { serve } from "@tocsin/testing/agents/serve"
import { assert, it, vi } from "vitest"
import { systemClock } from "../../src/clock/Clock.ts"
import { readConfig } from "../../src/config/readConfig.ts"
import { Daemon } from "../../src/daemon/Daemon.ts"

/** However busy the machine is. */
const until = (holds: () => unknown) => vi.waitFor(holds, { timeout: 60_000 })

it("a daemon releases what it opens, at each reload and at its end", () =>
  releases(async () => {
    const state = mkdtempSync(join(tmpdir(), "tocsin-daemon-"))
    const server = new FaultyServer()
    const { address, close } = await serve(server)
    const port = await freePort()
    const configOf = (lines: string) => {
      writeFileSync(join(state, "config.yaml"), `server: ${address}\nagent_id: a\n${lines}`)
      return readConfig(join(state, "config.yaml")).config ?? assert.fail("the configuration is invalid")
    }
    const heartbeats = () => server.requests.filter(({ kind }) => kind === "heartbeat").length
    const open = async () => {
      const log = () => {}
      const daemon = new Daemon({ config: configOf(""), state, clock: systemClock, random: () => 0.5, log })
      daemon.start()
      await until(() => assert.isAtLeast(server.requests.length, 2))
      const reload = async (lines: string): Promise<void> => {
        const before = heartbeats()
        daemon.reconfigure(configOf(lines))
        await until(() => assert.isAbove(heartbeats(), before))
      }
      const { send } = server
      return {
        uses: {
          "a reload": () => reload(""),
          "a reload during a request": async () => {
            let answer = () => {}
            const held = new Promise<void>((resolve) => (answer = resolve))
            let arrived = 0
            server.send = async (request) => {
              // The second request on its connection.
              if (request.kind === "declaration") {
                arrived += 1
                await held
              }
              return send(request)
            }
            daemon.reconfigure(configOf(""))
            await until(() => assert.strictEqual(arrived, 1))
            const again = reload("")
            answer()
            server.send = send
            await again
          },
          "a reload that removes a check whose run never ends": async () => {
            const [started, command] = [join(state, "started"), "touch started; exec sleep 600"]
            daemon.reconfigure(configOf(`checks:\n  a: { shell: '${command}', every: 1s, timeout: 5m }\n`))
            await until(() => rmSync(started))
            await reload("")
          },
          "a reload that ends the page of metrics, which a client is asking for": async () => {
            await reload(`metrics_port: ${port}\n`)
            const client = connect(port, "127.0.0.1", () => client.write("GET /metrics HTTP/1.1\r\n"))
            await once(client, "connect")
            client.on("error", () => {}).resume()
            await reload("")
          },
        },
        close: () => daemon.stop(),
      }
    }
    const end = async () => {
      await close()
      rmSync(state, { recursive: true })
    }
    return { open, end }
  }))
