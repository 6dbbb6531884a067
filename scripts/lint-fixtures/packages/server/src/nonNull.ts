// refused: typescript(no-non-null-assertion) Forbidden non-null assertion
export const refused = (value: string | undefined) => value!
