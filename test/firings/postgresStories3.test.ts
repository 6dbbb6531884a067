import { storiesOn } from "./compareStories.ts"

storiesOn("postgres", 3)
