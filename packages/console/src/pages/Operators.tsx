import { useSignal } from "@preact/signals"
import type { Operator, OperatorWithToken } from "@tocsin/client"
import { listOf } from "../state/lists.ts"
import { mayAdminister } from "../state/session.ts"
import { ActionButton } from "../view/buttons.tsx"
import { Listing } from "../view/Listing.tsx"
import { created, Fault, SecretActions, ShownOnce } from "../view/creation.tsx"
import { Empty } from "../view/states.tsx"
import { Time } from "../view/marks.tsx"
import { usePages } from "../view/usePages.ts"

const PATH = "ops/v1/operators"
const ROLES = ["read", "respond", "admin"] as const

const CreateForm = ({ onToken }: { readonly onToken: (made: OperatorWithToken) => void }) => {
  const name = useSignal("")
  const role = useSignal<string>("read")
  const fault = useSignal("")
  return (
    <>
      <div class="form-row">
        <label>
          Name
          <input
            value={name}
            onInput={(event) => (name.value = event.currentTarget.value)}
            autoComplete="off"
          />
        </label>
        <label>
          Role
          <select value={role} onChange={(event) => (role.value = event.currentTarget.value)}>
            {ROLES.map((each) => (
              <option key={each}>{each}</option>
            ))}
          </select>
        </label>
        <ActionButton
          kind="main"
          does={async () => {
            const body = { name: name.value.trim(), role: role.value }
            const made = await created<OperatorWithToken>(PATH, body, fault)
            if (made === undefined) return undefined
            name.value = ""
            onToken(made)
            return { text: `Created ${made.name}` }
          }}
        >
          Create operator
        </ActionButton>
      </div>
      <Fault of={fault} />
      <p class="lead">
        <b>read</b> sees everything. <b>respond</b> also acknowledges, adds notes, silences and tests
        receivers. <b>admin</b> does everything.
      </p>
    </>
  )
}

/** The operators with tokens of their own. */
export const Operators = () => {
  const shown = useSignal<OperatorWithToken | undefined>(undefined)
  return (
    <>
      <h1>Operators</h1>
      {mayAdminister.value ? (
        <>
          <CreateForm onToken={(made) => (shown.value = made)} />
          {shown.value !== undefined && (
            <ShownOnce
              what={`Token of ${shown.value.name}`}
              texts={[shown.value.token]}
              onDone={() => (shown.value = undefined)}
            />
          )}
          <List onToken={(made) => (shown.value = made)} />
        </>
      ) : (
        <Empty title="Only administrators see the operators">Your token has another role.</Empty>
      )}
    </>
  )
}

const List = ({ onToken }: { readonly onToken: (made: OperatorWithToken) => void }) => (
  <Listing
    label="Operators"
    kind="operator"
    heads={["Name", "Created", "Role", "Last used", ""]}
    listed={usePages(listOf<Operator>(PATH, {}))}
    keyOf={({ name }) => name}
    size="tall"
    empty={<Empty title="No named operators yet">Everyone shares the tokens of the settings.</Empty>}
  >
    {({ name, role, created_by, last_used_at, expires_at }) => (
      <div class="row operator" data-id={name}>
        <b>{name}</b>
        <span class="subject">created by {created_by}</span>
        <span class="notes">
          <em class="taker">{role}</em>
          {expires_at !== null && (
            <em>
              expires <Time at={expires_at} />
            </em>
          )}
        </span>
        <span class="when">
          {last_used_at === null ? (
            "never used"
          ) : (
            <>
              used <Time at={last_used_at} />
            </>
          )}
        </span>
        <SecretActions
          name={name}
          noun="operator"
          path={PATH}
          replaces={["Rotate", "Rotated the token"]}
          warning="Their tokens end immediately."
          onMade={onToken}
        />
      </div>
    )}
  </Listing>
)
