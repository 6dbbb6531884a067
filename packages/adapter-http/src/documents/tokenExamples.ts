import { counted, lastPage, type OperationExamples } from "./OperationExamples.ts"

const operator = {
  name: "ann",
  role: "respond",
  created_at: "2026-01-31T08:00:00.000Z",
  created_by: "token-5f6a1b2c",
  expires_at: null,
  last_used_at: null,
}

const withToken = (summary: string): OperationExamples["success"] => ({
  shown_once: { summary, value: { ...operator, token: `tocsin_${"0123456789".repeat(4)}abc` } },
})

const enrolment = {
  id: "0f1e2d3c4b5a69788796a5b4c3d2e1f0",
  state: "open",
  agent_id: null,
  uses: 1,
  used: 0,
  expires_at: "2026-03-01T09:00:00.000Z",
  created_at: "2026-03-01T08:00:00.000Z",
  created_by: "ann",
} as const

const enrolmentToken = `enrol_${"0123456789".repeat(4)}abc`

/** Examples of the operations on named operators and enrolments. */
export const tokenExamples: Readonly<Record<string, OperationExamples>> = {
  listOperators: lastPage(operator),
  createOperator: {
    request: { usual: { summary: "Someone on call", value: { name: "ann", role: "respond" } } },
    success: withToken("The operator is created"),
  },
  changeOperator: {
    request: {
      role: { summary: "Another role", value: { role: "respond" } },
      forever: { summary: "No longer expires", value: { expires_at: null } },
    },
    success: { changed: { summary: "The operator as changed", value: operator } },
  },
  rotateOperator: {
    request: {
      usual: { summary: "The former token stays valid for a day", value: {} },
      leaked: { summary: "The former token ends now", value: { grace: "0s" } },
    },
    success: withToken("The token is replaced"),
  },
  removeOperator: counted("The operator is removed", 1),
  listEnrolments: lastPage(enrolment),
  createEnrolment: {
    request: {
      usual: { summary: "One agent within an hour", value: {} },
      many: { summary: "Many agents within a day", value: { uses: 50, expires_in: "1d" } },
      one: { summary: "One agent by its name", value: { agent_id: "web-1" } },
    },
    success: {
      shown_once: { summary: "The enrolment is created", value: { ...enrolment, token: enrolmentToken } },
    },
  },
  removeEnrolment: {
    parameters: { id: enrolment.id },
    ...counted("The enrolment is deleted", 1),
  },
  enrol: {
    request: { usual: { summary: "The token that an operator made", value: { token: enrolmentToken } } },
    success: { accepted: { summary: "The agent is accepted", value: { accepted: true } } },
  },
}
