import { partOfStories } from "./compareStories.ts"

partOfStories(1)
