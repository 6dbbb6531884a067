import type { FiringCause } from "@tocsin/contract/formats/Status"
import type { DiscardReason, OutboxRecord } from "../model/OutboxRecord.ts"
import type { HoldName } from "../model/StoredHold.ts"

type Name<Hold extends HoldName> = Hold extends `${infer Kind}:${string}` ? Kind : Hold

const HOLDS: Readonly<Record<Name<HoldName>, string>> = {
  ack: "docs/rules.md#acknowledgements",
  after: "docs/rules.md#firings",
  clock: "docs/rules.md#clocks-that-are-set-back",
  notifications_off: "docs/rules.md#holds",
  not_owed: "docs/rules.md#holds",
  outage: "docs/rules.md#outages-of-the-service",
  parent: "docs/rules.md#dependencies",
  parent_grace: "docs/rules.md#dependencies",
  quiet: "docs/rules.md#quiet-hours",
  silence: "docs/rules.md#silences",
  window: "docs/rules.md#mutes",
}

const CAUSES: Readonly<Record<FiringCause, string>> = {
  opened: "docs/rules.md#firings",
  worsened: "docs/rules.md#firings",
  reminder: "docs/rules.md#firings",
  escalation: "docs/rules.md#firings",
  ack_ran_out: "docs/rules.md#acknowledgements",
  handover: "docs/rules.md#handovers",
}

/** Those whose rule is in another section than the others'. */
const DISCARDS: Readonly<Partial<Record<DiscardReason, string>>> = {
  agent_gone: "docs/rules.md#deleting-an-agent",
  shadowed: "docs/rules.md#shadow-receivers",
}

/** The rule of a hold, by its name without what it names. */
export const ruleOfHold = (by: HoldName): string =>
  // The part before a colon is a key of the table, as the type of names says.
  HOLDS[by.split(":", 1)[0] as Name<HoldName>]

/** The rule that makes a notification owed. */
export const ruleOfCause = ({ cause, event_type }: Pick<OutboxRecord, "cause" | "event_type">): string =>
  event_type === "resolved"
    ? "docs/rules.md#when-a-row-is-written"
    : cause === undefined
      ? "docs/rules.md#firings"
      : CAUSES[cause]

/** The rule by which a notification is discarded. */
export const ruleOfDiscard = (because: DiscardReason | undefined): string =>
  (because === undefined ? undefined : DISCARDS[because]) ?? "docs/rules.md#discarded-rows"
