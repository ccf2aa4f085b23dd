"""What the helpers need and no lesson names."""
