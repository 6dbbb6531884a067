import { OUTBOX_ID, counted, lastPage, type Operations } from "./examples.ts"

/** Tokens and keys that are shown once end alike. */
const SECRET = `${"0123456789".repeat(4)}abc`

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

const SESSION = {
  id: "9f8e7d6c5b4a39281706f5e4d3c2b1a0",
  name: "oidc:ann",
  role: "respond",
  created_at: "2026-03-01T08:00:00.000Z",
  expires_at: "2026-03-01T16:00:00.000Z",
}

export const sessions: Operations = {
  getSignInOptions: {
    summary: "Show how to sign in besides by a token",
    description: "Shows what a page needs to begin a sign-in by OpenID Connect. Needs no token.",
    success: {
      oidc: [
        "People sign in by OpenID Connect",
        {
          oidc: {
            name: "Keycloak",
            client_id: "tocsin",
            scopes: "openid profile email",
            redirect_uri: "https://tocsin.example.org/",
            authorization_endpoint: "https://id.example.org/authorize",
          },
        },
      ],
      tokens: ["Operators have tokens alone", {}],
    },
  },
  signIn: {
    summary: "Begin a session",
    description:
      "Exchanges the code that the issuer returned to the page for a session. The answer shows its token, this once. Needs no token, and the header `Origin` of the public address. Answers 401 for a code or an ID token that does not count, 403 for a person without a role, 429 for an address with too many refused sign-ins, and 502 while the issuer fails.",
    request: {
      usual: ["A code", { code: "SplxlOBeZQQYbYS6WxSbIA", verifier: SECRET, nonce: "n-0S6_WzA2Mj" }],
    },
    success: {
      shown_once: [
        "A session begins",
        {
          token: `session_${SECRET}`,
          name: SESSION.name,
          role: SESSION.role,
          expires_at: SESSION.expires_at,
        },
      ],
    },
  },
  signOut: {
    summary: "End your own session",
    description:
      "Ends the session whose token the request has. Other tokens stay as they are: the count is 0.",
    ...counted("The session is over", 1),
  },
  listSessions: {
    summary: "List sessions",
    description:
      "Lists the people who are signed in by OpenID Connect, the latest first, without their tokens.",
    ...lastPage(SESSION),
  },
  endSession: {
    summary: "End a session",
    description: "Ends a session. Its token ends at the next request, on every replica. Safe to repeat.",
    parameters: { id: SESSION.id },
    ...counted("The session is over", 1),
  },
}

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

export const admission: Operations = {
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

const INTEGRATION = {
  name: "cron",
  kind: "ping",
  options: {},
  created_at: "2026-03-01T08:00:00.000Z",
  created_by: "ann",
  is_closed: false,
  last_request_at: "2026-03-01T08:30:00.000Z",
  last_refusal: null,
  sources: [],
  checks: 12,
  max_checks: 1_000,
  overdue: 0,
  awaited_watchdog: null,
}
const cron = { name: INTEGRATION.name }
const PING_URL = `https://tocsin.example.org/in/ping/in_${SECRET}/CHECK`
const INTEGRATION_WITH_KEY = { ...INTEGRATION, key: `in_${SECRET}`, urls: [PING_URL, `${PING_URL}/fail`] }

export const integrations: Operations = {
  listIntegrations: {
    summary: "List integrations",
    description: "Lists integrations by name, without their keys.",
    ...lastPage(INTEGRATION),
  },
  getIntegration: {
    summary: "Show an integration",
    description: "Shows an integration without its key.",
    parameters: cron,
    success: { open: ["An integration", INTEGRATION] },
  },
  removeIntegration: {
    summary: "Remove an integration",
    description: "Removes an integration with its agent, checks and history. Safe to repeat.",
    parameters: cron,
    ...counted("The integration is removed", 1),
  },
  createIntegration: {
    summary: "Create an integration",
    description:
      "Creates an integration and its agent. The answer shows the key, this once. Answers 409 if an agent or an integration has the name.",
    request: {
      usual: ["Jobs of a crontab", { name: "cron", kind: "ping" }],
      one: [
        "One check, reported by POST alone",
        { name: "backup", kind: "ping", options: { check: "backup", methods: ["POST"] } },
      ],
      alerts: [
        "Alerts of Prometheus, one incident for each name",
        {
          name: "prometheus",
          kind: "alertmanager",
          options: { group_by: ["alertname"], watchdog: "Watchdog" },
        },
      ],
    },
    success: { shown_once: ["The integration is created", INTEGRATION_WITH_KEY] },
  },
  changeIntegration: {
    summary: "Change an integration",
    description: "Replaces the options, from the next request on.",
    parameters: cron,
    request: { bounded: ["At most ten checks", { options: { max_checks: 10 } }] },
    success: { changed: ["The integration as changed", { ...INTEGRATION, options: { max_checks: 10 } }] },
  },
  rotateIntegration: {
    summary: "Replace an integration's key",
    description:
      "Replaces the key. The answer shows the new one, this once. The former one stays valid for `grace`. Opens an integration whose key was blocked, with a new agent.",
    parameters: cron,
    request: {
      usual: ["The former key stays valid for a day", {}],
      leaked: ["The former key ends now", { grace: "0s" }],
    },
    success: { shown_once: ["The key is replaced", INTEGRATION_WITH_KEY] },
  },
}
