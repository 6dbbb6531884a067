import { Effect, Layer, Schedule } from "effect"

type Environment = Readonly<Record<string, string | undefined>>

const MICROS_PER_MILLI = 1_000
/** Notifications within the watchdog's period, so that one may get lost. */
const SIGNS_PER_PERIOD = 3
const NOTIFY_TIMEOUT_MILLIS = 2_000

/**
 * Runs systemd-notify, because Node.js has no local datagram sockets. The program waits until
 * systemd has read the message, so that systemd can identify the sender.
 */
const notify = (message: string, { NOTIFY_SOCKET, PATH }: Environment): Effect.Effect<void> =>
  Effect.tryPromise({
    try: async (signal) => {
      const [{ execFile }, { promisify }] = await Promise.all([
        import("node:child_process"),
        import("node:util"),
      ])
      const options = { env: { NOTIFY_SOCKET, PATH }, signal, timeout: NOTIFY_TIMEOUT_MILLIS }
      await promisify(execFile)("systemd-notify", [message], options)
    },
    catch: (cause) => cause,
  }).pipe(
    Effect.catch((cause) =>
      Effect.logWarning("cannot notify systemd: check that systemd-notify can run", cause),
    ),
  )

/** Notifies the watchdog if the unit sets WatchdogSec=. */
const signsOfLife = (environment: Environment): Effect.Effect<void> => {
  const micros = Number(environment["WATCHDOG_USEC"])
  // A hanging event loop sends nothing, and systemd restarts the server.
  return micros > 0
    ? Effect.asVoid(
        Effect.repeat(
          notify("WATCHDOG=1", environment),
          Schedule.spaced(micros / MICROS_PER_MILLI / SIGNS_PER_PERIOD),
        ),
      )
    : Effect.void
}

/** Notifies systemd, if it asked, that the running service accepts requests and is alive. */
export const layer = (environment: Environment): Layer.Layer<never> =>
  environment["NOTIFY_SOCKET"] === undefined
    ? Layer.empty
    : Layer.effectDiscard(
        Effect.gen(function* () {
          yield* notify("READY=1", environment)
          yield* Effect.forkScoped(signsOfLife(environment))
        }),
      )
