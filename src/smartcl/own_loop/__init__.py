"""Replay memory for a network and a training loop of the user's own."""

from smartcl.own_loop.replay_memory import ReplayMemory

__all__ = ["ReplayMemory"]
