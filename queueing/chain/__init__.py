"""Laws of the Markov chain of counts: stationary, in time, with limits, of one tagged job."""
