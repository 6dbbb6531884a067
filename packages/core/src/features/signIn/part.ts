import { Sessions } from "./Sessions.ts"
import { counter } from "../../kernel/engine/metrics/Counters.ts"

export const signInMetrics = {
  signIns: counter(
    "tocsin_sign_ins_total",
    "Sign-ins by OpenID Connect, by outcome: signed_in, or what the answer refuses (docs/sign-in.md)",
    ["outcome"],
  ),
}

/** The part of sign-in in the core. */
export const signIn = {
  services: Sessions.layer,
  metrics: ["Requests and ingestion", signInMetrics] as const,
}
