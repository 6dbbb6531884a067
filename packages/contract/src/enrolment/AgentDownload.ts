import { Schema } from "effect"
import { named } from "../formats/Fields.ts"

/** The files that a server hands out to install the agent (docs/rules.md#agent-downloads). */
export const AgentDownload = Schema.Struct({
  url: Schema.NullOr(Schema.String).annotateKey({
    description: "Where hosts reach the server: SERVICE_PUBLIC_URL; null if it is not set.",
  }),
  sha256: Schema.String.annotateKey({
    description: "Of `/agent/install.sh`, in hex. The script has the SHA-256 of all that it fetches.",
  }),
  version: Schema.String.annotateKey({ description: "Of the agent." }),
  files: Schema.Array(Schema.String).annotateKey({ description: "The names of the files at `/agent`." }),
}).annotate(named("AgentDownload", "The files that this server hands out to install the agent on hosts."))
export type AgentDownload = typeof AgentDownload.Type
