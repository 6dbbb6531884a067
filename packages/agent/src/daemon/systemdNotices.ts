import { execFile } from "node:child_process"

/** Notifies systemd of the state of the agent, where systemd asks for it. */
export interface SystemdNotices {
  readonly ready: () => void
  readonly stop: () => void
}

const MICROS_PER_MILLI = 1_000
/** Notices within the watchdog's period, so that one may get lost. */
const SIGNS_PER_PERIOD = 3
const NOTIFY_MILLIS = 2_000
const PROGRAM = "systemd-notify"

/** Runs systemd-notify, because Node.js has no local datagram sockets. */
export const systemdNotices = (log: (message: string) => void): SystemdNotices => {
  const { NOTIFY_SOCKET, WATCHDOG_USEC, PATH } = process.env
  const notify = (message: string): void => {
    if (NOTIFY_SOCKET === undefined) return
    execFile(PROGRAM, [message], { env: { NOTIFY_SOCKET, PATH }, timeout: NOTIFY_MILLIS }, (error) => {
      if (error !== null) log(`cannot notify systemd: check that systemd-notify can run (${error.message})`)
    })
  }
  const period = Number(WATCHDOG_USEC) / MICROS_PER_MILLI / SIGNS_PER_PERIOD
  // An event loop that hangs sends nothing, and systemd restarts the agent.
  const timer =
    NOTIFY_SOCKET !== undefined && period > 0 ? setInterval(() => notify("WATCHDOG=1"), period) : undefined
  return { ready: () => notify("READY=1"), stop: () => clearInterval(timer) }
}
