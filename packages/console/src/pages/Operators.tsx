import type { Operator, OperatorWithToken, Session } from "@tocsin/client"
import { segment } from "../api/request.ts"
import { listOf, MOST, readAll } from "../state/lists.ts"
import { carryOut, mayAdminister } from "../state/session.ts"
import { Invite } from "../features/signIn/Invite.tsx"
import { ActionButton } from "../view/forms.tsx"
import { column, type Columns, Listing } from "../view/Listing.tsx"
import { Empty, Time, TimeAfter } from "../view/states.tsx"
import { usePages } from "../view/usePages.ts"
import { lastText, NamedTable } from "../view/Named.tsx"
import type { Kind } from "../view/NamedKind.ts"

const PATH = "ops/v1/operators"
const ROLES = [["read"], ["respond"], ["admin"]] as const

/** A time as the browser's field for times has it: in the zone of the computer, to the minute. */
const fieldTime = (at: string): string =>
  // Sweden writes times as ISO 8601 does.
  new Date(at).toLocaleString("sv").slice(0, 16).replace(" ", "T")

const expiryOf = (operator: Operator | undefined): string =>
  typeof operator?.expires_at === "string" ? fieldTime(operator.expires_at) : ""

const OPERATORS: Kind<Operator, OperatorWithToken> = {
  noun: "operator",
  title: "Operators",
  path: PATH,
  read: async (name) => {
    const all = await readAll(listOf<Operator>(PATH, {}, MOST))
    return all.find((operator) => operator.name === name)
  },
  empty: ["No named operators yet", "Everyone shares the tokens of the settings."],
  subjectOf: ({ created_by }) => `by ${created_by}`,
  label: ["Role", ({ role }) => <em class="is-taken">{role}</em>, ({ role }) => role],
  when: [
    "Last used",
    ({ last_used_at }) => lastText("used", last_used_at, "never used"),
    ({ last_used_at: at }) => at,
  ],
  noteOf: ({ expires_at: at }) => at !== null && <TimeAfter text="expires " at={at} />,
  actionsOf: ({ name }) => <Invite name={name} />,
  creates: "Create operator",
  fieldsOf: (former) => ({
    role: { label: "Role", options: ROLES, initial: former?.role ?? "read" },
    expires: { label: "Expires, if ever", type: "datetime-local", initial: expiryOf(former) },
  }),
  bodyOf: ({ expires = "", ...given }, former) => ({
    ...given,
    // The field has no seconds.
    ...(expires !== expiryOf(former) && {
      expires_at: expires === "" ? null : new Date(expires).toISOString(),
    }),
  }),
  warning: "Their tokens end immediately.",
  replaces: ["Rotate", "Rotated the token"],
  secretOf: ({ name, token }) => ({ title: `Token of ${name}`, texts: [token] }),
}

const SESSIONS: Columns<Session> = [
  column("Person", 1, ({ name }) => <b>{name}</b>),
  column("Role", "8rem", ({ role }) => <em class="is-taken">{role}</em>),
  column("Began", "6rem", ({ created_at }) => <Time at={created_at} />),
  column("Ends", "6rem", ({ expires_at }) => <Time at={expires_at} />),
  column("", "9rem", ({ id, name }) => (
    <span class="actions">
      {[id, name].map((which) => (
        <ActionButton
          key={which}
          kind="danger"
          describes={`End ${which === id ? "the session" : "all sessions"} of ${name}`}
          does={() => carryOut(`Signed ${name} out`, "DELETE", `ops/v1/sessions/${segment(which)}`)}
        >
          {which === id ? "End" : "End all"}
        </ActionButton>
      ))}
    </span>
  )),
]

/** People who signed in by OpenID Connect or by an invitation. */
const Sessions = () => (
  <>
    <h2>Sessions</h2>
    <Listing
      label="Sessions"
      kind="blocked"
      columns={SESSIONS}
      listed={usePages(listOf<Session>("ops/v1/sessions", {}))}
      keyOf={({ id }) => id}
      empty={<Empty title="No session">OpenID Connect and invitations begin sessions, tokens do not.</Empty>}
    />
  </>
)

export const Operators = () =>
  mayAdminister.value ? (
    <>
      <NamedTable of={OPERATORS}>
        <p class="lead">
          <b>read</b> sees everything. <b>respond</b> also acknowledges, adds notes, silences and tests
          receivers. <b>admin</b> does everything.
        </p>
      </NamedTable>
      <Sessions />
    </>
  ) : (
    <Empty title="Only administrators see the operators">Your token has another role.</Empty>
  )
