/** After which the next address is tried beside those that have not answered (RFC 8305, 5). */
const STEP_MILLIS = 250

/** Every platform has them; this package has the types of none. */
declare const setTimeout: (act: () => void, millis: number) => unknown
declare const clearTimeout: (timer: unknown) => void

/** A socket of Node.js. */
interface Attempt {
  readonly once: (event: "connect", listener: () => void) => unknown
  readonly on: (event: "error", listener: (error: Error) => void) => unknown
  readonly destroy: () => unknown
}

/** The module `node:net`. */
interface Net<S extends Attempt> {
  readonly connect: (to: { readonly host: string; readonly port: number; readonly noDelay: true }) => S
  readonly isIP: (text: string) => number
}

type Signal = { readonly aborted: boolean; readonly reason: unknown } & {
  readonly [name in "addEventListener" | "removeEventListener"]: (event: "abort", act: () => void) => void
}

interface Destination {
  readonly host: string
  readonly port: number
  /** As `node:dns` does it. */
  readonly lookup: (
    host: string,
    options: { readonly all: true },
    callback: (error: Error | null, found: string | ReadonlyArray<{ readonly address: string }>) => void,
  ) => void
}

const failureOf = (errors: ReadonlyArray<Error & { readonly code?: unknown }>): Error | undefined =>
  errors.length > 1 ? Object.assign(new AggregateError(errors), { code: errors[0]?.code }) : errors[0]

/**
 * Connects to a host: to the addresses of a name side by side, because one that answers nothing says nothing about
 * the others. Node.js gives each of them a time and closes it when the next one is tried. Fails after `millis`.
 */
export const openConnection = <S extends Attempt>(
  net: Net<S>,
  to: Destination,
  signal: Signal,
  millis?: number,
): Promise<S> =>
  new Promise((resolve, reject) => {
    const attempts = new Set<S>()
    const errors: Array<Error> = []
    let isOver = false
    let left: ReadonlyArray<string> = []
    let [step, limit]: ReadonlyArray<unknown> = []
    const over = (): void => {
      isOver = true
      left = []
      clearTimeout(step)
      clearTimeout(limit)
      signal.removeEventListener("abort", abort)
      for (const attempt of attempts) attempt.destroy()
    }
    const abort = (): void => fail(signal.reason)
    const fail = (error: unknown): void => {
      over()
      reject(error)
    }
    const tryNext = (): void => {
      clearTimeout(step)
      const [address, ...others] = left
      left = others
      if (address === undefined) return attempts.size === 0 ? fail(failureOf(errors)) : undefined
      const attempt = net.connect({ host: address, port: to.port, noDelay: true })
      attempts.add(attempt)
      attempt.once("connect", () => {
        attempts.delete(attempt)
        over()
        resolve(attempt)
      })
      // It stays: an error may come before the listeners of the caller.
      attempt.on("error", (error) => {
        attempts.delete(attempt)
        errors.push(error)
        tryNext()
      })
      step = setTimeout(tryNext, STEP_MILLIS)
    }
    if (signal.aborted) return abort()
    signal.addEventListener("abort", abort)
    const late = () => fail(Object.assign(new Error("connect ETIMEDOUT"), { code: "ETIMEDOUT" }))
    if (millis !== undefined) limit = setTimeout(late, millis)
    const begin = (addresses: ReadonlyArray<string>): void => {
      if (isOver) return
      left = addresses
      tryNext()
    }
    if (net.isIP(to.host) !== 0) return begin([to.host])
    to.lookup(to.host, { all: true }, (error, found) => {
      if (error !== null) fail(error)
      else begin(typeof found === "string" ? [found] : found.map(({ address }) => address))
    })
  })

/** An agent of `node:http` or `node:https`, and the options of its connections. */
interface Agent<S> {
  createConnection(
    options: { readonly host?: string | null; readonly port?: number | string | null },
    callback?: (error: Error | null, connection?: S) => void,
  ): S | null | undefined
}

/** Makes an agent connect by a function such as {@link openConnection}. */
export const connectingBy = <A, S, C extends S>(
  agent: A & Agent<S>,
  open: (host: string, port: number) => Promise<C>,
): A => {
  const secured = agent.createConnection.bind(agent)
  const isSecure = "protocol" in agent && agent.protocol === "https:"
  agent.createConnection = (options, callback) => {
    open(options.host ?? "localhost", Number(options.port)).then(
      // TLS on the connection.
      (socket) =>
        callback?.(null, isSecure ? (secured(Object.assign({ socket }, options)) ?? socket) : socket),
      (error) => callback?.(error),
    )
    return undefined
  }
  return agent
}
