"""Plots for people."""
