"""Rules of whole tasks: schedulers, placement on servers, types of tasks, laws of their numbers and times."""
