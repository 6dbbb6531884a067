import { Watches } from "@tocsin/core/features/watches/Watches"
import { counted, lastPage, type Operations } from "../../documents/examples.ts"
import type { HttpPart } from "../../HttpPart.ts"
import { placeWatches as handlers } from "./PlaceHandlers.ts"
import { useCasesOf } from "../../handlers/OpsUseCases.ts"

const PAGE = { http: { url: "https://example.org/" } }
const OUTPUT = "HTTP OK - 200 https://example.org/ in 0.092 s | time=0.092s size=1256B"

const WATCH = {
  name: "example.org",
  title: "Our page",
  every: "1m",
  confirm: { bad: 2, good: 1 },
  from: ["here"],
  fails: "majority",
  labels: {},
  ...PAGE,
  secrets: ["headers.x-key"],
  is_of_policy: false,
  is_paused: false,
  paused_until: null,
  status: "ok",
  last: { at: "2026-03-01T08:30:12.000Z", status: "ok", output: OUTPUT },
  unconfirmed: 0,
  next_probe_at: "2026-03-01T08:31:12.000Z",
  created_at: "2026-03-01T08:00:00.000Z",
  created_by: "ann",
}
const HERE = { place: "here", status: "ok", at: "2026-03-01T08:30:12.000Z", counts: true }
const PAUSED = { ...WATCH, is_paused: true, paused_until: "2026-03-01T10:30:12.000Z" }
const parameters = { name: WATCH.name }

const operations: Operations = {
  listWatches: {
    summary: "List watches",
    description: "Lists watches by name, without their secrets, of which it has the names.",
    ...lastPage(WATCH),
  },
  listPlaces: {
    summary: "List places",
    description:
      "Lists the service itself, each agent that asked within 7 days, and each that a watch names.",
    success: {
      usual: [
        "The service, and an agent",
        {
          items: [
            { place: "here", state: "ok", asked_at: null, watches: 12 },
            { place: "berlin", state: "ok", asked_at: "2026-03-01T08:30:12.000Z", watches: 3 },
          ],
        },
      ],
    },
  },
  getWatch: {
    summary: "Show a watch",
    description: "Shows a watch with its latest probe, and with its places.",
    parameters,
    success: { probed: ["A watch", { ...WATCH, places: [HERE] }] },
  },
  removeWatch: {
    summary: "Remove a watch",
    description:
      "Removes a watch with its check and history. Safe to repeat. Answers 409 for a watch of the policy.",
    parameters,
    ...counted("The watch is removed", 1),
  },
  createWatch: {
    summary: "Create a watch",
    description:
      "Creates a watch, which is probed within seconds. Its check has its name, under the agent of SERVICE_WATCH_AGENT. Answers 409 if a watch has the name, and for options that a running server of another version lacks.",
    request: {
      usual: ["A page", { name: "example.org", ...PAGE }],
      conditions: [
        "A page whose JSON must be so",
        {
          name: "queue",
          http: {
            url: "https://shop.example/health",
            expect: { json: { "/status": "ok", "/queue": "< 100" }, warning: { json: { "/queue": "< 20" } } },
            time: { warning: "1s", critical: "3s" },
          },
        },
      ],
      port: [
        "A port, often, where the first failure counts",
        { name: "db", every: "15s", confirm: { bad: 1 }, tcp: { host: "db.example.org", port: 5_432 } },
      ],
    },
    success: { created: ["The watch is created", { ...WATCH, status: null, last: null }] },
  },
  changeWatch: {
    summary: "Change a watch",
    description:
      "Changes a watch, or pauses it until it is resumed. A probe that states no headers, auth and body keeps the former ones while the scheme, host and port of its url stay. Answers 409 for a watch of the policy.",
    parameters,
    request: {
      often: ["Every 15 s", { every: "15s" }],
      credentials: [
        "A request with a body and credentials, which replace all former secrets",
        {
          http: {
            url: "https://example.org/",
            method: "POST",
            auth: { basic: { user: "tocsin", password: "PASSWORD" } },
            body: { query: "ping" },
          },
        },
      ],
      paused: ["Until it is resumed", { is_paused: true }],
    },
    success: { changed: ["The watch as changed", { ...WATCH, every: "15s" }] },
  },
  pauseWatch: {
    summary: "Pause a watch",
    description: "Pauses a watch for up to 24 h, or ends its pause.",
    parameters,
    request: { usual: ["Two hours", { for: "2h" }], resumed: ["End a pause", { for: "0s" }] },
    success: { paused: ["The watch is paused", PAUSED] },
  },
  tryWatch: {
    summary: "Probe an address now",
    description:
      "Runs the probe of a watch from the server, and answers with the result. Takes what creates a watch, or its probe alone, and stores nothing. Refuses link-local and cloud metadata addresses, loopback unless SERVICE_WATCH_LOOPBACK is set, and private ones if SERVICE_DENY_PRIVATE_TARGETS is. Answers 409 in a program that contains Tocsin.",
    request: {
      usual: ["A page", PAGE],
      whole: ["A watch as it would be created", { name: "home", every: "30s", ...PAGE }],
    },
    success: { ok: ["The page is there", { status: "ok", output: OUTPUT, duration_ms: 92 }] },
  },
}

const placeWatches: Operations = {
  askWatches: {
    summary: "Ask which watches an agent is to probe",
    description:
      "Lists the watches that name an agent as one of their places and are not paused. Needs the agent's accepted key. Limited like heartbeats. Their secrets come with `secrets=true` alone. Answers 304 without a body to the tag of an unchanged answer in If-None-Match.",
    parameters: { agent_id: "berlin" },
    headers: {
      ETag: {
        description: "Names the answer: another one when a watch or a secret changes (RFC 9110, 8.8.3).",
        required: true,
        schema: { type: "string" },
      },
    },
    success: {
      one: [
        "One watch",
        {
          items: [
            {
              name: "example.org",
              every: "1m",
              confirm: { bad: 2, good: 1 },
              ...PAGE,
              secrets: ["headers.x-key"],
            },
          ],
        },
      ],
    },
  },
}

export const watches = {
  tags: [["Watches", "Probes of the server and of agents.", { ...operations, ...placeWatches }]],
  handlers,
  useCases: useCasesOf("watches", Watches, (calls) => ({
    listWatches: ({ query }) => calls.list(query),
    listPlaces: () => calls.places,
    getWatch: ({ params }) => calls.get(params.name),
    createWatch: ({ payload }) => calls.create(payload),
    changeWatch: ({ params, payload }) => calls.change(params.name, payload),
    pauseWatch: ({ params, payload }) => calls.pause(params.name, payload),
    removeWatch: ({ params }) => calls.remove(params.name),
    tryWatch: ({ payload }) => calls.try(payload),
  })),
} satisfies HttpPart
