import { Duration } from "effect"
import * as Instant from "@tocsin/contract/formats/Instant"
import type { OutboxId } from "@tocsin/contract/formats/Identifiers"
import { type NotificationType, type Severity, SEVERITY_RANK } from "@tocsin/contract/formats/Status"
import type { OutboxRecord } from "../model/OutboxRecord.ts"

/** So many messages of a minute come singly; then they are read together. */
const MOST_SINGLY = 5
/** A message about more is not read to its end. */
export const MOST_IN_DIGEST = 100
const MINUTE = Duration.minutes(1)

/** The minute that began with a message of one type. */
interface FloodMinute {
  readonly began_at: Instant.Instant
  /** Those sent singly; another attempt at one is no other message. */
  readonly singly: ReadonlySet<OutboxId>
  readonly worst: Severity
  /** Whether more was due: it goes out together at its end. */
  readonly waits: boolean
}

/** The present minutes of a receiver, by the type of its messages (docs/rules.md#floods). */
export type Flood = Partial<Readonly<Record<NotificationType, FloodMinute>>>

interface Chosen<Item> {
  readonly singly: ReadonlyArray<Item>
  readonly together: ReadonlyArray<Item>
  readonly flood: Flood
}

interface Due {
  readonly row: Pick<OutboxRecord, "event_type" | "id" | "is_backfill" | "rotas" | "severity">
}

/** Whether a change of who is on call made it owed. */
export const isByTurn = ({ is_backfill, rotas }: Pick<OutboxRecord, "is_backfill" | "rotas">): boolean =>
  is_backfill && rotas !== undefined

const isPresent = ({ began_at }: FloodMinute, now: Instant.Instant): boolean =>
  Instant.isRecent(began_at, MINUTE, now)

/** When what waits is due together; nothing if nothing waits. */
export const floodEndsAt = (flood: Flood): Instant.Instant | undefined =>
  Instant.earliest(
    Object.values(flood).map(({ began_at, waits }) => (waits ? Instant.plus(began_at, MINUTE) : undefined)),
  )

/** Chooses which due messages of one type go out now. */
const chooseOf = <Item extends Due>(
  due: ReadonlyArray<Item>,
  type: NotificationType,
  before: FloodMinute | undefined,
  now: Instant.Instant,
): Chosen<Item> => {
  if (before?.waits === true && !isPresent(before, now)) {
    // Another message has the rest.
    const flood = due.length < MOST_IN_DIGEST ? {} : { [type]: before }
    return { singly: [], together: due, flood }
  }
  const byTurn = due.filter(({ row }) => isByTurn(row))
  const together = byTurn.length > MOST_SINGLY ? byTurn : []
  let minute = before !== undefined && isPresent(before, now) ? before : undefined
  const singly: Array<Item> = []
  for (const item of due) {
    if (together.includes(item)) continue
    const { id, severity } = item.row
    const isWorse =
      type === "firing" && minute !== undefined && SEVERITY_RANK[severity] > SEVERITY_RANK[minute.worst]
    const {
      began_at = now,
      singly: sent = new Set<OutboxId>(),
      waits = false,
      worst = severity,
    } = minute ?? {}
    if (sent.size >= MOST_SINGLY && !sent.has(id) && !isWorse) {
      minute = { began_at, singly: sent, waits: true, worst }
      continue
    }
    singly.push(item)
    minute = { began_at, singly: new Set([...sent, id]), waits, worst: isWorse ? severity : worst }
  }
  return { singly, together, flood: minute === undefined ? {} : { [type]: minute } }
}

/** Chooses which due messages go out now, each alone or together, and the minutes after that. */
export const chooseInFlood = <Item extends Due>(
  due: ReadonlyArray<Item>,
  flood: Flood,
  now: Instant.Instant,
): Chosen<Item> => {
  const types = (["firing", "resolved"] as const).map((type) =>
    chooseOf(
      due.filter(({ row }) => row.event_type === type),
      type,
      flood[type],
      now,
    ),
  )
  return {
    singly: types.flatMap(({ singly }) => singly),
    together: types.flatMap(({ together }) => together),
    flood: { ...types[0]?.flood, ...types[1]?.flood },
  }
}
