import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { enroll, report } from "../processes/Agent.ts"
import { incidentsOf, operate } from "../processes/api.ts"
import { scratchFolder } from "../processes/scratch.ts"
import { startServer } from "../processes/ServerProcess.ts"
import { jsonOf, serverAt, tocsin } from "./tocsin.ts"

describe("the labels of checks", () => {
  it.live("show in lists of checks and on incidents, and not in v1", () =>
    Effect.gen(function* () {
      const place = { cwd: yield* scratchFolder, environment: {} }
      const server = yield* startServer(serverAt(place))
      const agent = yield* enroll(server, "web-1")
      const checks = [{ check_id: "disk", labels: { team: "db", api_token: "x" } }]
      yield* operate(server, "PUT", "/ops/v1/agents/web-1/expectations", {
        token: agent.key,
        json: { checks },
      })
      yield* report(server, agent, { check_id: "disk", status: "critical" })

      const { items } = (yield* jsonOf(place, "checks")) as { readonly items: ReadonlyArray<object> }
      assert.deepInclude(items[0], { check_id: "disk", labels: { team: "db" } })
      assert.match((yield* tocsin(place, "checks")).stdout, /LABELS.*\n.* team=db /)
      const id = (yield* incidentsOf(server))[0]?.id ?? assert.fail("no incident is open")
      assert.match((yield* tocsin(place, "incidents", "show", id)).stdout, /UNTIL +LABELS.*\n.* team=db /)
      const { text } = yield* operate(server, "GET", `/ops/v1/incidents/${id}`)
      assert.include(text, '"labels":{"team":"db"}')
      for (const path of ["checks", "incidents", "events/query"])
        assert.notInclude((yield* operate(server, "GET", `/api/v1/${path}`)).text, "labels")
    }),
  )
})
