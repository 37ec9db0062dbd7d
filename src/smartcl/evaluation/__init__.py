"""What a run is worth: accuracies and what is made of them."""
