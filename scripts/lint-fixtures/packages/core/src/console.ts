// refused: eslint(no-console) Unexpected console statement
export const refused = () => console.log("told to nobody")
