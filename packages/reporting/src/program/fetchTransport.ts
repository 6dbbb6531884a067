import { targetOf, type Transport } from "../agent/Transport.ts"

const ANSWER_MILLIS = 15_000
/** No answer to an agent is longer. */
const MAX_ANSWER_BYTES = 65_536

const textOf = async ({ body }: Response): Promise<string> => {
  if (body === null) return ""
  const decoder = new TextDecoder()
  let [text, length] = ["", 0]
  for await (const chunk of body) {
    length += chunk.length
    if (length > MAX_ANSWER_BYTES) throw new Error(`the answer is longer than ${MAX_ANSWER_BYTES} bytes`)
    text += decoder.decode(chunk, { stream: true })
  }
  return text + decoder.decode()
}

/** The message of fetch states only that it failed. */
const reasonOf = (error: unknown): unknown =>
  error instanceof TypeError && error.cause instanceof Error ? error.cause : error

/** Sends requests with fetch. */
export const fetchTransport = (fetch: typeof globalThis.fetch): Transport => ({
  send: async (request) => {
    const { method, url } = targetOf(request)
    try {
      const response = await fetch(url, {
        method,
        headers: { authorization: `Bearer ${request.key}`, "content-type": "application/json" },
        body: request.body,
        redirect: "manual",
        signal: AbortSignal.timeout(ANSWER_MILLIS),
      })
      const { status, headers } = response
      return {
        status,
        body: await textOf(response),
        retryAfter: headers.get("retry-after") ?? undefined,
        date: headers.get("date") ?? undefined,
      }
    } catch (error) {
      throw reasonOf(error)
    }
  },
})
