import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { Effect } from "effect"
import { freePort } from "../processes/freePort.ts"
import { type Peer, type PeerOptions, programNamed, startProgram, versionOf } from "./Peer.ts"

/** Alertmanager alone, with a receiver that sends nothing. It holds alerts in memory. */
export const alertRouter = Effect.fnUntraced(function* ({ folder }: PeerOptions) {
  const program = programNamed("prometheus-alertmanager")
  if (program === undefined) return undefined
  const port = yield* Effect.promise(freePort)
  const config = join(folder, "alertmanager.yml")
  writeFileSync(config, JSON.stringify({ route: { receiver: "none" }, receivers: [{ name: "none" }] }))
  const args = [
    `--config.file=${config}`,
    `--storage.path=${join(folder, "data")}`,
    `--web.listen-address=127.0.0.1:${port}`,
    "--cluster.listen-address=",
  ]
  const pid = yield* startProgram(program, args, { folder, port })
  const peer: Peer = {
    name: `Alertmanager ${versionOf(program)}`,
    protocol: "alertRouter",
    port,
    pid,
    steps: ["heartbeat", "unchanged"],
  }
  return peer
})
