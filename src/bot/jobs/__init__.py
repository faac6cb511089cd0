"""Jobs: a person's own reminders and routines (contract §7)."""
