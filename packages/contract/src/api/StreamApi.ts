import { topicNames } from "../Topics.ts"
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema } from "effect/http-api"
import { Internal, RateLimited } from "./ApiErrors.ts"
import { OperatorAuthentication } from "./Authentication.ts"
import { operationFor } from "./operation.ts"
import { IgnoredBody } from "./RequestRules.ts"

const Events = Schema.String.annotate({
  description: `Server-sent events. The data of each is JSON: \`topics\`, what to fetch again, and \`at\`, when the event was written. Topics are ${topicNames.join(", ")}; a newer version may know more.`,
}).pipe(HttpApiSchema.asText({ contentType: "text/event-stream" }))

const stream = HttpApiEndpoint.get("stream", "/stream", {
  success: Events,
  error: [Internal.wire, RateLimited.wire],
}).annotateMerge(
  operationFor(
    "read",
    "Live views",
    "Stream what to fetch again",
    "Sends server-sent events that name what has changed, by this process or another: at most one a second, and a comment every 15 s. Fetch what you show once the stream has opened, and again whenever it opens anew. The token is checked every 15 s. A process serves 100 streams at most.",
  ),
)

/** What changes, for live views (docs/rules.md#live-views). */
export class StreamApi extends HttpApiGroup.make("stream")
  .add(stream)
  .middleware(IgnoredBody)
  .middleware(OperatorAuthentication) {}
