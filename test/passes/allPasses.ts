import * as SqliteStorage from "@tocsin/adapter-sqlite/SqliteStorage"
import { decodeExpectationsRequest } from "@tocsin/contract/v1/decodeRequest"
import { AgentId, CheckId } from "@tocsin/contract/formats/Identifiers"
import type { CheckStatus, NotifierName } from "@tocsin/contract/formats/Status"
import { writeServiceHeartbeat } from "@tocsin/core/heart/liveness/outage"
import { keyOf } from "@tocsin/testing/samples"
import { Duration, Effect, Result } from "effect"
import { heartbeat, enroll, report } from "../service/agents.ts"
import { deferred, delivered } from "../service/Receivers.ts"
import { documentOf, type Pass, type PassWorld } from "./Pass.ts"

const [A, B, C, D, E] = [
  AgentId.make("a"),
  AgentId.make("b"),
  AgentId.make("c"),
  AgentId.make("d"),
  AgentId.make("e"),
]
const AGENTS = [A, B, C, D, E]

const enrolled = ({ front }: PassWorld) => enroll(front, ...AGENTS)
const heartbeats = ({ front }: PassWorld) =>
  Effect.orDie(Effect.forEach(AGENTS, (agent) => heartbeat(front, agent), { discard: true }))
const turn =
  (status: CheckStatus, agents = AGENTS, check = "disk") =>
  ({ front }: PassWorld) =>
    Effect.orDie(
      Effect.forEach(agents, (agent) => report(front, [{ check, status }], agent), { discard: true }),
    )
/** All five agents are critical. */
const critical = (world: PassWorld) => Effect.andThen(enrolled(world), turn("critical")(world))
const reported = (world: PassWorld) => Effect.andThen(enrolled(world), turn("ok")(world))
const follows = (document: object) => (world: PassWorld) => world.follows(documentOf(document))
const sendsTo =
  (...receivers: ReadonlyArray<NotifierName>) =>
  (world: PassWorld) =>
    world.sendsTo(...receivers)

const after = (duration: string) => ({ routes: [{ to: ["chat"], after: duration }] })
const pagerAfter = (duration: string) => ({
  routes: [{ steps: [{ to: ["chat"] }, { after: duration, to: ["pager"] }] }],
})
const every = (duration: string) => ({ freshness: [{ match: ["check_id = disk"], every: duration }] })

const EVERYTHING = [{ field: "check_id", op: "=", value: "disk" }] as const
/** A silence of the check of all agents. */
const silence = (minutes: number) => (world: PassWorld) =>
  Effect.asVoid(
    Effect.orDie(
      world.front.operations.silence({
        matchers: EVERYTHING,
        for: Duration.minutes(minutes),
        comment: "for a test",
        confirm: true,
      }),
    ),
  )

const declared = ({ front }: PassWorld) =>
  Effect.forEach(
    AGENTS,
    (agent_id) => {
      const checks = [{ check_id: CheckId.make("disk"), every: "10m" }]
      const request = Result.getOrThrow(decodeExpectationsRequest({ checks, complete: false }))
      return Effect.orDie(front.ingest.expectations(keyOf(agent_id), { agent_id, request }))
    },
    { discard: true },
  )

/** Time passes without an outage, which would delay what is due. */
const staysUp = ({ front, passes }: PassWorld, { pieces, of }: { pieces: number; of: Duration.Input }) =>
  Effect.forEach(
    Array.from({ length: pieces }),
    () =>
      Effect.andThen(Effect.orDie(front.commits.transact(writeServiceHeartbeat(front.rules))), passes(of)),
    { discard: true },
  )

/** For some seconds, in which incidents open and resolve. */
const wasAhead = (world: PassWorld) =>
  Effect.gen(function* () {
    world.clock.setAhead("1 day")
    yield* world.passes("6 seconds")
    yield* turn("critical")(world)
    yield* turn("critical", AGENTS, "load")(world)
    yield* turn("ok", AGENTS, "load")(world)
    yield* heartbeats(world)
    yield* world.passes("1 second")
    world.clock.setBack("1 day")
  })

const ALERTING = { notifiers: ["alert_router"] } as const

/** Every background look and pass. */
export const allPasses: ReadonlyArray<Pass> = [
  {
    name: "the sweep of dead agents",
    calls: ["transact", "staleAgents"],
    deadAfter: Duration.minutes(5),
    begin: (world) => Effect.andThen(enrolled(world), world.passes("298 seconds")),
    lasts: "6 seconds",
    settles: "40 seconds",
  },
  {
    name: "the examination of held firings",
    policy: after("2m"),
    begin: (world) => Effect.andThen(critical(world), world.passes("110 seconds")),
    ready: (world) => world.passes("8 seconds"),
    lasts: "6 seconds",
    settles: "40 seconds",
  },
  {
    name: "the look at held firings under a policy that frees them",
    policy: after("3h"),
    begin: critical,
    ready: (world) => world.passes("6 seconds"),
    change: follows({ routes: [{ to: ["chat"] }] }),
    detour: follows(after("1h")),
    lasts: "6 seconds",
    settles: "40 seconds",
  },
  {
    name: "the look at held firings under a policy that holds them longer",
    policy: after("3h"),
    begin: critical,
    ready: (world) => world.passes("6 seconds"),
    change: follows(after("4h")),
    detour: follows(after("2h")),
    lasts: "6 seconds",
    settles: "40 seconds",
  },
  {
    name: "the look at held firings under another silence",
    policy: after("1h"),
    begin: critical,
    ready: (world) => world.passes("6 seconds"),
    change: silence(180),
    // An equal policy starts a look, during which the silence comes.
    detour: follows(after("1h")),
    lasts: "6 seconds",
    settles: "40 seconds",
  },
  {
    name: "the look at due incidents",
    policy: pagerAfter("5m"),
    begin: (world) => Effect.andThen(critical(world), world.passes("290 seconds")),
    ready: (world) => world.passes("8 seconds"),
    lasts: "6 seconds",
    settles: "40 seconds",
  },
  {
    name: "the look at incidents under another policy",
    policy: pagerAfter("3h"),
    begin: critical,
    ready: (world) => world.passes("6 seconds"),
    change: follows(pagerAfter("2h")),
    detour: follows(pagerAfter("1h")),
    lasts: "6 seconds",
    settles: "40 seconds",
  },
  {
    name: "the look at overdue checks",
    calls: ["transact", "dueRows", "service_heartbeat"],
    begin: (world) =>
      reported(world).pipe(
        Effect.andThen(declared(world)),
        Effect.andThen(staysUp(world, { pieces: 21, of: "85.5 seconds" })),
      ),
    lasts: "12 seconds",
    settles: "40 seconds",
  },
  {
    name: "the look at checks under another policy",
    calls: ["transact", "page", "agent", "rows"],
    policy: every("1h"),
    begin: reported,
    ready: (world) => world.passes("6 seconds"),
    change: follows(every("2h")),
    detour: follows(every("3h")),
    lasts: "6 seconds",
    settles: "40 seconds",
  },
  {
    name: "the look at checks under a policy that expects others",
    policy: every("1h"),
    begin: reported,
    ready: (world) => world.passes("6 seconds"),
    change: follows({ freshness: [{ match: ["check_id = load"], every: "1h" }] }),
    detour: follows(every("3h")),
    lasts: "6 seconds",
    settles: "40 seconds",
  },
  {
    name: "retention",
    // In memory, looks leave out rows that stay, so that no piece needs the place of the one before.
    over: SqliteStorage.layer({ file: ":memory:" }),
    calls: ["expire"],
    retention: Duration.hours(1),
    // The first rows stay; of the others, which were stored alternately, some expire half an hour later.
    begin: (world) =>
      critical(world).pipe(
        Effect.andThen(turn("ok", [D])(world)),
        Effect.andThen(world.passes("30 minutes")),
        Effect.andThen(turn("ok", [C, E])(world)),
        Effect.andThen(world.passes("31 minutes")),
      ),
    lasts: "1 second",
    settles: "35 minutes",
  },
  {
    name: "the removal of pending agents",
    retention: Duration.hours(1),
    begin: (world) => Effect.andThen(heartbeats(world), world.passes("61 minutes")),
    lasts: "1 second",
    settles: "31 minutes",
  },
  {
    name: "delivery",
    calls: ["transact", "untilNextDue"],
    begin: enrolled,
    change: turn("critical"),
    lasts: "5 seconds",
    settles: "2 minutes",
  },
  {
    name: "the retry of deliveries",
    calls: ["transact", "untilNextDue"],
    begin: (world) =>
      Effect.andThen(
        critical(world),
        Effect.sync(() => world.receivers.answerWith(deferred)),
      ),
    ready: ({ receivers, passes }) =>
      Effect.andThen(
        passes("1 second"),
        Effect.sync(() => receivers.answerWith(delivered)),
      ),
    lasts: "8 seconds",
    settles: "2 minutes",
    // An attempt without a result holds its item for its lease, and delays the next one.
    within: Duration.seconds(60),
  },
  {
    name: "delivery to a receiver that is back",
    calls: ["transact", "untilNextDue"],
    begin: (world) => Effect.andThen(critical(world), sendsTo("chat")(world)),
    ready: (world) => world.passes("5 seconds"),
    change: sendsTo("chat", "pager"),
    detour: sendsTo("pager"),
    lasts: "5 seconds",
    settles: "2 minutes",
  },
  {
    name: "the repetition of alerts",
    calls: ["transact", "untilNextDue"],
    ...ALERTING,
    begin: critical,
    ready: (world) => world.passes("55 seconds"),
    lasts: "15 seconds",
    settles: "3 minutes",
  },
  {
    name: "the repetition of alerts to a receiver that is back",
    calls: ["transact", "untilNextDue"],
    ...ALERTING,
    begin: critical,
    ready: (world) =>
      world
        .passes("10 seconds")
        .pipe(Effect.andThen(sendsTo()(world)), Effect.andThen(world.passes("70 seconds"))),
    change: sendsTo("alert_router"),
    detour: sendsTo(),
    lasts: "5 seconds",
    settles: "3 minutes",
  },
  {
    name: "the repair after a clock that was ahead",
    begin: (world) => Effect.andThen(reported(world), declared(world)),
    ready: wasAhead,
    lasts: "12 seconds",
    settles: "1 minute",
  },
  {
    name: "the repair after a clock that was ahead of the other servers",
    endsWithProcess: true,
    begin: (world) => Effect.andThen(reported(world), declared(world)),
    ready: (world) =>
      Effect.andThen(
        wasAhead(world),
        Effect.orDie(
          world.front.commits.transact(writeServiceHeartbeat(world.front.rules, { isRight: true })),
        ),
      ),
    lasts: "12 seconds",
    settles: "1 minute",
  },
  {
    name: "the reports of replicas",
    policy: pagerAfter("3h"),
    begin: critical,
    ready: (world) =>
      world
        .passes("6 seconds")
        .pipe(Effect.andThen(world.opensOther(pagerAfter("2h"))), Effect.andThen(world.passes("20 seconds"))),
    change: (world) => world.closesOther,
    lasts: "16 seconds",
    settles: "90 seconds",
  },
]
