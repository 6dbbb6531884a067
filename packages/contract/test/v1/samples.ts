import { Result } from "effect"
import type { ValidationError } from "../../src/formats/Errors.ts"

/** A valid HeartbeatRequest as JSON holds it, with `changes` laid over it. */
export const heartbeat = (changes: Readonly<Record<string, unknown>> = {}): Record<string, unknown> => ({
  agent_id: "web-01",
  observed_at: "2026-01-31T08:30:00Z",
  hostname: "web-01.example.org",
  features: { push: true, metrics: false },
  ...changes,
})

/** A valid CheckResultEvent as JSON holds it, with `changes` laid over it. */
export const event = (changes: Readonly<Record<string, unknown>> = {}): Record<string, unknown> => ({
  event_id: "01890a5d-ac96-774b-bcce-b302099a8057",
  check_id: "disk",
  observed_at: "2026-01-31T08:30:00Z",
  status: "ok",
  exit_code: 0,
  duration_ms: 12,
  ...changes,
})

/** A valid EventBatchRequest of `events`. */
export const batch = (...events: ReadonlyArray<unknown>): Record<string, unknown> => ({
  agent_id: "web-01",
  events,
})

/** `body` without the field `name`. */
export const without = (body: Readonly<Record<string, unknown>>, name: string): Record<string, unknown> =>
  Object.fromEntries(Object.entries(body).filter(([key]) => key !== name))

/** The sentence that a request was refused with, or "accepted". */
export const verdict = (result: Result.Result<unknown, ValidationError>): string =>
  Result.match(result, { onSuccess: () => "accepted", onFailure: (error) => error.message })

/** Arrays nested `depth` deep, built without recursion. */
export const nested = (depth: number): unknown => {
  let value: unknown = 1
  for (let level = 0; level < depth; level++) value = [value]
  return value
}
