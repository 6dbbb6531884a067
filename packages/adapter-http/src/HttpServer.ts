import { NodeHttpServer } from "@effect/platform-node"
import { createServer } from "node:http"
import { Layer, type Redacted } from "effect"
import { HttpRouter } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"
import * as AgentHandlers from "./AgentHandlers.ts"
import { TocsinApi } from "./api.ts"
import * as authentication from "./authentication.ts"
import * as HealthHandlers from "./HealthHandlers.ts"
import * as OperatorHandlers from "./OperatorHandlers.ts"

export const layer = (options: {
  readonly host: string
  readonly port: number
  readonly uiTokens: ReadonlyArray<Redacted.Redacted>
}) =>
  HttpRouter.serve(
    HttpApiBuilder.layer(TocsinApi).pipe(
      Layer.provide([AgentHandlers.layer, OperatorHandlers.layer, HealthHandlers.layer]),
      Layer.provide(authentication.layer(options.uiTokens)),
    ),
    { disableLogger: true, disableListenLog: true },
  ).pipe(Layer.provideMerge(NodeHttpServer.layer(createServer, { port: options.port, host: options.host })))
