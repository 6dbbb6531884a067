import { Effect } from "effect"
import { BenchFailure } from "../BenchFailure.ts"

interface Call {
  readonly port: number
  readonly token: string
  readonly path: string
  /** GET unless given. */
  readonly method?: "POST"
  readonly body?: string | undefined
}

/** Whether the caller sent more than it may, so far. */
export const isLimited = ({ status }: BenchFailure): boolean => status === 429

/** Calls Tocsin's API, and returns the text of its answer. Any other status than 2xx is a failure. */
export const callApi = ({ body, method, path, port, token }: Call): Effect.Effect<string, BenchFailure> =>
  Effect.tryPromise({
    try: async () => {
      const response = await fetch(`http://127.0.0.1:${port}${path}`, {
        headers: { authorization: `Bearer ${token}` },
        ...(method !== undefined && { method }),
        ...(body !== undefined && { body }),
      })
      const text = await response.text()
      const { ok, status } = response
      if (!ok) throw new BenchFailure({ message: `${path} was answered with ${status} ${text}`, status })
      return text
    },
    catch: (cause) => (cause instanceof BenchFailure ? cause : new BenchFailure({ message: String(cause) })),
  })
