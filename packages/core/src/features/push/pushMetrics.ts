import { counter } from "../../kernel/engine/metrics/Counters.ts"

/** Metrics of browsers that get notifications. */
export const pushMetrics = {
  pushMessages: counter(
    "tocsin_push_messages_total",
    "Messages to browsers by outcome: taken by the push service, failed, or gone where it knows the browser no more",
    ["outcome"],
  ),
}
