"""Changes of a model that properties compare: lies, arrivals, departures, other units."""
