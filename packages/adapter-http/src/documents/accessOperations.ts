import { OUTBOX_ID, SECRET, counted, lastPage, type Operations } from "./examples.ts"

const OPERATOR = {
  name: "ann",
  role: "respond",
  created_at: "2026-01-31T08:00:00.000Z",
  created_by: "token-5f6a1b2c",
  expires_at: null,
  last_used_at: null,
}
const OPERATOR_WITH_TOKEN = { ...OPERATOR, token: `tocsin_${SECRET}` }

const AUDIT_ENTRY = {
  id: OUTBOX_ID,
  at: "2026-03-01T08:30:00.000Z",
  actor: "ann",
  via: "api",
  action: "agent.accepted",
  subjects: [{ kind: "agent", id: "web-1" }],
  parameters: {},
  request_id: "0195514a-1c40-7a00-8000-000000000001",
}

export const operators: Operations = {
  me: {
    summary: "Show whose token this is",
    description:
      "Shows the name and the role of the operator who asks, and how long their acknowledgements last.",
    success: {
      named: ["A named operator", { name: "ann", role: "respond", acknowledges_for: "8h" }],
      of_settings: [
        "A token of SERVICE_READ_TOKEN",
        { name: "token-5f6a1b2c", role: "read", acknowledges_for: "8h" },
      ],
    },
  },
  listOperators: {
    summary: "List operators",
    description: "Lists named operators by name, without their tokens.",
    ...lastPage(OPERATOR),
  },
  removeOperator: {
    summary: "Remove an operator",
    description: "Removes an operator. The tokens end at the next request, on every replica. Safe to repeat.",
    ...counted("The operator is removed", 1),
  },
  createOperator: {
    summary: "Create an operator",
    description:
      "Creates an operator. The answer shows the token, this once. Answers 409 if the name is in use.",
    request: { usual: ["Someone on call", { name: "ann", role: "respond" }] },
    success: { shown_once: ["The operator is created", OPERATOR_WITH_TOKEN] },
  },
  changeOperator: {
    summary: "Change an operator",
    description: "Changes the role or the expiry of an operator, from the next request on.",
    request: {
      role: ["Another role", { role: "respond" }],
      forever: ["No longer expires", { expires_at: null }],
    },
    success: { changed: ["The operator as changed", OPERATOR] },
  },
  rotateOperator: {
    summary: "Replace an operator's token",
    description:
      "Replaces the token. The answer shows the new one, this once. The former one stays valid for `grace`.",
    request: {
      usual: ["The former token stays valid for a day", {}],
      leaked: ["The former token ends now", { grace: "0s" }],
    },
    success: { shown_once: ["The token is replaced", OPERATOR_WITH_TOKEN] },
  },
  listAudit: {
    summary: "List who changed what",
    description: "Lists the changes that operators, commands, programs and ended times made, newest first.",
    ...lastPage(AUDIT_ENTRY),
  },
}
