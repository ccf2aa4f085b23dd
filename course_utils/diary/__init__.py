"""What a learner has passed, what they answered, and what is due: small files in their workspace."""
