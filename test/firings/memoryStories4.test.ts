import { storiesOn } from "./compareStories.ts"

storiesOn("memory", 4)
