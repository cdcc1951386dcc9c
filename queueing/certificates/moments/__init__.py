"""Mixed moments of counts and tasks under a policy: what is known of them in every state, in fractions."""
