import { Sessions } from "./Sessions.ts"
import { signInMetrics } from "./signInMetrics.ts"

/** The part of sign-in in the core. */
export const signIn = {
  services: Sessions.layer,
  metrics: ["Requests and ingestion", signInMetrics] as const,
}
