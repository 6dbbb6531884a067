// refused: typescript(no-restricted-types) Time is kept as contract/Instant
export interface Refused {
  readonly openedAt: Date
}
