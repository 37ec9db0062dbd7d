"""The model, its gradient geometry and its optimizer."""
