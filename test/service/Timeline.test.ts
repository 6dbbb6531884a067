import { it } from "@effect/vitest"
import { Effect } from "effect"
import { deferred, delivered } from "./Receivers.ts"
import { openTimeline } from "./Timeline.ts"

it.effect("a webhook that is down for 30 minutes gets both messages when it is back", () =>
  Effect.gen(function* () {
    const { disk, webhook, outbox, after } = yield* openTimeline()
    yield* webhook.answers(deferred)
    yield* disk.turns("critical")
    yield* after("30 minutes")
    yield* webhook.has()
    yield* disk.turns("ok")
    yield* webhook.answers(delivered)
    yield* after("2 hours")
    yield* webhook.has("firing critical a/disk", "resolved critical a/disk")
    yield* outbox.is("firing sent", "resolved sent")
  }),
)
