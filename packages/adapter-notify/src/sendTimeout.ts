import { Duration } from "effect"

/** How long one attempt may take where nothing shorter is set (docs/rules.md#delivery). */
export const DEFAULT_SEND_TIMEOUT: Duration.Duration = Duration.seconds(15)

/** How long one attempt may take under a lease of this length: a lease below 15 s leaves two thirds of it (docs/rules.md#delivery). */
export const sendTimeout = (lease: Duration.Duration): Duration.Duration =>
  Duration.isLessThan(lease, DEFAULT_SEND_TIMEOUT)
    ? Duration.millis((Duration.toMillis(lease) * 2) / 3)
    : DEFAULT_SEND_TIMEOUT
