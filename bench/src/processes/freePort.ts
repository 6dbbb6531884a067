import { randomInt } from "node:crypto"
import { createServer } from "node:net"

/** This port, or any for 0; fails if something listens on it. */
export const unusedPort = (port: number): Promise<number> =>
  new Promise((resolve, reject) => {
    const server = createServer()
    server.on("error", reject)
    server.listen(port, "127.0.0.1", () => {
      const address = server.address()
      server.close(() => resolve(typeof address === "object" && address !== null ? address.port : 0))
    })
  })

/** Below 32768, where a system takes the ports for programs that ask for any: one of them could be first. */
const [FIRST, LAST] = [20_000, 32_000]

/** A TCP port of this machine that nothing listens on, and that no other program gets unless it names it. */
export const freePort = (): Promise<number> => unusedPort(randomInt(FIRST, LAST)).catch(freePort)
