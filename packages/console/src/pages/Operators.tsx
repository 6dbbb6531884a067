import { type Signal, useSignal } from "@preact/signals"
import type { Operator, OperatorWithToken } from "@tocsin/client"
import { segment } from "../api/request.ts"
import { mayAdminister } from "../state/session.ts"
import { ActionButton } from "../view/buttons.tsx"
import {
  ChoiceField,
  Fault,
  SecretActions,
  sent,
  ShownOnce,
  TextField,
  TimeField,
} from "../view/creation.tsx"
import { Time } from "../view/marks.tsx"
import { Last, NamedList } from "../view/NamedList.tsx"
import { Empty } from "../view/states.tsx"

const PATH = "ops/v1/operators"
const ROLES = [["read"], ["respond"], ["admin"]] as const

interface ShownProps {
  readonly shown: Signal<OperatorWithToken | undefined>
  /** The operator that the form changes; without one, it creates one. */
  readonly changed: Signal<Operator | undefined>
}

const pad = (value: number): string => String(value).padStart(2, "0")

/** A time as the browser's field for times has it: in the zone of the computer, to the minute. */
const fieldTime = (at: string): string => {
  const date = new Date(at)
  const day = [date.getFullYear(), date.getMonth() + 1, date.getDate()].map(pad).join("-")
  return `${day}T${[date.getHours(), date.getMinutes()].map(pad).join(":")}`
}

const OperatorForm = ({ changed, shown }: ShownProps) => {
  const former = changed.value
  const name = useSignal("")
  const role = useSignal<string>(former?.role ?? "read")
  const { expires_at = null } = former ?? {}
  const before = expires_at === null ? "" : fieldTime(expires_at)
  const expires = useSignal(before)
  const fault = useSignal("")
  const bodyOf = () => ({
    role: role.value,
    // The field has no seconds.
    ...(expires.value !== before && {
      expires_at: expires.value === "" ? null : new Date(expires.value).toISOString(),
    }),
  })
  const create = async () => {
    const made = await sent<OperatorWithToken>("POST", PATH, { ...bodyOf(), name: name.value.trim() }, fault)
    if (made === undefined) return undefined
    name.value = ""
    expires.value = ""
    shown.value = made
    return { text: `Created ${made.name}` }
  }
  const change = async (operator: Operator) => {
    const path = `${PATH}/${segment(operator.name)}`
    if ((await sent<Operator>("PATCH", path, bodyOf(), fault)) === undefined) return undefined
    changed.value = undefined
    return { text: `Changed ${operator.name}` }
  }
  return (
    <>
      <div class="form-row">
        {former === undefined ? <TextField label="Name" value={name} /> : <b>{former.name}</b>}
        <ChoiceField label="Role" value={role} options={ROLES} />
        <TimeField label="Expires, if ever" value={expires} />
        <ActionButton kind="main" does={() => (former === undefined ? create() : change(former))}>
          {former === undefined ? "Create operator" : "Save"}
        </ActionButton>
        {former !== undefined && (
          <button type="button" class="quiet" onClick={() => (changed.value = undefined)}>
            Cancel
          </button>
        )}
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
  const changed = useSignal<Operator | undefined>(undefined)
  return (
    <>
      <h1>Operators</h1>
      {mayAdminister.value ? (
        <>
          <OperatorForm key={changed.value?.name ?? ""} shown={shown} changed={changed} />
          <ShownOnce of={shown} titleOf={({ name }) => `Token of ${name}`} textsOf={({ token }) => [token]} />
          <List shown={shown} changed={changed} />
        </>
      ) : (
        <Empty title="Only administrators see the operators">Your token has another role.</Empty>
      )}
    </>
  )
}

const List = ({ changed, shown }: ShownProps) => (
  <NamedList<Operator>
    label="Operators"
    path={PATH}
    heads={["Name", "Created", "Role", "Last used", ""]}
    empty={["No named operators yet", "Everyone shares the tokens of the settings."]}
  >
    {(operator) => ({
      subject: `created by ${operator.created_by}`,
      label: operator.role,
      note:
        operator.expires_at === null ? undefined : (
          <>
            expires <Time at={operator.expires_at} />
          </>
        ),
      when: <Last did="used" at={operator.last_used_at} never="never used" />,
      actions: (
        <SecretActions
          name={operator.name}
          noun="operator"
          path={PATH}
          replaces={["Rotate", "Rotated the token"]}
          warning="Their tokens end immediately."
          shown={shown}
        >
          <button
            type="button"
            class="quiet"
            title={`Change ${operator.name}`}
            onClick={() => (changed.value = operator)}
          >
            Change
          </button>
        </SecretActions>
      ),
    })}
  </NamedList>
)
