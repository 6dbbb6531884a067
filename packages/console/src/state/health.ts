import type { Overview, PolicyInForce } from "@tocsin/client"
import { countText } from "../format/times.ts"
import { linkTo } from "./Route.ts"

/** The first page of the API: how the service is. */
export interface ServiceState {
  readonly version: string
  readonly status: "stopping" | "not_ready" | "unwell" | "ok"
  readonly storage: { readonly kind: string; readonly status: "ok" | "failing" }
  readonly notifications: {
    readonly status: "in_time" | "late" | "given_up" | "unusable" | "policy_outdated" | "unknown"
  }
  readonly started_at: string
  /** Absent where the program that serves the page does not say it. */
  readonly time_zones?: {
    readonly version: string | null
    readonly host_version: string | null
    readonly status: "ok" | "differ"
  }
}

export const WELLNESS: Readonly<Record<ServiceState["status"], readonly [mark: string, text: string]>> = {
  ok: ["ok", "The service is well."],
  unwell: ["critical", "The service is unwell:"],
  not_ready: ["warning", "The service is not ready: it is starting, or its storage does not answer."],
  stopping: ["warning", "The service is stopping."],
}

export const DELIVERY: Readonly<
  Record<ServiceState["notifications"]["status"], readonly [mark: string, text: string]>
> = {
  in_time: ["ok", "delivered"],
  late: ["warning", "notifications have waited for more than 15 minutes"],
  given_up: ["critical", "one failed for good within the last hour"],
  unusable: ["critical", "no server can use one of the receivers"],
  policy_outdated: ["warning", "the policy breaks a rule of this version: tocsin doctor names it"],
  unknown: ["unknown", "unknown while the storage does not answer"],
}

/** Something that waits for a person: its mark, its word and sentence, and the page about it. */
type Concern = readonly [mark: string, word: string, text: string, address: string]

/** The concerns about the service itself, the worst first. */
export const concernsOf = (service: ServiceState, counts: Overview): ReadonlyArray<Concern> => {
  const { notifications, status, storage } = service
  const [mark, delivery] = DELIVERY[notifications.status]
  const { agents_offline: silent, dead_letters: letters, waiting_keys: keys } = counts
  const system = linkTo("system")
  const all: ReadonlyArray<readonly [isSo: boolean, ...Concern]> = [
    [storage.status === "failing", "critical", "failing", "The storage fails", system],
    [!["ok", "unwell"].includes(status), "warning", status, WELLNESS[status][1], system],
    [
      notifications.status !== "in_time",
      mark,
      notifications.status,
      `Notifications: ${delivery}`,
      notifications.status === "unusable" ? linkTo("receivers") : system,
    ],
    [
      letters > 0,
      "failed",
      "failed",
      countText(letters, "notification"),
      linkTo("outbox", [], { tab: "failed" }),
    ],
    [silent > 0, "stale", "silent", countText(silent, "agent"), linkTo("agents")],
    [keys > 0, "pending", "pending", `${countText(keys, "key")} to accept or block`, linkTo("admission")],
  ]
  return all.flatMap(([isSo, ...concern]) => (isSo ? [concern] : []))
}

/** Why receivers cannot be reached, by their names. */
export type Faults = ReadonlyMap<string, string>
export const NO_FAULTS: Faults = new Map()

export const unreachedText = (receiver: string, fault: string): string =>
  `${receiver} could not be reached: ${fault}`

/** Whom a receiver reaches: nobody where no running server can use it, or where it only writes to the server's log. */
export interface Reach {
  readonly fault: string | undefined
  readonly isLog: boolean
}

export const reachesOf = (policy: PolicyInForce): ReadonlyArray<readonly [receiver: string, reach: Reach]> =>
  policy.receivers.map(({ name, notifier }) => [
    name,
    { fault: faultOf(policy, name), isLog: notifier === "debug" },
  ])

/** Why no running server can use a receiver; absent if one can. */
export const faultOf = ({ replicas }: PolicyInForce, name: string): string | undefined => {
  const listing = replicas.filter(({ receivers }) => receivers.includes(name))
  const faults = listing.flatMap(({ unavailable }) => unavailable.filter((one) => one.receiver === name))
  return faults.length === listing.length ? faults[0]?.reason : undefined
}
