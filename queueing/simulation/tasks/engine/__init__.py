"""The machine behind simulations of whole tasks: its state, its decisions, its events, its runs."""
