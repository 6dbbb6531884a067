import { Duration } from "effect"
import { boundedMillis } from "@tocsin/contract/durationMillis"
import type { IntegrationOptions } from "@tocsin/contract/Integrations"

const USUAL_RESEND = "5m"
const USUAL_FORGET_AFTER = "24h"

// Options are durations by their schema.
const durationOf = (text: string): Duration.Duration => Duration.millis(boundedMillis(text) ?? 0)

/** How often a source of alerts is heard at least. */
export const resendOf = ({ resend = USUAL_RESEND }: IntegrationOptions): Duration.Duration =>
  durationOf(resend)

/** How long after its last report a check that is ok is deleted. */
export const forgetAfter = ({ forget_after = USUAL_FORGET_AFTER }: IntegrationOptions): Duration.Duration =>
  durationOf(forget_after)
