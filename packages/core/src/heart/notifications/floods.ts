import { Duration } from "effect"
import * as Instant from "@tocsin/contract/formats/Instant"
import { type NotificationType, type NotifierName, SEVERITY_RANK } from "@tocsin/contract/formats/Status"
import { move } from "@tocsin/contract/formats/TransitionTable"
import { load } from "../../kernel/unitOfWork/Decision.ts"
import type { UnitOfWork } from "../../kernel/unitOfWork/UnitOfWork.ts"
import type { FloodMinuteRecord } from "../model/FloodMinuteRecord.ts"
import type { IncidentRecord } from "../model/IncidentRecord.ts"
import { type OutboxRecord, OutboxTransitions } from "../model/OutboxRecord.ts"
import { SERVICE_STOPPED } from "./recordResults.ts"

/** So many messages of a minute come singly; then they are read together. */
const MOST_SINGLY = 5
/** A message about more is not read to its end. */
export const MOST_IN_DIGEST = 100
const MINUTE = Duration.minutes(1)

/** The minute that began with a message of one type. */
type FloodMinute = Omit<FloodMinuteRecord, "receiver">

/** The present minutes of a receiver, one for each type of its messages (docs/rules.md#floods). */
export type Flood = ReadonlyArray<FloodMinute>

interface Chosen<Item> {
  readonly singly: ReadonlyArray<Item>
  readonly together: ReadonlyArray<Item>
  /** Those that go out together at the end of their minute, and that end. */
  readonly waiting: ReadonlyArray<readonly [item: Item, until: Instant.Instant]>
  readonly flood: Flood
}

interface Due {
  readonly row: Pick<
    OutboxRecord,
    | "event_type"
    | "id"
    | "is_backfill"
    | "last_error"
    | "next_attempt_at"
    | "rotas"
    | "severity"
    | "state"
    | "updated_at"
  >
  readonly incident: Pick<IncidentRecord, "announced">
}

/** Whether a change of who is on call made it owed. */
export const isByTurn = ({ is_backfill, rotas }: Pick<OutboxRecord, "is_backfill" | "rotas">): boolean =>
  is_backfill && rotas !== undefined

/** Another server, whose clock is ahead or which overtook this claim, may have begun it a little later than now. */
const isPresent = ({ began_at }: FloodMinute, now: Instant.Instant): boolean =>
  now < Instant.plus(began_at, MINUTE) && began_at < Instant.plus(now, MINUTE)

/** Whether some of these waited for the end of a minute, and did not become due after it. */
const haveWaited = (due: ReadonlyArray<Due>, { began_at, waits }: FloodMinute): boolean => {
  const end = Instant.plus(began_at, MINUTE)
  return waits && due.some(({ row: { next_attempt_at: at } }) => at === undefined || at <= end)
}

/** Whether one that waited for a further attempt became due because another one of its incident did, behind it. */
const isHastened = ({ last_error, next_attempt_at, updated_at }: Due["row"]): boolean =>
  next_attempt_at === updated_at && last_error !== SERVICE_STOPPED

/** Those of a message about several that failed, which are due again at one moment. */
const triedTogether = <Item extends Due>(
  due: ReadonlyArray<Item>,
  before: FloodMinute | undefined,
): ReadonlyArray<Item> => {
  const tried = due.filter(
    ({ row }) => row.state === "retry" && !isHastened(row) && before?.singly.includes(row.id) !== true,
  )
  const byTime = Map.groupBy(tried, ({ row }) => row.next_attempt_at)
  return Array.from(byTime.values()).flatMap((some) => (some.length > 1 ? some : []))
}

/** The most severe firing of its incident, which comes behind an earlier item. */
const most = ({ incident, row }: Due) => SEVERITY_RANK[incident.announced ?? row.severity]

/** Whether something of the incident is more severe than all of a minute, and than what follows others of this claim. */
const isWorseThan = (item: Due, { event_type, worst }: FloodMinute, followed: number): boolean =>
  event_type === "firing" &&
  (SEVERITY_RANK[item.row.severity] > SEVERITY_RANK[worst] ||
    most(item) > Math.max(SEVERITY_RANK[worst], followed))

/** Chooses which due messages of one type go out now. */
const chooseOf = <Item extends Due>(
  due: ReadonlyArray<Item>,
  type: NotificationType,
  before: FloodMinute | undefined,
  now: Instant.Instant,
): Chosen<Item> => {
  if (before !== undefined && !isPresent(before, now) && haveWaited(due, before)) {
    // Another message has the rest, also that of a claim of another server.
    return { singly: [], together: due, waiting: [], flood: [before] }
  }
  const byTurn = due.filter(({ row }) => isByTurn(row))
  const together = new Set(triedTogether(due, before))
  if (byTurn.length > MOST_SINGLY) for (const item of byTurn) together.add(item)
  let minute = before !== undefined && isPresent(before, now) ? before : undefined
  const singly: Array<Item> = []
  const waiting: Array<readonly [Item, Instant.Instant]> = []
  // One that goes out lets the more severe behind it follow: a second one waits.
  let followed = -1
  for (const item of due) {
    if (together.has(item)) continue
    const { id, severity } = item.row
    const present: FloodMinute = minute ?? {
      event_type: type,
      began_at: now,
      singly: [],
      waits: false,
      worst: severity,
    }
    const isAgain = present.singly.includes(id)
    if (present.singly.length >= MOST_SINGLY && !isAgain && !isWorseThan(item, present, followed)) {
      waiting.push([item, Instant.plus(present.began_at, MINUTE)])
      minute = present.waits ? present : { ...present, waits: true }
      continue
    }
    singly.push(item)
    followed = Math.max(followed, most(item))
    const worst = SEVERITY_RANK[severity] > SEVERITY_RANK[present.worst] ? severity : present.worst
    minute = isAgain ? present : { ...present, singly: [...present.singly, id], worst }
  }
  const flood = minute === undefined ? [] : [minute]
  return { singly, together: Array.from(together), waiting, flood }
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
      flood.find(({ event_type }) => event_type === type),
      now,
    ),
  )
  return {
    singly: types.flatMap(({ singly }) => singly),
    together: types.flatMap(({ together }) => together),
    waiting: types.flatMap(({ waiting }) => waiting),
    flood: types.flatMap(({ flood: after }) => after),
  }
}

/** An item that waits for the end of a minute: claims pass it over until then, and find what else is due. */
export const gathered = (item: OutboxRecord, until: Instant.Instant, now: Instant.Instant): OutboxRecord => {
  if (item.state !== "pending" && item.state !== "retry")
    throw new Error(`outbox item ${item.id} is not waiting`)
  const state = move(OutboxTransitions, item.state, "gathered")
  // The end of an attempt stays known.
  const updated_at = item.state === "retry" ? item.updated_at : now
  return { ...item, state, next_attempt_at: until, updated_at }
}

/**
 * The minutes of a receiver, for a claim that found something due. Its claims on all servers wait for one another from
 * here on.
 */
export function* loadFlood(unit: UnitOfWork, receiver: NotifierName) {
  yield* load(unit, { groups: { flood_minute: [receiver] } })
  const minutes = unit.of("flood_minute")
  const before = minutes.group(receiver)
  const keep = (after: Flood): void => {
    for (const { event_type } of before)
      if (!after.some((minute) => minute.event_type === event_type)) minutes.delete({ receiver, event_type })
    for (const minute of after)
      if (!before.some((one) => one === minute)) minutes.put({ ...minute, receiver })
  }
  return { before, keep }
}
