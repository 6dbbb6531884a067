import { setting } from "./Setting.ts"
import { KeepFor } from "./values.ts"

const KEEP_TAKES = "a duration such as 12h or 93d, or 0 to keep forever"

/** How long rows are kept that nothing needs any more. */
export const retentionSettings = {
  SERVICE_RETENTION_HISTORY: setting({
    schema: KeepFor,
    meaning: "how long history is kept; the newest row of each check always is",
    takes: KEEP_TAKES,
    fallback: "93d",
  }),
  SERVICE_RETENTION_INCIDENTS: setting({
    schema: KeepFor,
    meaning: "how long resolved incidents are kept",
    takes: KEEP_TAKES,
    fallback: "365d",
  }),
  SERVICE_RETENTION_OUTBOX: setting({
    schema: KeepFor,
    meaning: "how long ended notifications are kept",
    takes: KEEP_TAKES,
    fallback: "30d",
  }),
  SERVICE_RETENTION_PENDING: setting({
    schema: KeepFor,
    meaning: "how long a pending agent is kept after its last heartbeat",
    takes: KEEP_TAKES,
    fallback: "7d",
  }),
} as const
