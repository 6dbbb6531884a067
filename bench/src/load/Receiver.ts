import { Effect } from "effect"
import { worker } from "../processes/worker.ts"

/** Sets how long the receiver takes for each webhook. */
export interface ReceiverCommand {
  readonly answersAfterMillis: number
}

/** Where it listens, and how many different webhooks have come. */
export interface ReceiverReply {
  readonly port: number
  readonly received: number
}

/** Starts a receiver of webhooks in a separate process, until the scope closes. */
export const startReceiver = Effect.fnUntraced(function* (answersAfterMillis: number) {
  const process = yield* worker<ReceiverCommand, ReceiverReply>(
    new URL("./receiverProcess.ts", import.meta.url),
  )
  const ask = process.ask({ answersAfterMillis })
  const { port } = yield* ask
  return {
    url: `http://127.0.0.1:${port}/`,
    received: Effect.map(ask, ({ received }) => received),
  }
})
