"""Why a class has what it has: what stops it, who holds that, what would change it; all asked again."""
