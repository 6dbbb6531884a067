import { useId } from "preact/hooks"
import { toggled } from "../state/Route.ts"
import type { FieldProps } from "./FormField.ts"

interface BoxProps {
  readonly label: string
  readonly isOn: boolean
  readonly onChange: (isOn: boolean) => void
}

export const Box = ({ label, isOn, onChange }: BoxProps) => (
  <label class="choice">
    <input type="checkbox" checked={isOn} onChange={(event) => onChange(event.currentTarget.checked)} />
    {label}
  </label>
)

interface ChoicesProps {
  readonly names: ReadonlyArray<string>
  readonly chosen: ReadonlyArray<string>
  readonly onChange: (chosen: ReadonlyArray<string>) => void
}

/** A box for each name, of which the ones that are on are chosen. */
export const Choices = ({ names, chosen, onChange }: ChoicesProps) =>
  names.map((name) => (
    <Box
      key={name}
      label={name}
      isOn={chosen.includes(name)}
      onChange={() => onChange(toggled(chosen, name))}
    />
  ))

/** A field of boxes. */
export const Boxes = ({ boxes = [], hint, label, onText, value }: FieldProps) => {
  const id = useId()
  return (
    <span class="filters" role="group" aria-label={label} aria-describedby={hint && id}>
      {label}
      <Choices
        names={boxes}
        chosen={value.split(",").filter((name) => name !== "")}
        onChange={(chosen) => onText(chosen.join())}
      />
      {hint !== undefined && <small id={id}>{hint}</small>}
    </span>
  )
}
