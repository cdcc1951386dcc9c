"""The twelve figures of the workshop page, grouped by idea; each function returns one Page."""
