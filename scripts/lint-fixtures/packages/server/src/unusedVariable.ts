// refused: eslint(no-unused-vars) is declared but never used
const refused = 1
