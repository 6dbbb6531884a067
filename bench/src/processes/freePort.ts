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

/** A TCP port of this machine that nothing listens on. */
export const freePort = (): Promise<number> => unusedPort(0)
