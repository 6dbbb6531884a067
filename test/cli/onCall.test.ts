import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import type { Override, RotaList, RotaPlan } from "@tocsin/client/Resources"
import { EXIT_CODES } from "@tocsin/server/CommandFailure"
import { Effect } from "effect"
import { enroll, report } from "../processes/Agent.ts"
import { outboxOf } from "../processes/api.ts"
import { scratchFolder } from "../processes/scratch.ts"
import { startServer } from "../processes/ServerProcess.ts"
import { until } from "../processes/until.ts"
import { startReceiver } from "../processes/WebhookReceiver.ts"
import { jsonOf, serverAt, tocsin } from "./tocsin.ts"

const KEY = "5a".repeat(32)

/** The weekly turns of two people, of whom one gets no mail at night. */
const POLICY = `
receivers:
  ann: { kind: debug }
  bob: { kind: debug, quiet: { hours: "22:00-07:00", tz: UTC, below: critical } }
  carl: { kind: debug, shadow: true }
rotas:
  primary: { order: [ann, bob], every: 7d, from: "2025-12-08T09:00" }
routes: [{ steps: [{ to: [primary] }, { after: 15m, to: [carl] }] }]
`

const WITHOUT_BOB = POLICY.replace("[ann, bob]", "[ann]").replace(/^ {2}bob.*\n/m, "")

/** More than a thousand turns in a month. */
const MANY_TURNS = POLICY.replace(
  '[ann, bob], every: 7d, from: "2025-12-08T09:00" }',
  `[[ann, bob], carl], every: 1h, from: "2026-01-05T00:00", hours: ${JSON.stringify(
    Array.from({ length: 20 }, (_, hour) => `${hour}`.padStart(2, "0")).map((hour) => ({
      hours: `${hour}:15-${hour}:45`,
    })),
  )}, otherwise: ann }`,
)

describe("commands on rotas", () => {
  it.live("say who is on call, take over, find gaps and test", () =>
    Effect.gen(function* () {
      const cwd = yield* scratchFolder
      const file = join(cwd, "policy.yaml")
      writeFileSync(file, POLICY)
      const place = {
        cwd,
        environment: {
          SERVICE_POLICY_FILE: file,
          SERVICE_LINK_KEY: KEY,
          SERVICE_PUBLIC_URL: "https://tocsin.example",
        },
      }
      const run = (...args: ReadonlyArray<string>) => tocsin(place, "oncall", ...args)
      const json = (...args: ReadonlyArray<string>) => jsonOf(place, "oncall", ...args)
      yield* tocsin(place, "migrate")
      assert.match((yield* run()).stdout, /^ROTA +ON CALL +BY +UNTIL +NEXT\nprimary +\w+ +turn +\S+Z +\w+\n$/)
      const made = (yield* json(
        "override",
        "primary",
        "bob",
        "--to",
        "8h",
        "--note",
        "a wedding",
      )) as Override
      // It begins with its transaction, a little later.
      assert.approximately(Date.parse(made.to) - Date.parse(made.from), 8 * 3_600_000, 60_000)
      const { items } = (yield* json()) as RotaList
      assert.deepInclude(items[0]?.now, { receivers: ["bob"], by: "override", until: made.to })
      const shown = yield* run("show", "primary", "--days", "30")
      assert.match(shown.stdout, /bob +override\n/)
      assert.match(shown.stdout, /cli:\w+ +a wedding\n/)
      assert.match(shown.stdout, /calendar: https:\/\/tocsin\.example\/on-call\/[0-9a-f]{64}\.ics\n$/)
      const plan = (yield* json("show", "primary")) as RotaPlan
      assert.isAbove(plan.turns.length, 4)
      assert.match((yield* run("gaps")).stdout, /primary +\S+Z +\S+Z +bob is quiet at times/)
      assert.strictEqual((yield* run("test", "primary")).stdout, "bob: delivered\n")

      // The policy loses a receiver that took over.
      writeFileSync(file, WITHOUT_BOB)
      const lost = (yield* json("gaps")) as { readonly items: ReadonlyArray<object> }
      assert.strictEqual(lost.items.length, 1)
      assert.deepInclude(lost.items[0], { rota: "primary", receiver: "bob", reason: "lost" })
      assert.include((yield* run()).stdout, "primary  ann      turn")
      const warning =
        /rotas\.primary has an override until .+ UTC that does not count, since the policy lacks bob/
      assert.match((yield* tocsin(place, "policy", "check", file)).stderr, warning)
      assert.match((yield* tocsin(place, "doctor")).stdout, warning)
      assert.strictEqual((yield* run("end", "primary", made.id)).stdout, `${made.id}: ended\n`)
      assert.strictEqual((yield* run("gaps")).stdout, "no gap\n")
    }),
  )

  it.live("are followed by warnings of a policy that loses an override", () =>
    Effect.gen(function* () {
      const cwd = yield* scratchFolder
      const place = { cwd, environment: {} }
      yield* tocsin(place, "migrate")
      const apply = (text: string) => {
        writeFileSync(join(cwd, "policy.yaml"), text)
        return tocsin(place, "policy", "apply", "policy.yaml", "--confirm")
      }
      const { code, stderr } = yield* apply(POLICY)
      assert.deepStrictEqual([code, stderr], [0, ""])
      assert.strictEqual((yield* tocsin(place, "oncall", "override", "primary", "bob", "--to", "8h")).code, 0)
      const lost = yield* apply(WITHOUT_BOB)
      assert.match(lost.stderr, /^warning: rotas\.primary has an override until .* the policy lacks bob: /)
    }),
  )

  it.live("take over one of many turns, and name the other receivers of a person", () =>
    Effect.gen(function* () {
      const cwd = yield* scratchFolder
      const file = join(cwd, "policy.yaml")
      writeFileSync(file, MANY_TURNS)
      const place = { cwd, environment: { SERVICE_POLICY_FILE: file } }
      yield* tocsin(place, "migrate")
      const { code, stderr, stdout } = yield* tocsin(
        place,
        "oncall",
        "override",
        "primary",
        "ann",
        "--to",
        "1h",
      )
      assert.deepStrictEqual([code, stderr], [0, ""])
      assert.match(stdout, /\nbob shares a turn with them and is not on call meanwhile/)
    }),
  )

  it.live("refuse what no rota takes", () =>
    Effect.gen(function* () {
      const cwd = yield* scratchFolder
      const file = join(cwd, "policy.yaml")
      writeFileSync(file, POLICY)
      const place = { cwd, environment: { SERVICE_POLICY_FILE: file } }
      yield* tocsin(place, "migrate")
      const refusals: ReadonlyArray<readonly [args: string, exit: keyof typeof EXIT_CODES, message: string]> =
        [
          ["show secondary", "not_found", "the policy has no rota secondary: list rotas with tocsin oncall"],
          ["show primary --days 0", "usage", "--days must be a whole number from 1 to 366"],
          ["override primary eve --to 8h", "usage", "no receiver has the name eve"],
          ["override primary carl --to 8h", "refused", "carl is a shadow"],
          ["override primary bob --to 32d", "usage", "to must be at most 31 days after from"],
          ["override primary bob --to noon", "usage", "to must be"],
          [
            "end primary 01a1f84d-4efb-7559-999e-636ca4ce6bd6",
            "refused",
            "that has not ended: see tocsin oncall show primary",
          ],
        ]
      for (const [args, exit, message] of refusals) {
        const { code, stderr } = yield* tocsin(place, "oncall", ...args.split(" "))
        assert.include(stderr, message)
        assert.strictEqual(code, EXIT_CODES[exit].code, args)
      }
    }),
  )

  it.live("have a receiver that refused its last message for good named by the doctor", () =>
    Effect.gen(function* () {
      const cwd = yield* scratchFolder
      const receiver = yield* startReceiver(() => ({ status: 410 }))
      writeFileSync(
        join(cwd, "policy.yaml"),
        'rotas: { primary: { order: [webhook], every: 1d, from: "2026-01-05T00:00" } }\n',
      )
      const environment = {
        ...receiver.settings("hooks"),
        SERVICE_NOTIFIERS: "webhook",
        SERVICE_POLICY_FILE: "policy.yaml",
      }
      const place = { cwd, environment }
      const server = yield* startServer(serverAt(place))
      const agent = yield* enroll(server, "web-1")
      assert.notMatch((yield* tocsin(place, "doctor")).stdout, /\non call /)
      yield* report(server, agent, { check_id: "disk", status: "critical" })
      yield* until(
        "the notification has failed",
        Effect.map(outboxOf(server), (items) => items.some(({ state }) => state === "failed")),
      )
      assert.match(
        (yield* tocsin(place, "doctor")).stdout,
        /\non call +attention +webhook refused the last message for good \(.*410.*\): correct it, and send a test\n/,
      )
    }),
  )
})
