import { takesKey } from "@tocsin/contract/takesKey"
import { ApiFailure, isUnreached } from "./ApiFailure.ts"
import { type Connection, request, type RequestOptions } from "./request.ts"

/** Acts whose answer was lost, by method, path and body, with the key of each. */
export type UnansweredActs = Map<string, string>

// `crypto.randomUUID` is for secure pages only.
const newKey = (): string => crypto.getRandomValues(new Uint32Array(4)).join("-")

/**
 * Calls the API. An act whose answer is lost is sent once more with its key, and again with it when
 * the reader repeats it, so that it is carried out once (docs/rules.md#acting-once). An answer to
 * any act ends that: from then on the reader decides by what the page shows.
 */
export const actOnce = async <Answer>(
  connection: Connection,
  unanswered: UnansweredActs,
  method: string,
  path: string,
  options: RequestOptions = {},
): Promise<Answer> => {
  if (!takesKey(method, path)) return request(connection, method, path, options)
  const act = JSON.stringify([method, path, options.query, options.body])
  const key = unanswered.get(act) ?? newKey()
  const send = () => request<Answer>(connection, method, path, { ...options, key })
  const isLost = (error: unknown): boolean => error instanceof ApiFailure && isUnreached(error)
  try {
    const answer = await send().catch((error: unknown) => (isLost(error) ? send() : Promise.reject(error)))
    unanswered.clear()
    return answer
  } catch (error) {
    if (isLost(error)) unanswered.set(act, key)
    else unanswered.clear()
    throw error
  }
}
