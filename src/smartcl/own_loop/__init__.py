"""The memory alone, for a network and a loop of one's own."""

from smartcl.own_loop.replay_memory import ReplayMemory

__all__ = ["ReplayMemory"]
