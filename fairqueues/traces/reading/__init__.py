"""What the readers share: columns in pieces, unique names, entries of JSON, and tasks gathered to a trace."""
