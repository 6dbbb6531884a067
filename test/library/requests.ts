import { type CheckResultEvent, type HeartbeatRequest, type Monitor, newEventId } from "tocsin"

/** A heartbeat of an agent, with what a test changes of it. */
export const heartbeatOf = (agent_id: string, changes: Partial<HeartbeatRequest> = {}): HeartbeatRequest => ({
  agent_id,
  observed_at: "2026-01-01T00:00:00.000Z",
  hostname: `${agent_id}.example`,
  features: { push: true, metrics: false },
  ...changes,
})

/** The key of an agent. */
export const keyOf = (agentId: string): string => `key-of-${agentId}`

/** A result of the check `disk`, with what a test changes of it. */
export const resultOf = (
  status: CheckResultEvent["status"],
  changes: Partial<CheckResultEvent> = {},
): CheckResultEvent => ({
  event_id: newEventId(),
  check_id: "disk",
  observed_at: "2026-01-01T00:00:00.000Z",
  status,
  exit_code: 0,
  duration_ms: 1,
  output: `DISK ${status}`,
  ...changes,
})

/** Registers agents and accepts them. */
export const enroll = async (monitor: Monitor, ...agentIds: ReadonlyArray<string>): Promise<void> => {
  for (const agentId of agentIds) {
    await monitor.heartbeat(keyOf(agentId), heartbeatOf(agentId))
    await monitor.agents.accept(agentId)
  }
}

/** Sends results of one agent. */
export const send = (monitor: Monitor, agent_id: string, ...events: ReadonlyArray<CheckResultEvent>) =>
  monitor.events(keyOf(agent_id), { agent_id, events })

/** All items of an iterator. */
export const collect = async <A>(items: AsyncIterable<A>): Promise<ReadonlyArray<A>> => {
  const collected: Array<A> = []
  for await (const item of items) collected.push(item)
  return collected
}

/** Lets the event loop turn so often. */
export const turns = async (count: number): Promise<void> => {
  for (let turn = 0; turn < count; turn += 1) await new Promise((resolve) => setImmediate(resolve))
}

const POLL_MILLIS = 5
const POLLS = 10_000

/** Waits until something holds. */
export const until = async (holds: () => boolean | Promise<boolean>): Promise<void> => {
  for (let polls = 0; !(await holds()); polls += 1) {
    if (polls === POLLS) throw new Error("it never came to hold")
    await new Promise((resolve) => setTimeout(resolve, POLL_MILLIS))
  }
}
