import * as Instant from "@tocsin/contract/formats/Instant"
import { parseMatcher } from "@tocsin/contract/labels/Matcher"
import { isByTurn } from "@tocsin/core/heart/notifications/floods"
import { isHeld, type OutboxRecord } from "@tocsin/core/heart/model/OutboxRecord"
import { readPolicy } from "@tocsin/core/lists/readPolicy"
import { Duration, Effect, Random, Result } from "effect"
import { TestClock } from "effect/testing"
import { AGENT, enroll, report } from "../service/agents.ts"
import { deferred, delivered } from "../service/Receivers.ts"
import { openService, type Process, whileTimePasses } from "../service/Service.ts"
import { settled } from "../service/settled.ts"
import type { OutboxMove } from "../service/WatchedStorage.ts"
import { FloodModel, type Owed } from "./FloodModel.ts"
import { type FloodStep, type FloodStory, floodStory, WAYS } from "./floodStory.ts"

const names = Object.keys(WAYS)
const TAIL = 700
const RANKS = { warning: 1, unknown: 2, critical: 3 } as const

const policyOf = ({ isReminding }: FloodStory) => {
  const chat = { kind: "messenger", url_env: "CHAT" }
  const receivers = {
    messenger: chat,
    messenger_ann: chat,
    messenger_bob: chat,
    messenger_off: { ...chat, digest: "off" },
    messenger_over: { ...chat, digest: { over: 3 } },
    webhook: { kind: "webhook", url_env: "HOOK", secret_env: "SECRET" },
  }
  const rotas = {
    primary: { tz: "UTC", order: ["messenger_ann"], every: "7d", from: "2020-01-01T00:00" },
  }
  const to = ["messenger", "messenger_off", "messenger_over", "webhook", "primary"]
  const routes = [{ to, ...(isReminding && { remind: "15m" }) }]
  return Result.getOrThrow(readPolicy({ receivers, rotas, routes }, []))
}

/** A message: when it was sent, to whom and about what. */
const line = (at: number, receiver: string, ids: ReadonlyArray<string>): string =>
  `${at} ${receiver} ${ids.toSorted().join()}`

const play = Effect.fnUntraced(function* (story: FloodStory) {
  const down = new Set<string>()
  const isDown = (receiver: string) => down.has(receiver)
  const service = yield* openService({
    notifiers: names,
    policy: policyOf(story),
    answerTo: ({ receiver }) => (isDown(receiver) ? deferred : delivered),
  })
  const { passes, receivers: seen, rows } = service
  const began = yield* Instant.now
  let opened = 0
  const open = Effect.suspend(() => service.open(`server ${(opened += 1)}`, { keepsHouse: true }))
  const servers: Array<Process> = [yield* open, ...(story.servers === 2 ? [yield* open] : [])]
  /** When no server runs. */
  const stops: Array<readonly [from: number, to: number]> = []
  const at = (moment: Instant.Instant) => Math.round(Instant.secondsBetween(began, moment) * 1_000)
  const now = Effect.map(Instant.now, at)
  yield* settled
  const take = Effect.fnUntraced(function* (step: FloodStep, server: Process) {
    const { operations } = server
    if (step.step === "reports") yield* report(server, step.results)
    else if (step.step === "answers") {
      if (step.isDown) down.add(step.receiver)
      else down.delete(step.receiver)
      seen.answerDigestsWith(step.isDown ? deferred : delivered, { notifier: step.receiver })
    } else if (step.step === "acknowledges") {
      const key = `${AGENT}/${step.check}`
      const found = Array.from(rows().incidents.values()).find(
        (one) => one.incident_key === key && one.state === "open",
      )
      if (found !== undefined) yield* operations.acknowledge(found.id, { for: Duration.seconds(step.lasts) })
    } else if (step.step === "silences") {
      const matchers = [Result.getOrThrow(parseMatcher("check_id glob check-1*"))]
      yield* operations.silence({ matchers, comment: "c", for: Duration.seconds(step.lasts) })
    } else if (step.step === "takes over") {
      const from = yield* Instant.now
      const to = Instant.plus(from, Duration.seconds(step.lasts))
      yield* Effect.ignore(operations.override("primary", { from, to, receivers: ["messenger_bob"] }))
    } else {
      const ended = servers.pop()
      const from = yield* now
      if (ended !== undefined) yield* whileTimePasses(ended.close)
      if (step.after > 0) yield* passes(`${step.after} seconds`)
      servers.push(yield* open)
      if (servers.length === 1) stops.push([from, yield* now])
    }
  })
  const [server] = servers
  if (server !== undefined) yield* enroll(server, AGENT)
  yield* settled
  for (const step of story.steps) {
    yield* TestClock.adjust(`${step.wait} seconds`)
    yield* settled
    const one = servers[0]
    if (one !== undefined) yield* Effect.orDie(take(step, one))
    yield* settled
  }
  yield* TestClock.adjust(`${TAIL} seconds`)
  yield* settled
  const messages = [
    ...seen.attempts.map((one) => line(at(one.startedAt), one.notification.receiver, [one.notification.id])),
    ...seen.digests.map((one) =>
      line(
        at(one.at),
        one.notifications[0]?.receiver ?? "",
        one.notifications.map(({ id }) => id),
      ),
    ),
  ]
  return { messages, at, moves: service.moves, stops, until: yield* now }
})

/** Plays a story on servers over the memory storage. Returns the messages, and what changed in the outbox. */
export const playFlood = (number: number) => Effect.scoped(Random.withSeed(play(floodStory(number)), number))
type Played = Effect.Success<ReturnType<typeof playFlood>>

/** The messages that the rules want of what changed in the outbox, and how their minutes moved. */
export const wantedMessages = ({ at, moves, stops, until }: Played) => {
  const models = new Map(Object.entries(WAYS).map(([name, way]) => [name, new FloodModel(way)]))
  const isStopped = (now: number) => stops.some(([from, to]) => from < now && now < to)
  const messages: Array<string> = []
  const owedOf = (row: OutboxRecord): Owed => ({
    id: row.id,
    incident: row.incident_id,
    seq: row.incident_seq,
    type: row.event_type,
    rank: RANKS[row.severity],
    due: row.next_attempt_at === undefined ? Infinity : at(row.next_attempt_at),
    isLate: row.is_backfill,
    isByTurn: isByTurn(row),
  })
  /** Follows what changed, but for what a claim changes: the model decides on that. */
  const follow = ({ after, before }: Pick<OutboxMove, "after" | "before">) => {
    const model = models.get(after.receiver)
    const { id, next_attempt_at, state } = after
    if (model === undefined || state === "sending") return
    if (before?.state === "sending" && state === "retry" && next_attempt_at !== undefined)
      return model.fail(id, at(next_attempt_at))
    const isWaiting = (state === "pending" || state === "retry") && next_attempt_at !== undefined
    if (!isWaiting) return model.drop(id)
    const wasDue = before?.state === state ? before.next_attempt_at : undefined
    if (wasDue === undefined || next_attempt_at < wasDue) model.owe(owedOf(after))
  }
  const byTime = Map.groupBy(moves, (move) => at(move.at))
  const ends = stops.map(([, to]) => to)
  const nextAfter = (now: number) =>
    Math.min(
      ...[...byTime.keys(), ...ends].filter((time) => time > now),
      ...Array.from(models.values(), (model) => model.next(now)),
    )
  const send = (receiver: string, now: number) => {
    for (const ids of models.get(receiver)?.send(now) ?? []) messages.push(line(now, receiver, ids))
  }
  for (let now = 0; now <= until; now = nextAfter(now)) {
    const present = byTime.get(now) ?? []
    // The times of claims are those of the servers; what they take is what the model says.
    for (let n = 0; n < present.length;) {
      const [first, ...others] = present.slice(n)
      if (first === undefined) break
      const isOther = ({ client, ...move }: OutboxMove) => client !== first.client || !isOfClaim(move)
      const end = isOfClaim(first) ? others.findIndex(isOther) : 0
      const claim = present.slice(n, end < 0 ? undefined : n + 1 + end)
      for (const move of claim) follow(move)
      if (isOfClaim(first))
        for (const receiver of new Set(claim.map(({ after }) => after.receiver))) send(receiver, now)
      n += claim.length
    }
    if (!isStopped(now)) for (const receiver of models.keys()) send(receiver, now)
  }
  return { messages, minutes: Array.from(models.values()).flatMap((model) => Array.from(model.moves)) }
}

/** Whether a claim made a change: it takes a row, has it wait for the end of a minute, or finds it to be held. */
const isOfClaim = ({ after, before }: Pick<OutboxMove, "after" | "before">): boolean => {
  if (after.state === "sending") return true
  const wasDue = before?.state === "sending" || before === undefined ? undefined : before.next_attempt_at
  return wasDue !== undefined && (isHeld(after) || (after.next_attempt_at ?? wasDue) > wasDue)
}
