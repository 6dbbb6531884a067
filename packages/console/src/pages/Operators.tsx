import { type Signal, useSignal } from "@preact/signals"
import type { Operator, OperatorWithToken } from "@tocsin/client"
import { listOf } from "../state/lists.ts"
import { mayAdminister } from "../state/session.ts"
import { type Secret, ShownOnce } from "../view/forms.tsx"
import { Time } from "../view/marks.tsx"
import { type Kind, Last, NamedActions, NamedForm, NamedList } from "../view/Named.tsx"
import { Empty } from "../view/states.tsx"

const OPERATORS: Kind<OperatorWithToken> = {
  noun: "operator",
  creates: "Create operator",
  path: "ops/v1/operators",
  warning: "Their tokens end immediately.",
  replaces: ["Rotate", "Rotated the token"],
  secretOf: ({ name, token }) => ({ title: `Token of ${name}`, texts: [token] }),
}

const ROLES = [["read"], ["respond"], ["admin"]] as const

const pad = (value: number): string => String(value).padStart(2, "0")

/** A time as the browser's field for times has it: in the zone of the computer, to the minute. */
const fieldTime = (at: string): string => {
  const date = new Date(at)
  const day = [date.getFullYear(), date.getMonth() + 1, date.getDate()].map(pad).join("-")
  return `${day}T${[date.getHours(), date.getMinutes()].map(pad).join(":")}`
}

interface Parts {
  readonly shown: Signal<Secret | undefined>
  readonly changed: Signal<Operator | undefined>
}

const OperatorForm = ({ changed, shown }: Parts) => {
  const { role, expires_at = null } = changed.value ?? {}
  const before = expires_at === null ? "" : fieldTime(expires_at)
  return (
    <NamedForm
      kind={OPERATORS}
      changed={changed}
      shown={shown}
      fields={{
        role: { label: "Role", options: ROLES, initial: role ?? "read" },
        expires: { label: "Expires, if ever", type: "datetime-local", initial: before },
      }}
      bodyOf={({ expires = "", ...given }) => ({
        ...given,
        // The field has no seconds.
        ...(expires !== before && { expires_at: expires === "" ? null : new Date(expires).toISOString() }),
      })}
    />
  )
}

const OperatorList = ({ changed, shown }: Parts) => (
  <NamedList<Operator>
    label="Operators"
    list={listOf<Operator>(OPERATORS.path, {})}
    heads={["Name", "Role", "Last used", ""]}
    empty={["No named operators yet", "Everyone shares the tokens of the settings."]}
  >
    {(operator) => ({
      subject: `by ${operator.created_by}`,
      label: <em class="taker">{operator.role}</em>,
      note: operator.expires_at !== null && (
        <>
          expires <Time at={operator.expires_at} />
        </>
      ),
      when: <Last did="used" at={operator.last_used_at} never="never used" />,
      actions: <NamedActions kind={OPERATORS} item={operator} changed={changed} shown={shown} />,
    })}
  </NamedList>
)

/** The operators with tokens of their own. */
export const Operators = () => {
  const shown = useSignal<Secret | undefined>(undefined)
  const changed = useSignal<Operator | undefined>(undefined)
  return (
    <>
      <h1>Operators</h1>
      {mayAdminister.value ? (
        <>
          <OperatorForm shown={shown} changed={changed} />
          <p class="lead">
            <b>read</b> sees everything. <b>respond</b> also acknowledges, adds notes, silences and tests
            receivers. <b>admin</b> does everything.
          </p>
          <ShownOnce of={shown} />
          <OperatorList shown={shown} changed={changed} />
        </>
      ) : (
        <Empty title="Only administrators see the operators">Your token has another role.</Empty>
      )}
    </>
  )
}
