// The page of the test: it calls a Tocsin of another origin with the client, and reports the
// results to its own server.
import { createClient, isTocsinClientError } from "@tocsin/client"

/** Where the page is: no declaration of a browser is among those of the tests. */
declare const location: { readonly search: string }

const parameters = new URLSearchParams(location.search)
const baseUrl = parameters.get("api") ?? ""
const token = parameters.get("token") ?? ""

/** The result of a call: its value, or its error. */
const outcomeOf = async (call: Promise<unknown>): Promise<unknown> => {
  try {
    return await call
  } catch (error) {
    return isTocsinClientError(error)
      ? { code: error.code, status: error.status, hasRequestId: error.requestId !== undefined }
      : { unexpected: String(error) }
  }
}

const client = createClient({ baseUrl, token, retries: false })
const stranger = createClient({ baseUrl, token: "wrong", retries: false })
const agent = createClient({ baseUrl, agentKey: "a-key-of-a-page", retries: false })

const outcomes = {
  agents: await outcomeOf(client.agents.list()),
  refused: await outcomeOf(stranger.agents.list()),
  absent: await outcomeOf(client.agents.remove("nobody")),
  heartbeat: await outcomeOf(
    agent.heartbeat({
      agent_id: "page-1",
      observed_at: new Date().toISOString(),
      hostname: "page-1",
      features: { push: true, metrics: false },
    }),
  ),
}

await fetch("/outcomes", { method: "POST", body: JSON.stringify(outcomes) })
