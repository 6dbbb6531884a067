import { AgentDownloads } from "@tocsin/core/features/enrolment/AgentDownloads"
import { Admission } from "@tocsin/core/lists/Admission"
import { Context } from "effect"
import { SECRET, counted, example, lastPage, type Operations } from "../../documents/examples.ts"
import type { HttpPart } from "../../HttpPart.ts"
import type { OpsUseCases } from "../../handlers/OpsUseCases.ts"

const ENROLMENT = {
  id: "0f1e2d3c4b5a69788796a5b4c3d2e1f0",
  state: "open",
  agent_id: null,
  uses: 1,
  used: 0,
  expires_at: "2026-03-01T09:00:00.000Z",
  created_at: "2026-03-01T08:00:00.000Z",
  created_by: "ann",
}
const ENROLMENT_TOKEN = { token: `enrol_${SECRET}` }

const operations: Operations = {
  listEnrolments: {
    summary: "List enrolments",
    description: "Lists enrolments, the newest first, without their tokens.",
    ...lastPage(ENROLMENT),
  },
  removeEnrolment: {
    summary: "Delete an enrolment",
    description:
      "Deletes an enrolment: its token admits no more agents. Agents that it admitted stay accepted. Safe to repeat.",
    parameters: { id: ENROLMENT.id },
    ...counted("The enrolment is deleted", 1),
  },
  createEnrolment: {
    summary: "Create an enrolment",
    description:
      "Creates a token by which new agents are accepted without an operator. The answer shows it, this once.",
    request: {
      usual: ["One agent within an hour", {}],
      many: ["Many agents within a day", { uses: 50, expires_in: "1d" }],
      one: ["One agent by its name", { agent_id: "web-1" }],
    },
    success: { shown_once: ["The enrolment is created", { ...ENROLMENT, ...ENROLMENT_TOKEN }] },
  },
  enrol: {
    summary: "Accept a pending agent by the token of an enrolment",
    description:
      "Accepts a pending agent without an operator. Send a heartbeat with the same key first. An accepted key is answered without a use of the token, so a repeat is safe. Answers 404 for a token that is unknown, used, expired or of another agent, and the agent stays pending; 409 for a replacement key, which only an operator accepts. Limited like heartbeats.",
    request: { usual: ["The token that an operator made", ENROLMENT_TOKEN] },
    success: { accepted: ["The agent is accepted", { accepted: true }] },
  },
}

const download: Operations = {
  getAgentDownload: {
    summary: "Show the files that install the agent",
    description:
      "Shows the SHA-256 of `/agent/install.sh`, which hosts compare before they run it. Answers 404 if the server hands out nothing.",
    success: example("usual", "A server with an executable in its folder", {
      url: "https://monitor.example",
      sha256: "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
      version: "1.4.2",
      files: ["install.sh", "tocsin-agent.tgz", "tocsin-agent-linux-x64"],
    }),
  },
}

const enrolmentUseCases = (services: Context.Context<Admission | AgentDownloads>) => {
  const { enrolments } = Context.get(services, Admission)
  return {
    getAgentDownload: () => Context.get(services, AgentDownloads).agentDownload,
    listEnrolments: ({ query }) => enrolments.list(query),
    createEnrolment: ({ payload }) => enrolments.create(payload),
    removeEnrolment: ({ params }) => enrolments.remove(params.id),
  } satisfies OpsUseCases<"enrolments">
}

export const enrolment = {
  tags: [
    ["Admission", "Tokens by which new agents are accepted.", operations],
    ["Agents", undefined, download],
  ],
  useCases: { group: "enrolments", make: enrolmentUseCases },
} satisfies HttpPart
