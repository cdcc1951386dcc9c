"""What the commands share: options, inputs, output, progress, remedies, exit codes."""
