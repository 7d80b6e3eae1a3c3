"""Pictures of schedules: what each program instance computes, and in what steps."""
