import { spawn } from "node:child_process"
import { once } from "node:events"
import { connect } from "node:net"
import process from "node:process"

/** Two connections wait in its queue while it is stopped; the kernel drops the first packet of any other. */
const PROGRAM = `require("node:http").createServer((_, response) => response.end("{}"))
  .listen({ port: 0, host: "127.0.0.1", backlog: 1 }, function () { console.log(this.address().port) })`

/** A server that connects a second late: when the first packet is sent again. */
export const startSlowServer = async () => {
  const child = spawn(process.execPath, ["--eval", PROGRAM], { stdio: ["ignore", "pipe", "inherit"] })
  const [said]: ReadonlyArray<unknown> = await once(child.stdout, "data")
  const port = Number(String(said))
  child.kill("SIGSTOP")
  const waiting = [1, 2].map(() => connect(port, "127.0.0.1").on("error", () => {}))
  await Promise.all(waiting.map((socket) => once(socket, "connect")))
  return {
    port,
    resume: () => child.kill("SIGCONT"),
    end: () => {
      for (const socket of waiting) socket.destroy()
      child.kill("SIGKILL")
    },
  }
}
