import { storiesOn } from "./compareStories.ts"

storiesOn("sqlite", 3)
