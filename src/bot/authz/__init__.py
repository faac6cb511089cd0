"""Who acts, what they hold, and what each thing needs. Pure; knows nobody."""
