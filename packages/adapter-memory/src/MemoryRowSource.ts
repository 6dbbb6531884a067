import { byDueTime } from "@tocsin/core/heart/model/outboxList"
import type {
  AgentId,
  BlacklistId,
  IncidentId,
  IncidentKey,
  RegistrationId,
} from "@tocsin/contract/formats/Identifiers"
import type { Instant } from "@tocsin/contract/formats/Instant"
import type { Labels } from "@tocsin/contract/labels/Labels"
import { comparing } from "@tocsin/core/kernel/engine/comparing"
import type { RowSource } from "@tocsin/core/kernel/unitOfWork/RowSource"
import type { Asked } from "@tocsin/core/kernel/unitOfWork/Search"
import { mergeLabels } from "@tocsin/core/heart/firings/loudMembers"
import { isSilent } from "@tocsin/core/heart/model/AgentRecord"
import type { CheckName, CheckRef } from "@tocsin/core/kernel/model/CheckRef"
import type { IncidentRef } from "@tocsin/core/heart/model/IncidentRecord"
import {
  type CountedName,
  type Groups,
  groupText,
  type KeyedName,
  type Keys,
  keyText,
} from "@tocsin/core/lists/StoredTables"
import type { MemberRecord } from "@tocsin/core/heart/model/MemberRecord"
import { compareMembers } from "@tocsin/core/kernel/unitOfWork/Standings"
import {
  type AlertRecord,
  isBehind,
  isUntried,
  type OutboxRecord,
} from "@tocsin/core/heart/model/OutboxRecord"
import { type KeyedMaps, labelsOf, type MemoryTables } from "./MemoryTables.ts"
import { firstInOrder } from "./readRows.ts"

const byLease = comparing<OutboxRecord>(
  (item) => item.leased_until ?? 0n,
  (item) => item.id,
)
const byAlertTime = comparing<AlertRecord>(
  (alert) => alert.next_at,
  (alert) => alert.incident_id,
  (alert) => alert.severity,
)

export class MemoryRowSource implements RowSource {
  readonly #tables: MemoryTables

  constructor(tables: MemoryTables) {
    this.#tables = tables
  }

  agent(id: AgentId) {
    return this.#tables.agents.get(id)
  }

  blockedKey(id: BlacklistId) {
    return this.#tables.keyed.agent_key.of("blacklist_id", id)[0]
  }

  check({ check_id, registration_id }: CheckRef) {
    return this.#tables.checks.get(registration_id)?.get(check_id)
  }

  knownEvents(_: AgentId, registrationId: RegistrationId) {
    return this.#tables.knownEvents.get(registrationId) ?? new Map()
  }

  incident(id: IncidentId) {
    return this.#tables.incidents.get(id)
  }

  openIncident({ incident_key, kind }: IncidentRef) {
    const id = this.#tables.openIncidents[kind].get(incident_key)
    return id && this.#tables.incidents.get(id)
  }

  outboxOf(id: IncidentId) {
    return this.#tables.keyed.outbox.of("incident_id", id).filter((item) => !isUntried(item))
  }

  alertsOf(id: IncidentId) {
    return this.#tables.keyed.alert.of("incident_id", id)
  }

  row<N extends KeyedName>(name: N, key: Keys[N]) {
    const { [name]: rows }: KeyedMaps = this.#tables.keyed
    return rows.get(keyText(name, key))
  }

  group<N extends KeyedName>(name: N, group: Groups[N]) {
    const { [name]: rows }: KeyedMaps = this.#tables.keyed
    return rows.of("group", groupText(name, group))
  }

  pendingAgents() {
    return this.#tables.pendingAgents
  }

  worstMembers(id: IncidentId, limit: number, isWanted: (member: MemberRecord) => boolean = () => true) {
    const present = this.#tables.keyed.incident_member
      .of("incident_id", id)
      .filter((member) => member.left_at === undefined && isWanted(member))
    return firstInOrder(present, limit, compareMembers)
  }

  loudMembers(id: IncidentId, limit: number) {
    return this.worstMembers(id, limit, ({ is_loud }) => is_loud)
  }

  labelsOf(check: CheckName) {
    return labelsOf(this.#tables, check)
  }

  dueOutbox({ receivers, limit }: Asked<"claimableOutbox">, now: Instant) {
    const { incidents, keyed } = this.#tables
    const deliveries = keyed.outbox.deliveriesOf(receivers)
    const due = deliveries
      .flatMap(({ waiting }) => waiting)
      .flatMap((queue) =>
        queue.due(now, limit, (id) => {
          const item = keyed.outbox.get(id)
          if (item === undefined || !incidents.has(item.incident_id)) return undefined
          const others = keyed.outbox.of("incident_id", item.incident_id)
          return others.some((other) => isBehind(item, other)) ? undefined : item
        }),
      )
    return (deliveries.length === 1 ? due : due.toSorted(byDueTime)).slice(0, limit)
  }

  expiredOutbox({ receivers, limit }: Asked<"claimableOutbox">, now: Instant) {
    const { outbox } = this.#tables.keyed
    return outbox
      .deliveriesOf(receivers)
      .flatMap(({ leased }) => leased.due(now, limit, (id) => outbox.get(id)))
      .toSorted(byLease)
      .slice(0, limit)
  }

  heldOutbox({ limit, receivers }: Asked<"heldOutbox">, now: Instant) {
    const { outbox } = this.#tables.keyed
    return outbox.held.due(now, limit, (id) => {
      const item = outbox.get(id)
      return item && receivers.includes(item.receiver) ? item.incident_id : undefined
    })
  }

  unclaimedOutbox({ listed, untouchedSince, limit }: Asked<"unclaimedOutbox">, now: Instant) {
    const others = Array.from(this.#tables.keyed.outbox.values()).filter(
      (item) => !listed.includes(item.receiver),
    )
    const isNamed = (item: OutboxRecord) => item.receiver === item.notifier
    const waiting = others.filter(
      (item) =>
        (item.state === "pending" || item.state === "retry") &&
        (!isNamed(item) || item.updated_at < untouchedSince),
    )
    const leased = others.filter(
      (item) => item.leased_until !== undefined && item.leased_until < (isNamed(item) ? untouchedSince : now),
    )
    return [...waiting.slice(0, limit), ...leased.slice(0, limit)]
  }

  claimableAlerts({ limit, receiver }: Asked<"claimableAlerts">, now: Instant) {
    return Array.from(this.#tables.keyed.alert.values())
      .filter(
        (alert) =>
          alert.receiver === receiver &&
          alert.next_at <= now &&
          (alert.leased_until === undefined || alert.leased_until <= now),
      )
      .toSorted(byAlertTime)
      .slice(0, limit)
  }

  dueIncidents({ limit }: Asked<"dueIncidents">, now: Instant) {
    return this.#tables.incidents.evaluations.due(now, limit, (id) => id)
  }

  parents(asked: Asked<"parents">) {
    const { agents, incidents, keyed, openIncidents } = this.#tables
    const open = Object.values(openIncidents)
    const { limit, staleSince } = asked
    const isNamed = new Set(asked.agents)
    const ids = new Set<IncidentId | undefined>(
      asked.isAll
        ? open.flatMap((byKey) => Array.from(byKey.values()))
        : [
            // A text that is no key finds none.
            ...asked.keys.flatMap((key) => open.map((byKey) => byKey.get(key as IncidentKey))),
            ...[
              ...asked.agents.flatMap((id) => keyed.incident_member.of("group", id)),
              ...asked.checks.flatMap((id) => keyed.incident_member.of("check_id", id)),
              ...this.#membersOn(asked),
            ].map(({ incident_id }) => incident_id),
          ],
    )
    const known = Array.from(agents.values()).filter(
      (agent) => isNamed.has(agent.agent_id) || (staleSince !== undefined && isSilent(agent, staleSince)),
    )
    return {
      incidents: firstInOrder(
        Array.from(ids)
          .flatMap((id) => (id && incidents.get(id)) ?? [])
          .filter(({ state }) => state === "open"),
        limit,
        comparing(({ id }) => id),
      ),
      agents: firstInOrder(
        known,
        limit,
        comparing(({ agent_id }) => agent_id),
      ),
    }
  }

  /** The present members on hosts, and those that have labels. */
  *#membersOn({ hostnames, labelled }: Asked<"parents">) {
    if (hostnames.length === 0 && labelled.length === 0) return
    const { agents, keyed } = this.#tables
    const hosts = new Set(hostnames)
    const textOf = ([name, value]: readonly [string, string]) => `${name}=${value}`
    const some = new Set(labelled.flatMap(({ labels }) => Object.entries(labels).map(textOf)))
    const hasSome = ({ labels = {} }: { readonly labels: Labels | undefined }) =>
      Object.entries(labels).some((label) => some.has(textOf(label)))
    for (const agent of agents.values()) {
      const isOnHost = hosts.has(agent.hostname)
      const ofChecks = keyed.check_label.of("registration_id", agent.registration_id)
      if (!isOnHost && !hasSome(agent) && !ofChecks.some(hasSome)) continue
      for (const member of keyed.incident_member.of("group", agent.agent_id)) {
        const has = mergeLabels(agent.labels, this.labelsOf(member))
        const isWanted = ({ check_id, labels }: Asked<"parents">["labelled"][number]) =>
          (check_id ?? member.check_id) === member.check_id &&
          Object.entries(labels).every(([name, value]) => has[name] === value)
        if (isOnHost || labelled.some(isWanted)) yield member
      }
    }
  }

  openings({ incident, limit, since, until }: Asked<"openings">[number]) {
    return Array.from(this.#tables.incidents.values())
      .filter(({ incident_key, kind }) => incident_key === incident.incident_key && kind === incident.kind)
      .map(({ opened_at }) => opened_at)
      .filter((at) => at > since && at <= until)
      .toSorted((a, b) => (a > b ? -1 : 1))
      .slice(0, limit)
  }

  silencesInForce({ begunBy, endingAfter }: Asked<"silencesInForce">, now: Instant) {
    const { service_heartbeat, silence } = this.#tables.keyed
    return {
      silences: Array.from(silence.values()).filter(
        ({ ends_at, starts_at }) => starts_at <= (begunBy ?? now) && ends_at > endingAfter,
      ),
      serviceHeartbeat: service_heartbeat.get("service"),
    }
  }

  unendedSilences(now: Instant) {
    return Array.from(this.#tables.keyed.silence.values()).filter(({ ends_at }) => ends_at > now)
  }

  overridesEndingAfter(moment: Instant) {
    return Array.from(this.#tables.keyed.rota_override.values()).filter(({ ends_at }) => ends_at > moment)
  }

  unended(table: CountedName, now: Instant) {
    let count = 0
    for (const { ends_at } of this.#tables.keyed[table].values())
      if (ends_at === undefined || ends_at > now) count += 1
    return count
  }

  newestPolicy() {
    return Array.from(this.#tables.keyed.policy_version.values())
      .toSorted(comparing((row) => row.version))
      .at(-1)
  }

  idlePendingAgents({ seenBefore, limit }: Asked<"idlePendingAgents">) {
    return Array.from(this.#tables.agents.values())
      .filter((agent) => agent.admission_state === "pending" && agent.last_seen_at <= seenBefore)
      .toSorted(comparing((agent) => agent.agent_id))
      .slice(0, limit)
  }
}
