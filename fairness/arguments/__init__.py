"""What callers hand in: checked, converted, aligned by label, refused with the place."""
