import type { Signal } from "@preact/signals"
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
  readonly of: Signal<ReadonlyArray<string>>
}

/** A box for each name, of which the ones that are on are chosen. */
export const Choices = ({ names, of: chosen }: ChoicesProps) =>
  names.map((name) => (
    <Box
      key={name}
      label={name}
      isOn={chosen.value.includes(name)}
      onChange={() => (chosen.value = toggled(chosen.value, name))}
    />
  ))

/** A field of boxes. */
export const Boxes = ({ boxes = [], label, onText, value }: FieldProps) => {
  const chosen = value.split(",").filter((name) => name !== "")
  return (
    <span class="filters" role="group" aria-label={label}>
      {label}
      {boxes.map((name) => (
        <Box
          key={name}
          label={name}
          isOn={chosen.includes(name)}
          onChange={() => onText(toggled(chosen, name).join())}
        />
      ))}
    </span>
  )
}
