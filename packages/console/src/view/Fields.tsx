import type { ComponentChildren } from "preact"

interface FieldsProps {
  readonly class?: string
  readonly "aria-label"?: string
  readonly children: ComponentChildren
}

/** Fields with their buttons. Enter clicks the first button of the type `submit`, which a main one has. */
export const Fields = (props: FieldsProps) => (
  <form {...props} noValidate onSubmit={(event) => event.preventDefault()} />
)
