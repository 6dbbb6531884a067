import type { Integration } from "./Integrations.ts"

const NEARLY_FULL = 0.8

/** Whether an integration soon refuses new checks. The console loads no more than this. */
export const isNearlyFull = ({ checks, max_checks }: Pick<Integration, "checks" | "max_checks">): boolean =>
  checks >= NEARLY_FULL * max_checks
