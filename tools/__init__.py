"""For maintainers and for measuring: python3 -m tools COMMAND. Building and running the steps takes none of this."""
