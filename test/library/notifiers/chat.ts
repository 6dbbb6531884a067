import type { CustomNotifier, SendResult } from "tocsin"

/** States its outcome in the body of a 200. */
export const chat = (address: string): CustomNotifier => {
  const post = async (message: object, signal: AbortSignal): Promise<SendResult> => {
    const body = JSON.stringify(message)
    const answer = await fetch(address, { method: "POST", body, redirect: "manual", signal })
    const { status, headers } = answer
    const said: { readonly ok?: boolean; readonly error?: string } = Object(
      answer.ok && (await answer.json()),
    )
    if (said.ok === true) return { outcome: "delivered" }
    const isBusy = status === 429 || status >= 500 || said.error === "later"
    const retryAfterSeconds = Number(headers.get("retry-after") ?? 0)
    const error = "The chat refused the message."
    return isBusy ? { outcome: "deferred", error, retryAfterSeconds } : { outcome: "refused", error }
  }
  return {
    name: "chat",
    send: ({ id, text }, { signal }) => post({ id, text }, signal),
    test: ({ text }, { signal }) => post({ text }, signal),
  }
}
