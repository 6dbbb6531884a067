import { execFileSync } from "node:child_process"
import { copyFileSync, mkdirSync, writeFileSync } from "node:fs"
import { userInfo } from "node:os"
import { join } from "node:path"
import { Effect } from "effect"
import { EVENTS_PER_BATCH } from "../load/Load.ts"
import { ICINGA_PASSWORD } from "../load/protocols/icinga.ts"
import { freePort } from "../processes/freePort.ts"
import { type Peer, type PeerOptions, programNamed, startProgram, versionOf } from "./Peer.ts"

/** The features that Debian enables, the API, and passive services whose first result counts. */
const configOf = (port: number, agents: number) => `
const PluginDir = "/usr/lib/nagios/plugins"
const NodeName = "bench"
const ZoneName = NodeName
const TicketSalt = ""
include <itl>
object Endpoint NodeName {}
object Zone ZoneName { endpoints = [ NodeName ] }
object CheckerComponent "checker" {}
object NotificationComponent "notification" {}
object FileLogger "main-log" { severity = "information", path = LogDir + "/icinga2.log" }
object ApiListener "api" { bind_host = "127.0.0.1", bind_port = ${port} }
object ApiUser "bench" { password = "${ICINGA_PASSWORD}", permissions = [ "*" ] }
template Host "passive" { check_command = "passive", enable_active_checks = false, max_check_attempts = 1 }
template Service "passive" { check_command = "passive", enable_active_checks = false, max_check_attempts = 1 }
for (agent in range(${agents})) {
  var name = "agent-" + ("00000" + agent).substr(("00000" + agent).len() - 6)
  object Host name { import "passive" }
  for (check in range(${EVENTS_PER_BATCH})) {
    object Service "check-" + ("00" + check).substr(("00" + check).len() - 3) use (name) {
      import "passive"
      host_name = name
    }
  }
}
`

/** Icinga 2 without a database. It holds states in memory and writes them to a file every five minutes. */
export const icinga = Effect.fnUntraced(function* ({ agents, folder }: PeerOptions) {
  const program = programNamed("icinga2")
  if (program === undefined) return undefined
  const port = yield* Effect.promise(freePort)
  const config = join(folder, "icinga2.conf")
  writeFileSync(config, configOf(port, agents))
  const folders = { DataDir: "lib", LogDir: "log", CacheDir: "cache", SpoolDir: "spool", InitRunDir: "run" }
  const definitions = Object.entries({ ...folders, ConfigDir: "etc" }).flatMap(([name, path]) => {
    mkdirSync(join(folder, path))
    return ["-D", `${name}=${join(folder, path)}`]
  })
  const group = execFileSync("id", ["-gn"], { encoding: "utf8" }).trim()
  const environment = { ICINGA2_USER: userInfo().username, ICINGA2_GROUP: group }
  const certificates = join(folder, "lib", "certs")
  mkdirSync(certificates)
  const [key, certificate] = [join(certificates, "bench.key"), join(certificates, "bench.crt")]
  execFileSync(program, ["pki", "new-cert", "--cn", "bench", "--key", key, "--cert", certificate], {
    env: environment,
    stdio: "ignore",
  })
  copyFileSync(certificate, join(certificates, "ca.crt"))
  const args = ["daemon", ...definitions, "-c", config]
  const pid = yield* startProgram(program, args, { folder, port, environment })
  const peer: Peer = {
    name: `Icinga 2 ${versionOf(program)}`,
    protocol: "icinga",
    port,
    pid,
    steps: ["heartbeat", "changing"],
  }
  return peer
})
