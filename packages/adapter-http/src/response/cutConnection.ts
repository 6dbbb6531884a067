import { IncomingMessage } from "node:http"
import { Effect } from "effect"
import type { HttpServerRequest } from "effect/http"

/** Closes the connection of a reader that does not read. */
export const cutConnection = ({ source }: HttpServerRequest.HttpServerRequest) =>
  Effect.sync(() => void (source instanceof IncomingMessage && source.socket.destroy()))
