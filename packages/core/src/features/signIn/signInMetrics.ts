import { counter } from "../../kernel/engine/metrics/Counters.ts"

/** Metrics of sign-in. */
export const signInMetrics = {
  signIns: counter(
    "tocsin_sign_ins_total",
    "Sign-ins by OpenID Connect, by outcome: signed_in, or what the answer refuses (docs/sign-in.md)",
    ["outcome"],
  ),
}
