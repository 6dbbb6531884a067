/** One kind of request that agents send. */
export type Step = "heartbeat" | "unchanged" | "changing"

/** The steps that all agents of a connection take in turn. */
export type Load = ReadonlyArray<Step>

/** Results in a batch. */
export const EVENTS_PER_BATCH = 50

/** The numbers of an agent's checks, of three digits. */
export const CHECK_NUMBERS: ReadonlyArray<string> = Array.from({ length: EVENTS_PER_BATCH }, (_, index) =>
  String(index).padStart(3, "0"),
)

/** Heartbeats or results in a request of this step. */
export const operationsOf = (step: Step): number => (step === "heartbeat" ? 1 : EVENTS_PER_BATCH)

const NUMBER_DIGITS = 6

/** The id of an agent, as wide as every other agent's. */
export const agentId = (index: number): string => `agent-${String(index).padStart(NUMBER_DIGITS, "0")}`
