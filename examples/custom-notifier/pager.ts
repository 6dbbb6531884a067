// A notifier of your own: a pager that takes text over HTTP. Retries, order and dead letters are Tocsin's.
import type { CustomNotifier, SendResult } from "tocsin"

/** `createMonitor({ notifiers: [pager({ address })] })` */
export const pager = ({ address }: { readonly address: string }): CustomNotifier => {
  const page = async (text: string, id: string, signal: AbortSignal): Promise<SendResult> => {
    const headers = { "content-type": "text/plain", "idempotency-key": id }
    const { status, headers: answer } = await fetch(address, { method: "POST", headers, body: text, signal })
    if (status < 300) return { outcome: "delivered" }
    const error = `The pager answered ${status}.`
    const isBusy = status === 429 || status >= 500
    const seconds = Number(answer.get("retry-after") ?? 0)
    return isBusy ? { outcome: "deferred", error, retryAfterSeconds: seconds } : { outcome: "refused", error }
  }
  return {
    name: "pager",
    send: ({ id, text }, { signal }) => page(text, id, signal),
    test: ({ text }, { signal }) => page(text, "test", signal),
  }
}
