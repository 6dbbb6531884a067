import { type Signal, useSignal } from "@preact/signals"
import type { Operator, OperatorWithToken } from "@tocsin/client"
import { mayAdminister } from "../state/session.ts"
import { ActionButton } from "../view/buttons.tsx"
import { ChoiceField, created, Fault, SecretActions, ShownOnce, TextField } from "../view/creation.tsx"
import { Time } from "../view/marks.tsx"
import { Last, NamedList } from "../view/NamedList.tsx"
import { Empty } from "../view/states.tsx"

const PATH = "ops/v1/operators"
const ROLES = [["read"], ["respond"], ["admin"]] as const

interface ShownProps {
  readonly shown: Signal<OperatorWithToken | undefined>
}

const CreateForm = ({ shown }: ShownProps) => {
  const name = useSignal("")
  const role = useSignal("read")
  const fault = useSignal("")
  return (
    <>
      <div class="form-row">
        <TextField label="Name" value={name} />
        <ChoiceField label="Role" value={role} options={ROLES} />
        <ActionButton
          kind="main"
          does={async () => {
            const body = { name: name.value.trim(), role: role.value }
            const made = await created<OperatorWithToken>(PATH, body, fault)
            if (made === undefined) return undefined
            name.value = ""
            shown.value = made
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
          <CreateForm shown={shown} />
          <ShownOnce of={shown} titleOf={({ name }) => `Token of ${name}`} textsOf={({ token }) => [token]} />
          <List shown={shown} />
        </>
      ) : (
        <Empty title="Only administrators see the operators">Your token has another role.</Empty>
      )}
    </>
  )
}

const List = ({ shown }: ShownProps) => (
  <NamedList<Operator>
    label="Operators"
    path={PATH}
    heads={["Name", "Created", "Role", "Last used", ""]}
    empty={["No named operators yet", "Everyone shares the tokens of the settings."]}
  >
    {({ name, role, created_by, last_used_at, expires_at }) => ({
      subject: `created by ${created_by}`,
      label: role,
      note:
        expires_at === null ? undefined : (
          <>
            expires <Time at={expires_at} />
          </>
        ),
      when: <Last did="used" at={last_used_at} never="never used" />,
      actions: (
        <SecretActions
          name={name}
          noun="operator"
          path={PATH}
          replaces={["Rotate", "Rotated the token"]}
          warning="Their tokens end immediately."
          shown={shown}
        />
      ),
    })}
  </NamedList>
)
