// A notifier of your own: a pager that takes text over HTTP. Retries, order and dead letters are Tocsin's.
import type { CustomNotifier, SendResult } from "tocsin"

/** `createMonitor({ notifiers: [pager({ address })] })` */
export const pager = ({ address }: { readonly address: string }): CustomNotifier => {
  // A mistyped address fails here, when the program starts.
  const url = new URL(address)
  const page = async (text: string, id: string, signal: AbortSignal): Promise<SendResult> => {
    const headers = { "content-type": "text/plain", "idempotency-key": id }
    // A redirect would turn the POST into a GET, which a login page answers with 200.
    const answer = await fetch(url, { method: "POST", headers, body: text, redirect: "manual", signal })
    if (answer.ok) return { outcome: "delivered" }
    const error = `The pager answered ${answer.status}.`
    const isBusy = answer.status === 429 || answer.status >= 500
    // A date instead of a number asks for no pause.
    const retryAfterSeconds = Number(answer.headers.get("retry-after")) || 0
    return isBusy ? { outcome: "deferred", error, retryAfterSeconds } : { outcome: "refused", error }
  }
  return {
    name: "pager",
    // Tocsin shows *** in its place.
    secrets: [address],
    send: ({ id, text }, { signal }) => page(text, id, signal),
    test: ({ text }, { signal }) => page(text, crypto.randomUUID(), signal),
  }
}
