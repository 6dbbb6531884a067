import { lockAgent, makeStateFolder } from "../spool/StateFolder.ts"
import { resolve } from "node:path"
import { randomInt } from "node:crypto"
import { systemClock } from "../clock/Clock.ts"
import { servers } from "../config/configFields.ts"
import type { GivenConfig } from "../config/readConfig.ts"
import { Daemon } from "../daemon/Daemon.ts"
import { KeyFile } from "../key/KeyFile.ts"
import { notifySystemd } from "../notifySystemd.ts"
import { complain, loadConfig, readOptions, valueOf, withoutArguments } from "./commandLine.ts"
import { once } from "node:events"
import { createInterface } from "node:readline"

const VARIABLE = "TOCSIN_ENROLMENT_TOKEN"

/** The enrolment token of the environment, which checks do not inherit, or the answer to a prompt. */
const enrolmentToken = async (isAsked: boolean | undefined): Promise<string | undefined> => {
  const found = process.env[VARIABLE]
  delete process.env[VARIABLE]
  if (isAsked !== true) return found?.trim() || undefined
  process.stderr.write("Enrolment token: ")
  // Without an output, a terminal shows nothing of the line.
  const lines = createInterface({ input: process.stdin, terminal: process.stdin.isTTY === true })
  lines.once("SIGINT", () => process.kill(process.pid, "SIGINT"))
  const [line] = (await Promise.race([once(lines, "line"), once(lines, "close")])) as [string?]
  lines.close()
  process.stderr.write("\n")
  return line?.trim() || undefined
}

const RANDOM_STEPS = 2 ** 32

/** `tocsin-agent start`: runs until SIGTERM or SIGINT; SIGHUP reads the configuration again. */
export const start = async (argv: ReadonlyArray<string>): Promise<number> => {
  const options = withoutArguments(readOptions(argv, ["server", "enrol"]))
  const { config: file, state } = options
  const given: GivenConfig = {
    servers: options.server === undefined ? undefined : valueOf(servers, "--server", options.server),
    enrolmentToken: await enrolmentToken(options.enrol),
  }
  // From the beginning, because a large spool takes long to open: without this, the signal would end the agent.
  process.on("SIGHUP", () => reload(file, given, daemon))
  const config = loadConfig(file, given)
  if (config === undefined) {
    complain("the configuration is invalid: correct it, and try it with tocsin-agent check")
    return 1
  }
  makeStateFolder(state)
  const release = lockAgent(state)
  if (release === undefined) {
    complain(`another agent runs on ${state}: stop it, or give this one a separate folder with --state`)
    return 1
  }
  // Made before anything is sent, so that a folder that cannot keep it stops the start.
  new KeyFile(state).current()
  const daemon = new Daemon({
    config,
    state: resolve(state),
    clock: systemClock,
    random: () => randomInt(RANDOM_STEPS) / RANDOM_STEPS,
    log: complain,
  })
  // Node.js collects its own children only, and those that a check left behind come to process 1.
  if (process.pid === 1)
    complain(
      "as process 1, it cannot end checks that leave processes behind: start it under an init, such as tini or docker run --init",
    )
  const stopped = new Promise<void>((done) => {
    for (const signal of ["SIGTERM", "SIGINT"] as const) process.once(signal, () => done())
  })
  daemon.start()
  const stopNotices = notifySystemd(({ message }) =>
    complain(`cannot notify systemd: check that systemd-notify can run (${message})`),
  )
  await stopped
  stopNotices()
  await daemon.stop()
  release()
  return 0
}

/** An invalid file keeps the configuration in force. */
const reload = (file: string, given: GivenConfig, daemon: Daemon): void => {
  const config = loadConfig(file, given)
  if (config === undefined) complain("the configuration is invalid: the former one stays in force")
  else daemon.reconfigure(config)
}
