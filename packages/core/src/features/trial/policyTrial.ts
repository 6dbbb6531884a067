import type * as Instant from "@tocsin/contract/formats/Instant"
import type { PolicyTrial, TriedReceiver } from "@tocsin/contract/trial/PolicyTrial"
import type { TrialCounts, PolicyCounts } from "./HistoryTrial.ts"

/** The gaps in the tables' knowledge; part of every report. */
const UNKNOWN: ReadonlyArray<string> = [
  "freshness: unchanged results leave no trace, so no check counts as late",
  "labels and hostnames: those of today count for the whole time, also labels of checks",
  "stale agents: only the incidents of dead ones are stored, so an agent is no parent before its incident opens",
  "deleted agents and checks: their history is gone; incidents of blocked agents stay open",
  "delivery: each notification is one message that arrives at once; digests and repeated alerts are left out",
  "people: acknowledgements and silences count as they were given, though other messages might have changed them",
]

const sumOf = ({ messages }: PolicyCounts): number =>
  Array.from(messages.values()).reduce((sum, count) => sum + count, 0)

const receiversOf = ({ inForce, tried }: TrialCounts): ReadonlyArray<TriedReceiver> =>
  Array.from(new Set([...inForce.messages.keys(), ...tried.messages.keys()]))
    .toSorted()
    .map((receiver) => ({
      receiver,
      in_force: inForce.messages.get(receiver) ?? 0,
      tried: tried.messages.get(receiver) ?? 0,
    }))

/** The report about a policy that was tried beside the one in force, which has this name. */
export const policyTrial = (
  counted: TrialCounts,
  { name, since, until }: { readonly name: string } & Readonly<Record<"since" | "until", Instant.Instant>>,
): PolicyTrial => {
  const { inForce, past, tried } = counted
  return {
    since,
    until,
    history_from: past.from ?? null,
    results: past.results,
    in_force: name,
    messages: { in_force: sumOf(inForce), tried: sumOf(tried) },
    receivers: receiversOf(counted),
    held: tried.held,
    unknown: UNKNOWN,
  }
}
