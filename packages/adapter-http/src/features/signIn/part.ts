import { Sessions } from "@tocsin/core/features/signIn/Sessions"
import { SECRET, counted, example, lastPage, type Operations } from "../../documents/examples.ts"
import type { HttpPart } from "../../HttpPart.ts"
import { signIn as handlers } from "./SignInHandlers.ts"
import { useCasesOf } from "../../handlers/OpsUseCases.ts"

const SESSION = {
  id: "9f8e7d6c5b4a39281706f5e4d3c2b1a0",
  name: "oidc:ann",
  role: "respond",
  created_at: "2026-03-01T08:00:00.000Z",
  expires_at: "2026-03-01T16:00:00.000Z",
}

const INVITATION = {
  id: "1f2e3d4c5b6a79880716f5e4d3c2b1a0",
  created_at: "2026-03-01T08:00:00.000Z",
  created_by: "eva",
  expires_at: "2026-03-02T08:00:00.000Z",
}

const operations: Operations = {
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
            end_session_url: "https://id.example.org/logout?client_id=tocsin",
          },
        },
      ],
      tokens: ["Operators have tokens alone", {}],
    },
  },
  signIn: {
    summary: "Begin a session",
    description:
      "Exchanges the code that the issuer returned to the page, or an `invitation`, for a session. With `peek`, an invitation is not used, and the answer says whom it invites. The answer shows its token, this once. Needs no token, and the header `Origin` of the public address; for an invitation also that of the request itself. Answers 401 for a code or an ID token that does not count, 403 for a person without a role, 429 for an address with too many refused sign-ins, and 502 while the issuer fails.",
    request: {
      usual: ["A code", { code: "SplxlOBeZQQYbYS6WxSbIA", verifier: SECRET, nonce: "n-0S6_WzA2Mj" }],
      invitation: ["An invitation", { invitation: `invite_${SECRET}` }],
    },
    success: example("shown_once", "A session begins", {
      token: `session_${SECRET}`,
      name: SESSION.name,
      role: SESSION.role,
      expires_at: SESSION.expires_at,
    }),
    byStatus: {
      200: {
        invited: [
          "An invitation is used",
          {
            name: "ann",
            role: "respond",
            token: `session_${SECRET}`,
            expires_at: "2026-03-31T08:00:00.000Z",
          },
        ],
        peeked: ["With peek, nothing is used", { name: "ann", role: "respond" }],
      },
    },
  },
  invite: {
    summary: "Invite an operator",
    description:
      "Makes a link by which an operator signs in once, within 24 h. The page `#/invitation/TOKEN` of the console uses it. The answer shows its token, this once. Answers 409 beyond ten open invitations of one operator.",
    parameters: { name: "ann" },
    request: { usual: ["An invitation", {}] },
    success: example("shown_once", "The link of this token works once", {
      id: INVITATION.id,
      token: `invite_${SECRET}`,
      expires_at: INVITATION.expires_at,
    }),
  },
  listInvitations: {
    summary: "List the open invitations of an operator",
    description: "Lists the invitations that can still be used, the latest first, without their tokens.",
    parameters: { name: "ann" },
    success: { one: ["One is open", { items: [INVITATION] }] },
  },
  removeInvitation: {
    summary: "Delete an invitation",
    description: "Deletes an invitation, whose link then works no more. Safe to repeat.",
    parameters: { name: "ann", id: INVITATION.id },
    ...counted("It is deleted", 1),
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
    summary: "End a session, or all of a person",
    description:
      "Ends the session of an ID, or all sessions of the person with a name, such as `oidc:ann`, at once. Their tokens end at the next request, on every replica. Safe to repeat.",
    parameters: { id: SESSION.id },
    ...counted("The session is over", 1),
  },
}

export const signIn = {
  tags: [["Sessions", "People who sign in by OpenID Connect.", operations]],
  handlers,
  useCases: useCasesOf("sessions", Sessions, (sessions) => ({
    invite: ({ params }) => sessions.invite(params.name),
    listInvitations: ({ params }) => sessions.invitations(params.name),
    removeInvitation: ({ params }) => sessions.removeInvitation(params.name, params.id),
    signOut: () => sessions.signOut,
    listSessions: ({ query }) => sessions.list(query),
    endSession: ({ params }) => sessions.end(params.id),
  })),
} satisfies HttpPart
