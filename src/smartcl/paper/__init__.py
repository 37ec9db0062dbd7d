"""The SMART paper: its data, its scores, its experiments and their report. Nothing outside imports it."""
