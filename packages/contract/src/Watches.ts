import { Schema } from "effect"
import { DurationText } from "./DurationText.ts"
import { closedStruct, NonNegativeInteger, optional } from "./Fields.ts"
import { CheckStatus } from "./Status.ts"

const bounded = (minimum: number, maximum: number) => Schema.Int.check(Schema.isBetween({ minimum, maximum }))
const ofLength = (most: number) => Schema.String.check(Schema.isMinLength(1), Schema.isMaxLength(most))

const timeout = optional(
  DurationText({ min: "1 second", max: "30 seconds" }),
  "How long to wait for the answer: 10s unless given.",
)

const HttpWatch = closedStruct({
  url: ofLength(2_048).annotateKey({ description: "An http or https address without a user." }),
  status: optional(
    Schema.Array(bounded(100, 599)).check(Schema.isMinLength(1), Schema.isMaxLength(100)),
    "The statuses that are ok: 200 to 299 unless given.",
  ),
  text: optional(ofLength(4_096), "A text that the first MiB of the answer must contain."),
  redirects: optional(bounded(0, 20), "How many redirects to follow: 5 unless given."),
  verify: optional(Schema.Boolean, "Whether the certificate must be trusted: true unless given."),
  headers: optional(
    Schema.Record(Schema.String, ofLength(4_096)),
    "Header fields to send to this origin, at most 50. No answer shows them.",
  ),
  timeout,
}).annotate({ identifier: "HttpWatch", description: "Asks for a page." })

const TcpWatch = closedStruct({
  host: ofLength(253).annotateKey({ description: "A host name or an address." }),
  port: bounded(1, 65_535),
  timeout,
}).annotate({ identifier: "TcpWatch", description: "Connects to a port." })

/** The body of POST watches/try: one probe (docs/rules.md#watches). */
export const TryWatchRequest = closedStruct({
  http: optional(HttpWatch, "Asks for a page."),
  tcp: optional(TcpWatch, "Connects to a port."),
}).annotate({ identifier: "TryWatchRequest", description: "One probe: exactly one of its fields." })
export type TryWatchRequest = typeof TryWatchRequest.Type

/** The result of a probe that nothing stores. */
export const WatchTrial = Schema.Struct({
  status: CheckStatus,
  output: Schema.String.annotate({
    description: "The status and the time, in words; nothing of the answer's body.",
  }),
  duration_ms: NonNegativeInteger.annotate({ description: "How long the probe took, in milliseconds." }),
}).annotate({ identifier: "WatchTrial", description: "The result of a probe that nothing stores." })
export type WatchTrial = typeof WatchTrial.Type
