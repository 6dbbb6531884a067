import type { Answer } from "../Answer.ts"
import type { Step } from "../Load.ts"
import type { RequestVariables } from "../RequestTemplate.ts"

/** A connection with at most one request in flight. */
export interface Channel {
  /** Sends a request, whose bytes may be overwritten after its answer. */
  readonly send: (request: Uint8Array) => void
  readonly close: () => void
}

/** The reports of a channel. */
export interface ChannelListener {
  readonly answered: (answer: Answer) => void
  /** Called once if the connection ends before `close`. */
  readonly lost: (reason: string) => void
}

/** How a service is reported to. */
export interface Protocol {
  /** How many reports one request of this step holds. */
  readonly operationsOf: (step: Step) => number
  /** How many checks of an agent single reports take in turn; all of them unless given. */
  readonly singles?: number
  readonly render: (
    step: Step,
    status: "ok" | "critical",
    host: string,
  ) => (variables: RequestVariables) => Buffer
  /** The error of an answer, or undefined. */
  readonly faultOf: (step: Step, answer: Answer) => string | undefined
  readonly open: (port: number, listener: ChannelListener) => Promise<Channel>
}
