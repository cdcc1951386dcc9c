"""Where along a ray a system ceases to keep a service rate, or a policy to be stable."""
