import { Effect, Layer, Schedule } from "effect"

type Environment = Readonly<Record<string, string | undefined>>

const MICROS_PER_MILLI = 1_000
/** So often within the time after which systemd takes the server for hung: one notification may get lost. */
const SIGNS_PER_PERIOD = 3
const NOTIFY_TIMEOUT_MILLIS = 2_000

/**
 * Notifies systemd by its own program, because Node.js has no datagram sockets of the local kind. It waits until systemd has
 * read the message, so systemd can tell which service sent it.
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

/** What systemd waits for where its unit sets WatchdogSec=; nothing elsewhere. */
const signsOfLife = (environment: Environment): Effect.Effect<void> => {
  const micros = Number(environment["WATCHDOG_USEC"])
  // By the event loop's own timer: a loop that hangs sends nothing, and systemd restarts the server.
  return micros > 0
    ? Effect.asVoid(
        Effect.repeat(
          notify("WATCHDOG=1", environment),
          Schedule.spaced(micros / MICROS_PER_MILLI / SIGNS_PER_PERIOD),
        ),
      )
    : Effect.void
}

/**
 * Tells systemd that the server takes requests and that it is alive, where systemd has asked for it. To be built on the running
 * service.
 */
export const layer = (environment: Environment): Layer.Layer<never> =>
  environment["NOTIFY_SOCKET"] === undefined
    ? Layer.empty
    : Layer.effectDiscard(
        Effect.gen(function* () {
          yield* notify("READY=1", environment)
          yield* Effect.forkScoped(signsOfLife(environment))
        }),
      )
