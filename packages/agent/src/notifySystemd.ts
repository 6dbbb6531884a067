import { execFile } from "node:child_process"

const MICROS_PER_MILLI = 1_000
/** Notices within the watchdog's period, so that one may get lost. */
const SIGNS_PER_PERIOD = 3
const NOTIFY_MILLIS = 2_000
const PROGRAM = "systemd-notify"

/**
 * Notifies systemd, where it asks for it, that the program is ready, and then that it is alive. Runs
 * systemd-notify, because Node.js has no local datagram sockets; it waits until systemd has read the message, so
 * that systemd can identify the sender. Returns what ends it.
 */
export const notifySystemd = (failed: (error: Error) => void): (() => void) => {
  const { NOTIFY_SOCKET, WATCHDOG_USEC, PATH } = process.env
  const period = Number(WATCHDOG_USEC) / MICROS_PER_MILLI / SIGNS_PER_PERIOD
  let timer: NodeJS.Timeout | undefined
  let isOver = false
  const notify = (message: string): void => {
    execFile(PROGRAM, [message], { env: { NOTIFY_SOCKET, PATH }, timeout: NOTIFY_MILLIS }, (error) => {
      if (error !== null) failed(error)
      // An event loop that hangs sends nothing, and systemd restarts the program.
      if (period > 0 && !isOver) timer = setTimeout(() => notify("WATCHDOG=1"), period)
    })
  }
  if (NOTIFY_SOCKET !== undefined) notify("READY=1")
  return () => {
    isOver = true
    clearTimeout(timer)
  }
}
