"""What happens under random traffic: queues, durations and service rates of coupled classes."""

from queueing.system import System

__all__ = ["System"]
