"""Forecasting a user's own events from keyword counts, without looking ahead."""
